"""`python -m tests.e2e.generations`: all generations, and `docs/compatibility.md` where everything passed."""

import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.e2e.generations.page import PAGE, Run, as_page, expected_rows
from tests.e2e.proof import Seen, machine, rows_of

HERE = Path(__file__).parent
# Most of the time is waiting for Karpenter; every generation has a control plane of its own.
SIDE_BY_SIDE = ("-n", "2", "--dist", "loadscope")


def main() -> int:
    seen = Seen()
    code = pytest.main(["-q", "-m", "e2e", *SIDE_BY_SIDE, str(HERE)], plugins=[seen])
    rows = dict(rows_of(seen.reports))
    absent = [name for name in expected_rows() if name not in rows]
    if code != pytest.ExitCode.OK or absent:
        print(f"{PAGE.name} was not written: {', '.join(absent) or 'not every scenario passed'}")
        return int(code) or 1
    run = Run(at=f"{datetime.now(UTC):%Y-%m-%d}", machine=machine(), rows=rows)
    PAGE.write_text(as_page(run), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
