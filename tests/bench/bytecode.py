"""Compiled bytecode for every process of a run, in a folder of its own.

Installed programs and deployed bundles have theirs; a checkout may be set to write none, and then every start would
be measured with a compiler's work in it.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def compiled() -> Iterator[None]:
    """Processes that start meanwhile compile what they load at most once."""
    before = dict(os.environ)
    with tempfile.TemporaryDirectory() as folder:
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        os.environ["PYTHONPYCACHEPREFIX"] = folder
        try:
            yield
        finally:
            os.environ.clear()
            os.environ.update(before)
