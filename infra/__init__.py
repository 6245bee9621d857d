"""The deployment. CDK runs on the Node that comes with the environment, so none is needed on the machine."""

from infra.node import use_packaged_node

use_packaged_node()
