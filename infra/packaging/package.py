"""From a driftgate.yaml to what is uploaded, in one step."""

from __future__ import annotations

import tempfile
from pathlib import Path

from infra.app import read_config, synthesize
from infra.packaging.asset import build_asset
from infra.packaging.bundle import Bundle, write_bundle
from infra.packaging.contents import ASSETS


def package(config: Path, out: Path) -> Bundle:
    """The plain template and its archives, in the folder `out`.

    Raises:
        InvalidInputError: there is no such driftgate.yaml, or it is wrong; nothing was built then.
        PackagingError: the functions' code could not be built.
    """
    read_config(config)
    asset = build_asset(ASSETS, config)
    with tempfile.TemporaryDirectory() as folder:
        return write_bundle(synthesize(config, Path(folder), asset), out)
