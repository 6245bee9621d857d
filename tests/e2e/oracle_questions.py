"""Random budget lists, weighted towards the edges where a port of Karpenter's rules would differ from them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random

from driftgate.domain.allowance import read_duration, read_schedule
from driftgate.domain.budget import Budget
from driftgate.domain.errors import BudgetError

SCHEDULE_PATTERN = re.compile(
    r"^(@(annually|yearly|monthly|weekly|daily|midnight|hourly))"
    r"|((.+)[\t\n\f\r ](.+)[\t\n\f\r ](.+)[\t\n\f\r ](.+)[\t\n\f\r ](.+))\Z"
)
"""What the CRD lets through, as RE2 reads it. Source: karpenter v1.14.1, karpenter.sh_nodepools.yaml."""

NODES = (
    "0", "0", "0", "00", "000", "1", "1", "01", "2", "3", "5", "10", "99", "100", "1000", "2147483646",
    "2147483647", "2147483648", "2147483649", "4294967295", "4294967296", "4294967297", "6442450944",
    "9223372036854775807", "9223372036854775808", "18446744073709551616", "99999999999999999999",
    "00000000000000000000000000000007", "0%", "00%", "1%", "01%", "5%", "9%", "10%", "10%", "20%", "33%", "50%",
    "67%", "99%", "100%",
)  # fmt: skip
ODD_NODES = (
    "", "+5", "-3", "-0", "+", "150%", "5.5%", " 1", "1 ", "٣", "1_0", "%", "-5%", "+5%", "1%%", "0x1",
)  # fmt: skip
DURATIONS = (
    "0m", "0h", "0h0m", "1m", "1m", "2m", "5m", "59m", "60m", "61m", "90m", "1h", "1h", "1h0m0s", "4h0s", "1h30m",
    "3h", "4h", "8h", "23h59m", "24h", "24h", "24h1m", "25h", "47h", "48h", "164h", "167h59m", "168h", "169h",
    "672h", "719h", "720h", "744h", "745h", "4000h", "8736h", "8759h", "8760h", "8761h", "8783h", "8784h", "8785h",
    "26304h", "35063h", "35064h", "43800h", "70128h", "2562047h", "2562047h47m", "2562047h48m", "2562048h",
    "99999999h", "153722867m", "153722868m",
)  # fmt: skip
ODD_DURATIONS = (
    "", "0", "30s", "90s", "1.5h", "-5h", "1d", "1h1h", "1h 1m", "h", "1", "١h", "0.5m", "1ms", "5μs", ".h",
)  # fmt: skip
TOTALS = (0, 1, 2, 3, 4, 5, 7, 9, 10, 11, 12, 19, 20, 21, 30, 33, 50, 99, 100, 101, 199, 999, 1000, 1001, 9999, 10000)
REASONS = ("Drifted", "Empty", "Underutilized")
MACROS = ("@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly")
SPECIAL_SCHEDULES = (
    "0 0 30 2 *", "0 0 31 2,4,6,9,11 *", "0 0 29 2 *", "0 0 29 feb ?", "59 23 31 12 *", "0 0 1 1 *", "0 0 29 2 mon",
    "0 0 13 * fri", "*/7 * * * *", "0 0 */2 * mon", "0 0 * * */2", "0 0 */1 * mon", "* * * * *", "0 2 * * 7",
    "0 2 * * fri-mon", "0 0 * * sat-sun", "60 2 * * *", "0 24 * * *", "0 0 0 * *", "0 0 32 * *", "0 0 * 0 *",
    "0 0 * 13 *", "0 2 L * *", "0 2 * * MON#1", "0 2 1W * *", "0 0 2 * * *", "TZ=Asia/Tokyo 0 2 * * *",
    "CRON_TZ=UTC 0 2 * * *", "TZ=UTC 0 2 * *", "@dailyfoo", "@daily ", "  @daily      ", "@Daily", "@reboot a b c d",
    "@every 1h        ", "@every 90m       ", "@every 1h a b c", "@every 0.5s        ", "@every -3h         ",
    "@every  1h         ", "@every\t1h         ", "@every 3000000h       ", "foo bar baz qux quux",
    "* * , * *", "* * * , *", "* * * * ,", "* * , * mon", ",,1,, 0 * * *", "*-5 * * * *", "?-x/2 1 * * *",
    "*-1-2-3 * * * *", "+5 2 * * *", "5/10 * * * *", "5/1 * * * *", "0 2 * * sun/2", "0 2 * * sun-fri/2",
    "*/99999999999 * * * *", "*/9223372036854775807 1 * * *", "*/9223372036854775808 1 * * *", "*/-0 1 * * *",
    "*/+2 1 * * *", "1/2/3 * * * *", "1-2-3 * * * *", "-5 * * * *", "5- * * * *", "/5 * * * *", "*/ * * * *",
    "007 02 * * *", "0\u00a02 * * * *", "0 2 * * *\u3000", "0 2 * * * \x1c", "0\x1f2 * * * *", "\u2003 0 2 * * *",
    "0 2 * * FRİ", "0 2 * * friday", "0 2 * JAN-Mar SUN", "0 2 * sun *", "0 2 * * jan", "jan 2 * * *", "٣ 2 * * *",
    "0  2\t*  *   *", " 0 2 * * * ", "0,30 2-4 1,15 */3 ?", "0 2 ? * ?", "0 2 15 * ?", "0 0 1-7 * mon", "a",
)  # fmt: skip
SLOW_SCHEDULES = (", * * * *", "* , * * *")
"""They never match, and Karpenter's search tries every minute of five years before it gives up."""

