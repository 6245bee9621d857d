"""`python -m tests.interleaving FIRST COUNT [MOST]`: that many schedules by chance; prints those that break any."""

from __future__ import annotations

import sys
import time

from tests.interleaving.run import by_chance, shrunk


def main(first: int = 0, count: int = 1000, most: int = 3) -> int:
    """The exit code: 1 where any promise was broken."""
    began, broken = time.monotonic(), 0
    for seed in range(first, first + count):
        played = by_chance(seed, most=most, is_clean=seed % 4 == 0)
        if played.faults:
            broken += 1
            print(f"seed {seed}\n{shrunk(played)}\n", flush=True)
    print(f"{count} schedules in {time.monotonic() - began:.0f} s, {broken} broke a promise")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
