"""What the functions run on: the one place that says it, for the build of their code and for the CDK app alike.

The newest Python for which both AWS CDK has a runtime and all our compiled packages have wheels.
Source: aws docs, lambda/lambda-runtimes (python3.14 until 2029-06-30; all of them on arm64); AL2023 has glibc 2.34.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Literal

Architecture = Literal["arm64", "x86_64"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A Python (`3.14`) on a kind of machine. `platform` in uv's spelling; None is the machine that builds."""

    python: str
    architecture: Architecture | None = None
    platform: str | None = None

    @property
    def runtime(self) -> str:
        """Lambda's name of it."""
        return f"python{self.python}"

    @property
    def is_running(self) -> bool:
        """Whether the interpreter that runs this is of the same version, so that its bytecode fits."""
        return sys.implementation.name == "cpython" and self.python == _own_version()


LAMBDA = Target(python="3.14", architecture="arm64", platform="aarch64-manylinux_2_28")


def this_machine() -> Target:
    """What runs right here: to try an asset that was built by the same recipe."""
    return Target(python=_own_version())


def _own_version() -> str:
    return f"{sys.version_info.major}.{sys.version_info.minor}"
