"""Random budget entries for property tests, with the odd ones in."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import strategies as st

from driftgate.domain.budget import Budget

NODES = ("0", "00", "0%", "1", "01", "2", "5", "10%", "20%", "50%", "100%", "2147483647", "2147483648", "4294967297")
DURATIONS = ("0m", "1m", "59m", "90m", "3h", "24h", "25h", "48h", "165h", "168h", "4000h", "8736h", "8784h", "26304h")
SCHEDULES = (
    "* * * * *", "*/2 * * * *", "0 2 * * sat", "0 0 * * mon-fri", "@daily", "@weekly", "@yearly", "0 0 29 2 *",
    "0 0 30 2 *", "59 23 31 12 *", "0 0 13 * fri", "0 0 */2 * mon", "5/7 1-5,20 * feb-apr ?", ", * * * *",
    "@every 1h       ", "30 5 24 8 *",
)  # fmt: skip
BROKEN_SCHEDULES = ("0 2 * * 7", "0 0 * * sat-sun", "TZ=UTC 0 2 * * *", "")
REASONS = ("Drifted", "Empty", "Underutilized")

totals = st.sampled_from((0, 1, 2, 3, 9, 10, 11, 40, 100, 999))
moments = st.datetimes(datetime(2020, 1, 1), datetime(2034, 1, 1)).map(  # noqa: DTZ001 - given its zone here
    lambda moment: moment.replace(tzinfo=UTC, microsecond=moment.microsecond // 1000 * 1000)
)
spans = st.integers(1, 60 * 24 * 9).map(lambda minutes: timedelta(minutes=minutes))


@st.composite
def five_fields(draw):
    """A schedule as sets of values, one per field; None is a star."""
    bounds = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 6))
    return tuple(draw(st.none() | st.sets(st.integers(low, high), min_size=1, max_size=4)) for low, high in bounds)


def written(fields) -> str:
    return " ".join("*" if values is None else ",".join(map(str, sorted(values))) for values in fields)


@st.composite
def entries(draw, *, broken: bool = False):
    """One entry; with `broken`, also such that Karpenter cannot use."""
    nodes = draw(st.sampled_from((*NODES, "99999999999999999999") if broken else NODES))
    reasons = draw(st.none() | st.lists(st.sampled_from(REASONS), unique=True, max_size=3).map(tuple))
    if draw(st.booleans()):
        return Budget(nodes=nodes, reasons=reasons)
    schedules = st.sampled_from(SCHEDULES + (BROKEN_SCHEDULES if broken else ())) | five_fields().map(written)
    durations = st.sampled_from((*DURATIONS, "2562048h") if broken else DURATIONS)
    return Budget(nodes=nodes, reasons=reasons, schedule=draw(schedules), duration=draw(durations))


def lists(*, broken: bool = False):
    return st.lists(entries(broken=broken), max_size=5)
