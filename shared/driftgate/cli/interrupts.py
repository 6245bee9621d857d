"""Ctrl-C, `kill`, and a terminal that goes away: the first one interrupts once, and what follows is not disturbed."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


@contextmanager
def interrupted_once() -> Iterator[None]:
    """While the block runs, the first of these signals raises KeyboardInterrupt; from then on all are ignored.

    So whatever cleans up after the interrupt runs to its end. Afterwards the signals are as they were before.
    """
    before = {number: signal.signal(number, _interrupt) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    for number in _SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt
