"""The functions' archive for this machine, unpacked, and an interpreter that knows nothing but it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

from infra.packaging import build_asset
from infra.packaging.contents import ASSETS, ROOT
from infra.packaging.runtime import this_machine

CONFIG = ROOT / "docs" / "driftgate.example.yaml"


def unpack(archive: Path, folder: Path) -> Path:
    """The folder, with what the archive holds."""
    with ZipFile(archive) as bundle:
        bundle.extractall(folder)
    return folder


def for_this_machine(folder: Path) -> Path:
    """The archive that a function would get if Lambda were this machine, unpacked into the folder."""
    return unpack(build_asset(ASSETS, CONFIG, target=this_machine()), folder)


def run_alone(asset: Path, code: str, *given: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs the code with the asset and the standard library on its path, and nothing else; `given` is `sys.argv[1:]`.

    The environment has only what is named.
    """
    command = [sys.executable, "-I", "-S", "-c", f"import sys; sys.path.insert(0, {str(asset)!r})\n{code}", *given]
    return subprocess.run(command, env=environment, cwd=asset, capture_output=True, text=True, timeout=120, check=False)
