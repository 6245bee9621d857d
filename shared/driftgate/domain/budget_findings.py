"""Everything worth saying about a pool's budgets, most serious first.

Only says; what is done about it is decided elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from driftgate.domain import entry_findings as of_entry
from driftgate.domain import gate_findings as of_gate
from driftgate.domain.activity import Span
from driftgate.domain.allowance import problems
from driftgate.domain.budget import MAX_ENTRIES, Budget
from driftgate.domain.dead_entries import dead_entries
from driftgate.domain.findings import Finding, Severity
from driftgate.domain.gate import opened_list, shuts_drifted
from driftgate.domain.horizon import COMING_YEAR
from driftgate.domain.reasons import ReasonCode

_GRAVITY = (Severity.ERROR, Severity.WARNING, Severity.INFO)
_CODES = tuple(ReasonCode)


def findings(
    budgets: Sequence[Budget],
    total: int,
    at: datetime,
    *,
    windows_cover: bool,
    budgets_given: bool = True,
    rolling: bool = False,
    lagging: int = 0,
    expected_roll: timedelta = timedelta(minutes=20),
    keep_up_within: timedelta = timedelta(days=28),
) -> tuple[Finding, ...]:
    """All findings, errors first, then in the order of the codes.

    `windows_cover`: a configured window of driftgate covers the pool. `budgets_given` False: the file has no
    budgets, so Karpenter's default counts, whatever `budgets` holds. `rolling`: a roll of driftgate is under
    way, so its guard belongs there. `lagging` nodes should be able to go within `keep_up_within`.
    """
    entries = tuple(budgets) if budgets_given else (Budget(),)
    gate = of_gate.Gate(budgets=entries, total=total, span=Span.of(at, at + COMING_YEAR), windows_cover=windows_cover)
    found = [*_of_list(entries, at, budgets_given=budgets_given), *_of_entries(entries, total, at)]
    found += of_gate.never_opens(gate)
    if not rolling:
        found += of_entry.guards_left_behind(entries)
    if not problems(entries):
        found += _of_gate(gate)
        if not windows_cover and lagging and not any(one.code is ReasonCode.NEVER_OPENS for one in found):
            found += of_gate.cannot_keep_up(gate, lagging, expected_roll, keep_up_within)
    return tuple(sorted(found, key=_gravest_first))


def _of_entries(budgets: Sequence[Budget], total: int, at: datetime) -> Iterator[Finding]:
    yield from of_entry.unusable_entries(budgets)
    yield from of_entry.wrapped_numbers(budgets)
    yield from of_entry.unknown_fields(budgets)
    yield from of_entry.refused_by_server(budgets)
    yield from of_entry.without_reasons(budgets)
    yield from of_entry.impossible_dates(budgets, at)
    yield from of_entry.rounded_up(budgets, total)


def _of_gate(gate: of_gate.Gate) -> Iterator[Finding]:
    yield from of_gate.ungated_outside_schedule(gate)
    yield from of_gate.opening_ungated(gate)
    yield from of_gate.ungated_reasons(gate)
    yield from dead_entries(gate.budgets, gate.span)


def _of_list(budgets: Sequence[Budget], at: datetime, *, budgets_given: bool) -> Iterator[Finding]:
    if not budgets_given:
        yield Finding(
            code=ReasonCode.DEFAULT_APPLIES,
            severity=Severity.INFO,
            message="No budgets are written, so Karpenter allows 10% of the nodes for every reason.",
            remedy="Write the budgets down, so that nobody has to know the default.",
        )
    elif not budgets:
        yield Finding(
            code=ReasonCode.EMPTY_LIST,
            severity=Severity.ERROR,
            message="`budgets: []` is no limit at all: every node may go at once, for every reason.",
            remedy='Write {nodes: "10%"} for Karpenter\'s default, or {nodes: "100%"} if no limit is meant.',
        )
    yield from _room_for_ours(budgets, at)


def _room_for_ours(budgets: Sequence[Budget], at: datetime) -> Iterator[Finding]:
    if len(budgets) > MAX_ENTRIES:
        yield Finding(
            code=ReasonCode.TOO_MANY_ENTRIES,
            severity=Severity.ERROR,
            message=f"The list has {len(budgets)} entries; the API server refuses more than {MAX_ENTRIES}.",
            remedy="Merge entries: one may name several reasons, a schedule several days.",
        )
    elif shuts_drifted(budgets) and len(opened_list(budgets, at.replace(second=0, microsecond=0))) > MAX_ENTRIES:
        yield Finding(
            code=ReasonCode.TOO_MANY_ENTRIES,
            severity=Severity.WARNING,
            message=f"With {len(budgets)} entries there is no room for those by which driftgate opens the gate.",
            remedy=f"Merge entries: the opened list may have {MAX_ENTRIES} at most.",
        )


def _gravest_first(finding: Finding) -> tuple[int, int, tuple[int, ...]]:
    return _GRAVITY.index(finding.severity), _CODES.index(finding.code), finding.entries
