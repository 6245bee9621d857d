"""The machine's clock: the only place where real time is read or waited for."""

from __future__ import annotations

import time
from datetime import UTC, datetime


class SystemClock:
    """Aware UTC, and real sleep."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)
