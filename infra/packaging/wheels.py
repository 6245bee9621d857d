"""Installs the runtime packages exactly as uv.lock has them: wheels only, each checked against its hash.

Nothing is built, so the machine that installs need not be of the kind that runs them.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from infra.packaging.runtime import Target


class PackagingError(Exception):
    """Something that is to be uploaded could not be made; the message says what to do."""


def locked_requirements(project: Path) -> str:
    """What a function needs, versions and hashes from the project's lock. Raises PackagingError."""
    options = ("--locked", "--quiet", "--no-default-groups", "--no-emit-project", "--no-header", "--no-annotate")
    done = _uv("export", *options, folder=project)
    if done.returncode:
        raise PackagingError(f"uv.lock cannot be read, or pyproject.toml is newer; run `uv lock`:\n{done.stderr}")
    return done.stdout


def install(requirements: Path, folder: Path, target: Target) -> None:
    """The packages of this file are in the folder; from uv's cache alone where that has them all.

    Raises:
        PackagingError: a package has no wheel for the target, or the registry does not answer.
    """
    options = ["--quiet", "--python", sys.executable, "--python-version", target.python, "--no-deps"]
    options += ["--only-binary", ":all:", "--require-hashes", "--requirements", str(requirements)]
    # copies: what is cut down in the folder must not be uv's own
    options += ["--target", str(folder), "--link-mode", "copy"]
    if target.platform is not None:
        options += ["--python-platform", target.platform]
    done = _uv("pip", "install", "--offline", *options, folder=folder.parent)
    if done.returncode:
        done = _uv("pip", "install", *options, folder=folder.parent)
    if done.returncode:
        raise PackagingError(f"The packages for {target.runtime} could not be installed:\n{done.stderr}")


def _uv(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    beside = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", "")))
    uv = shutil.which("uv", path=beside)
    if uv is None:
        raise PackagingError("uv is neither beside this Python nor on the PATH; run `make setup`.")
    return subprocess.run([uv, *arguments], cwd=folder, capture_output=True, text=True, check=False)
