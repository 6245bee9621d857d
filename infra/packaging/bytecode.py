"""Bytecode for the archive: Lambda's file system is read-only, so without it every cold start compiles anew.

It is marked as unchecked: whether a source is newer is never asked, and no file's time is in it.
Source: docs.python.org, library/compileall and reference/import (hash-based pycs, PEP 552).
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from infra.packaging.runtime import Target
from infra.packaging.wheels import PackagingError

TASK_ROOT = "/var/task"
"""Where Lambda unpacks the archive: what tracebacks name."""

_PROBE = "import sys; v = sys.version_info; print(sys.implementation.name, v[0], v[1], v[3], sys.executable)"


def interpreter(target: Target) -> str | None:
    """The path of a released CPython of the target's version, None where this machine has none."""
    if target.is_running:
        return sys.executable
    found = shutil.which(target.runtime)
    if found is None:
        return None
    answer = subprocess.run([found, "-c", _PROBE], capture_output=True, text=True, check=False).stdout.split(maxsplit=4)
    major, minor = target.python.split(".")
    return answer[4].strip() if answer[:4] == ["cpython", major, minor, "final"] else None


def compile_all(folder: Path, python: str) -> None:
    """Every module in the folder has its bytecode beside it, the same bytes at each run.

    Raises:
        PackagingError: a file cannot be compiled.
    """
    options = ["-q", "-f", "-s", str(folder), "-p", TASK_ROOT, "--invalidation-mode", "unchecked-hash"]
    command = [python, "-S", "-m", "compileall", *options, str(folder)]
    done = subprocess.run(command, env={"PYTHONHASHSEED": "0"}, capture_output=True, text=True, check=False)
    if done.returncode:
        raise PackagingError(f"The functions' code cannot be compiled:\n{done.stdout}{done.stderr}")
