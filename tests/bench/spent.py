"""Runs a command and says what it took: `python -m tests.bench.spent COMMAND…`.

A process of its own, and a small one: a child begins with its parent's peak memory in its account.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time

_UNIT = 1 if sys.platform == "darwin" else 1024


def main(command: list[str]) -> None:
    """Prints one JSON object; what the command itself says on standard output is dropped."""
    began = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    answer = {
        "wallS": time.monotonic() - began,
        "cpuS": usage.ru_utime + usage.ru_stime,
        "peakMb": usage.ru_maxrss * _UNIT / 1e6,
        "exit": process.returncode,
    }
    print(json.dumps(answer))


if __name__ == "__main__":
    main(sys.argv[1:])