EDGE_BASES = (
    "2023-12-31T23:59:59", "2024-02-28T23:59:59", "2024-02-29T00:00:00", "2024-03-01T00:00:00", "2026-08-24T02:00:00",
    "2026-10-17T02:10:00", "2026-10-25T01:30:00", "2026-12-31T23:59:59", "2027-01-01T00:00:00", "2027-02-28T12:00:00",
    "2027-03-28T02:30:00", "2028-02-29T12:34:56", "2096-02-29T00:00:00", "2097-06-01T00:00:00", "2098-12-31T23:59:59",
    "2099-12-31T23:59:59", "2100-02-28T23:59:59", "2100-03-01T00:00:00", "2103-01-01T00:00:00", "2104-02-29T00:00:00",
)  # fmt: skip
OFFSETS = tuple(
    timedelta(milliseconds=ms) for ms in (-60000, -1000, -1, 0, 0, 1, 500, 999, 1000, 59999, 60000, 3600000)
)


@dataclass(frozen=True, slots=True)
class Question:
    """A list as the API server would store it, a pool size, and instants to ask about."""

    budgets: tuple[dict[str, object], ...]
    nodes: int
    instants: tuple[datetime, ...]


def random_question(random: Random) -> Question:
    """One list of up to eight entries, asked about at four instants."""
    size = random.choice((0, 1, 1, 1, 1, 2, 2, 2, 3, 3, 4, 8))
    budgets = tuple(_entry(random) for _ in range(size))
    nodes = random.choice(TOTALS) if random.random() < 0.8 else random.randint(0, 10_000)
    return Question(budgets, nodes, tuple(_instant(random, budgets) for _ in range(4)))


def _entry(random: Random) -> dict[str, object]:
    entry: dict[str, object] = {"nodes": _pick(random, NODES, ODD_NODES, odd=0.03)}
    if random.random() < 0.05:
        entry["nodes"] = str(random.randint(0, 12_000))
    if random.random() < 0.7:
        entry["reasons"] = _reasons(random)
    scheduled = random.random()
    if scheduled < 0.7:
        entry["schedule"] = _schedule(random)
    if scheduled < 0.69 or random.random() < 0.01:
        entry["duration"] = _duration(random)
    return entry


def _reasons(random: Random) -> list[str]:
    if random.random() < 0.02:
        return ["drifted"]
    return random.sample(REASONS, random.choice((0, 1, 1, 1, 1, 2, 2, 3)))


