"""`python -m tests.bench.costs`: counts again, some minutes long, and writes counted.json and docs/cost.md.

`--page` writes the page alone, from what was counted last.
"""

from __future__ import annotations

import sys

from tests.bench.costs import record
from tests.bench.costs.counting import LARGE, count
from tests.bench.costs.page import PAGE, page

ROLLING_MIN = 8


def main() -> None:
    if "--page" not in sys.argv[1:]:
        record.write(count(LARGE, ROLLING_MIN))
    PAGE.write_text(page(record.read()), encoding="utf-8")
    print(PAGE)


if __name__ == "__main__":
    main()
