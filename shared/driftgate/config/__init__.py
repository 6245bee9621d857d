"""What the owner wants: driftgate.yaml, read whole or refused whole.

text -> `tree` (YAML with places) -> `model` (shape and values) -> `resolve` (what overrides what) -> domain policies.
Pure: knows no file system, cluster or clock; `faults` puts everything that is wrong into one error.
"""

from driftgate.config.load import ClusterSetup, Config, default_policy, load_config
from driftgate.config.schema import json_schema

__all__ = ["ClusterSetup", "Config", "default_policy", "json_schema", "load_config"]