def _duration(random: Random) -> str:
    if random.random() < 0.3:
        return random.choice((f"{random.randint(0, 9000)}h", f"{random.randint(0, 40)}h{random.randint(0, 99)}m"))
    return _pick(random, DURATIONS, ODD_DURATIONS, odd=0.01)


def _schedule(random: Random) -> str:
    kind = random.random()
    if kind < 0.0001:
        return random.choice(SLOW_SCHEDULES)
    if kind < 0.08:
        return random.choice(SPECIAL_SCHEDULES)
    if kind < 0.2:
        return random.choice(MACROS)
    text = _five_fields(random)
    if kind < 0.26:
        text = _mutated(random, text)
    # One in twenty that the API server would refuse: files that are checked before anybody applies them.
    return text if SCHEDULE_PATTERN.search(text) or random.random() < 0.05 else _five_fields(random)


def _five_fields(random: Random) -> str:
    bounds = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 6))
    names = ((), (), (), ("jan", "FEB", "Mar", "dec"), ("sun", "MON", "Tue", "fri", "sat"))
    star = (0.15, 0.2, 0.6, 0.7, 0.5)
    parts = zip(bounds, names, star, strict=True)
    return " ".join(_field(random, low, high, known, chance) for (low, high), known, chance in parts)


def _field(random: Random, low: int, high: int, names: Sequence[str], star: float) -> str:
    if random.random() < star:
        return random.choice(("*", "*", "*", "?"))
    pieces = [_piece(random, low, high, names) for _ in range(random.choice((1, 1, 1, 1, 2, 3)))]
    return ",".join(pieces)


def _piece(random: Random, low: int, high: int, names: Sequence[str]) -> str:
    kind = random.random()
    first, second = sorted((_value(random, low, high), _value(random, low, high)))
    if kind < 0.12:
        return f"*/{random.randint(0 if kind < 0.01 else 1, high + 2)}"
    if kind < 0.3:
        return f"{first}-{second}"
    if kind < 0.4:
        return f"{first}-{second}/{random.randint(1, 6)}"
    if kind < 0.45:
        return f"{first}/{random.randint(1, 8)}"
    if kind < 0.47:
        return f"{second}-{first}"
    if names and kind < 0.7:
        return "-".join(random.sample(names, random.choice((1, 1, 1, 2))))
    return str(first)


def _value(random: Random, low: int, high: int) -> int:
    if random.random() < 0.01:
        return random.choice((low - 1 if low else high + 1, high + 1))
    return random.choice((low, high, random.randint(low, high)))


def _mutated(random: Random, text: str) -> str:
    at = random.randint(0, len(text))
    noise = random.choice((" ", "  ", "\t", ",", "-", "/", "*", "?", "#", "L", "@", "7", "0", "\u00a0", "\n", "+", "x"))
    return text[:at] + noise + text[at + random.choice((0, 1)) :]


def _instant(random: Random, budgets: Sequence[dict[str, object]]) -> datetime:
    base = _base(random)
    if budgets and random.random() < 0.75:
        base = _edge(random, Budget.from_object(random.choice(budgets)), base)
    return base + random.choice(OFFSETS)


def _base(random: Random) -> datetime:
    if random.random() < 0.3:
        return datetime.fromisoformat(random.choice(EDGE_BASES)).replace(tzinfo=UTC)
    first = datetime(2020, 1, 1, tzinfo=UTC) if random.random() < 0.95 else datetime(2094, 1, 1, tzinfo=UTC)
    return first + timedelta(seconds=random.randrange(12 * 365 * 86_400))


def _edge(random: Random, budget: Budget, base: datetime) -> datetime:
    """A moment at which the entry begins or ceases to count, near the base."""
    try:
        schedule, length = read_schedule(budget), read_duration(budget)
    except BudgetError:
        return base
    start = schedule.next(base)
    if start is None:
        return base
    moved = start + random.choice((timedelta(0), length if length < timedelta(days=4000) else timedelta(0)))
    return moved if 2000 <= moved.year <= 2200 else start


def _pick(random: Random, usual: Sequence[str], odd_ones: Sequence[str], *, odd: float) -> str:
    return random.choice(odd_ones if random.random() < odd else usual)
