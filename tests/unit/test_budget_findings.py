from __future__ import annotations

import pytest

from driftgate.domain.budget import Budget
from driftgate.domain.budget_findings import findings
from driftgate.domain.findings import Finding, Severity
from driftgate.domain.reasons import ReasonCode as Code
from tests.factories import NOW, at, budget

D = "Drifted"
OTHERS = ("Empty", "Underutilized")
THURSDAY = at("2026-10-15T12:00:00Z")
TRAP = [budget("10%", *OTHERS), budget("0", D)]
SHUT_PERMISSION = [budget("0", D), budget("1", D, schedule="0 2 * * sat", duration="3h"), budget("10%")]


def found(budgets, total=10, moment=THURSDAY, *, windows_cover=False, **more) -> dict[Code, Finding]:
    """The findings by code; a code given twice keeps its last."""
    given = findings(budgets, total, moment, windows_cover=windows_cover, **more)
    return {finding.code: finding for finding in given}


def codes(budgets, total=10, moment=THURSDAY, *, windows_cover=False, **more) -> list[str]:
    return [str(code) for code in found(budgets, total, moment, windows_cover=windows_cover, **more)]


def test_nothing_is_said_about_sound_budgets():
    assert codes([budget("10%")], total=10) == []


# --- never opens -----------------------------------------------------------------------------------


def test_t01_a_shut_gate_under_a_window_is_only_worth_knowing():
    finding = found(TRAP, total=12, windows_cover=True)[Code.NEVER_OPENS]

    assert (finding.severity, finding.entries) == (Severity.INFO, (1,))
    assert finding.remedy == "None is needed: driftgate opens the gate in its windows."


def test_t02_a_permission_under_an_always_on_zero_never_opens_and_is_dead():
    given = found(SHUT_PERMISSION, total=20)

    assert (given[Code.NEVER_OPENS].severity, given[Code.NEVER_OPENS].entries) == (Severity.ERROR, (0,))
    assert given[Code.NEVER_OPENS].message == (
        "Drifted stays at 0 in every minute of the coming year: budgets[0] "
        '{nodes: "0", reasons: [Drifted]} is active all the time, and budgets[1] cannot loosen it.'
    )
    assert given[Code.DEAD_ENTRY].entries == (1,)


def test_t02_the_fix_is_the_complement_or_a_window():
    assert found(SHUT_PERMISSION, total=20)[Code.NEVER_OPENS].remedy == (
        "Give driftgate a window for this pool, so that it opens the gate for one node at a time. Or drop budgets[0] "
        'and add {nodes: "0", reasons: [Drifted], schedule: "0 5 * * sat", duration: 165h}.'
    )


def test_a_zero_for_more_than_drifted_is_not_to_be_dropped_as_a_whole():
    budgets = [budget("0", D, "Underutilized"), *SHUT_PERMISSION[1:]]

    assert "Or take Drifted out of budgets[0] and add " in found(budgets)[Code.NEVER_OPENS].remedy


def test_t06_one_bad_schedule_names_its_entry_its_place_and_what_to_write():
    budgets = [budget("1", D), budget("0", "Empty", schedule="0 0 * * sat-sun", duration="24h")]

    finding = found(budgets, moment=NOW)[Code.INVALID_SCHEDULE]

    assert (finding.severity, finding.entries) == (Severity.ERROR, (1,))
    assert finding.message == (
        "budgets[1].schedule '0 0 * * sat-sun': day of week, character 9: 'sat-sun' runs backwards (6 to 0). "
        "While it stands, Karpenter allows 0 for every reason."
    )
    assert finding.remedy == "Write 'sat,sun' instead."


def test_t06_the_gate_never_opens_because_of_the_bad_schedule():
    budgets = [budget("1", D), budget("0", "Empty", schedule="0 0 * * sat-sun", duration="24h")]

    finding = found(budgets, moment=NOW)[Code.NEVER_OPENS]

    assert (finding.entries, finding.remedy) == ((1,), "Correct budgets[1].")


@pytest.mark.parametrize(
    "permission",
    [
        budget("1", D, schedule="0 2 * * sat-sun", duration="3h"),
        budget("99999999999999999999", D, schedule="0 2 * * sat", duration="3h"),
    ],
)
def test_a_permission_that_cannot_be_read_has_no_complement(permission):
    remedy = found([budget("0", D), permission])[Code.NEVER_OPENS].remedy

    assert remedy == "Give driftgate a window for this pool, so that it opens the gate for one node at a time."


@pytest.mark.parametrize(
    ("budgets", "entries"),
    [
        ([budget("0", D, schedule="@daily", duration="24h"), budget("2")], (0,)),
        (
            [
                budget("0", D, schedule="0 0 * * mon-fri", duration="24h"),
                budget("0", D, schedule="0 0 * * sat", duration="30h"),
                budget("0", D, schedule="0 6 * * sun", duration="18h"),
            ],
            (0, 1, 2),
        ),
    ],
)
def test_t08_blackouts_that_cover_the_week_are_named_together(budgets, entries):
    finding = found(budgets, total=40, windows_cover=True)[Code.NEVER_OPENS]

    assert finding.entries == entries
    assert "which driftgate may open in its windows" in finding.remedy


@pytest.mark.parametrize("budgets", [[budget("0")], [budget("0"), budget("1", D)]])
def test_t14_a_freeze_is_not_promised_to_be_opened(budgets):
    finding = found(budgets, total=8, windows_cover=True)[Code.NEVER_OPENS]

    assert "leaves such a freeze alone" in finding.remedy


def test_t14_an_entry_beside_a_freeze_is_dead():
    assert found([budget("0"), budget("1", D)])[Code.DEAD_ENTRY].entries == (1,)


def test_a_percentage_of_a_pool_without_nodes_is_not_taken_for_shut():
    assert codes([budget("10%")], total=0) == []


# --- no limit --------------------------------------------------------------------------------------


@pytest.mark.parametrize("moment", [THURSDAY, at("2026-10-18T00:30:00Z")])
def test_t04_a_schedule_taken_for_a_permission_comes_first(moment):
    budgets = [budget("10%", D, schedule="0 0 * * 0", duration="1h"), budget("20%", *OTHERS)]

    first = findings(budgets, 30, moment, windows_cover=True)[0]

    assert (first.code, first.severity, first.entries) == (Code.UNGATED_OUTSIDE_SCHEDULE, Severity.ERROR, (0,))
    assert first.message.startswith("All 30 nodes may roll as soon as they drift")
    assert '{nodes: "0", reasons: [Drifted], schedule: "0 1 * * sun", duration: 167h}' in first.remedy


def test_a_blackout_that_is_over_now_leaves_no_limit():
    budgets = [budget("0", D, schedule="0 2 * * *", duration="4h"), budget("10%", *OTHERS)]

    assert found(budgets)[Code.UNGATED_OUTSIDE_SCHEDULE].severity is Severity.WARNING
    assert Code.UNGATED_OUTSIDE_SCHEDULE not in found(budgets, moment=at("2026-10-15T03:00:00Z"))


def test_t08_an_opening_without_a_limit_is_told_with_its_time():
    budgets = [
        budget("0", D, schedule="0 0 * * mon-fri", duration="24h"),
        budget("0", D, schedule="0 0 * * sat", duration="26h"),
        budget("0", D, schedule="0 5 * * sun", duration="19h"),
    ]

    given = found(budgets, total=40)

    assert given[Code.OPENING_UNGATED].entries == (0, 1, 2)
    assert given[Code.OPENING_UNGATED].message == (
        "From 2026-10-18T02:00:00Z until 2026-10-18T05:00:00Z no entry limits Drifted: all 40 nodes may go."
    )
    assert Code.NEVER_OPENS not in given


def test_an_opening_with_a_limit_is_not_ungated():
    budgets = [budget("1", D), budget("0", D, schedule="0 5 * * sat", duration="165h"), budget("10%", *OTHERS)]

    assert codes(budgets) == []


def test_t15_reasons_without_any_entry_are_named():
    finding = found([budget("0", D)], total=5, windows_cover=True)[Code.UNGATED_REASON]

    assert finding.message == "No entry applies to Empty and Underutilized, so all 5 nodes may go for it at once."


def test_an_empty_list_is_no_limit_at_all():
    assert codes([]) == ["EMPTY_LIST"]


def test_budgets_that_are_not_written_are_karpenters_default():
    assert codes([], budgets_given=False) == ["DEFAULT_APPLIES"]


# --- single entries --------------------------------------------------------------------------------


def test_an_entry_with_an_empty_list_of_reasons_applies_to_nothing():
    assert found([budget("10%"), Budget(nodes="0", reasons=())])[Code.APPLIES_TO_NOTHING].entries == (1,)


@pytest.mark.parametrize(
    ("total", "message"),
    [
        (1, "budgets[0]: 10% of 1 nodes is 0.1; Karpenter rounds up to 1."),
        (11, "budgets[0]: 10% of 11 nodes is 1.1; Karpenter rounds up to 2."),
    ],
)
def test_t16_a_percentage_that_rounds_up_is_told_with_both_numbers(total, message):
    finding = found([budget("10%")], total=total)[Code.PERCENT_ROUNDS_UP]

    assert (finding.severity, finding.message) == (Severity.INFO, message)


@pytest.mark.parametrize("total", [0, 10, 20])
def test_t16_a_percentage_that_comes_out_even_is_not_worth_a_word(total):
    assert Code.PERCENT_ROUNDS_UP not in found([budget("10%")], total=total)


def test_a_count_that_wraps_around_is_told_with_what_karpenter_reads():
    finding = found([budget("10%"), budget("4294967297", D)])[Code.UNUSABLE_NUMBER]

    assert (finding.severity, finding.entries) == (Severity.ERROR, (1,))
    assert "Karpenter reads this number as 1" in finding.message


def test_a_count_that_karpenter_cannot_read_is_told_too():
    finding = found([budget("99999999999999999999", D)])[Code.UNUSABLE_NUMBER]

    assert "too large to be read. While it stands, Karpenter allows 0 for every reason." in finding.message


def test_a_value_of_any_length_makes_a_short_message():
    assert all(len(finding.message) < 300 for finding in found([budget("9" * 10_000, D)]).values())


def test_a_field_that_is_not_known_is_an_error():
    finding = found([Budget.from_object({"nodes": "10%", "zone": "a"})])[Code.UNKNOWN_FIELD]

    assert (finding.severity, finding.message) == (
        Severity.ERROR,
        "budgets[0] has zone, which this version of driftgate does not know.",
    )


def test_a_date_that_never_comes_is_told():
    assert found([budget("5", schedule="0 0 30 2 *", duration="1h")])[Code.IMPOSSIBLE_DATE].entries == (0,)


@pytest.mark.parametrize(
    "entry",
    [
        {"nodes": "150%"},
        {"nodes": "+5"},
        {"nodes": "1", "schedule": "@daily"},
        {"nodes": "1", "schedule": "@daily", "duration": "30s"},
        {"nodes": "1", "reasons": ["drifted"]},
        {"nodes": "1", "reasons": ["Drifted", "Drifted"]},
        {"nodes": "1", "schedule": "@every 1h", "duration": "1h"},
    ],
)
def test_what_the_server_would_refuse_is_an_error(entry):
    assert found([Budget.from_object(entry)])[Code.REFUSED_BY_SERVER].severity is Severity.ERROR


@pytest.mark.parametrize(
    ("more", "severity"),
    [(40, None), (48, Severity.WARNING), (49, Severity.WARNING), (50, Severity.ERROR)],
)
def test_a_list_without_room_for_ours_is_told(more, severity):
    budgets = [budget("0", D, "Underutilized"), *[budget("10%")] * more]

    finding = found(budgets).get(Code.TOO_MANY_ENTRIES)

    assert (finding.severity if finding else None) is severity


def test_a_dropped_zero_makes_room_for_one_of_ours():
    assert Code.TOO_MANY_ENTRIES not in found([budget("0", D), *[budget("10%")] * 48])


def test_a_guard_of_ours_without_a_roll_was_left_behind():
    guard = budget("00", D, schedule="11 2 17 10 *", duration="8736h")

    assert found([*TRAP, guard])[Code.GUARD_LEFT_BEHIND].entries == (2,)
    assert Code.GUARD_LEFT_BEHIND not in found([*TRAP, guard], rolling=True)


def test_a_zero_of_a_person_is_no_guard_of_ours():
    assert Code.GUARD_LEFT_BEHIND not in found([budget("0", D, schedule="11 2 17 10 *", duration="8736h")])


# --- dead entries ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("budgets", "dead"),
    [
        ([budget("10%"), budget("10%")], [1]),
        ([budget("5"), budget("3")], [0]),
        ([budget("1"), budget("10%")], [1]),
        ([budget("10%"), budget("1")], [0]),
        ([budget("20%", D), budget("10%")], [0]),
        ([budget("0%", D), budget("5", D)], [1]),
        ([budget("5"), budget("2147483647", D)], [1]),
        ([budget("5"), budget("0", D, schedule="@daily", duration="0m")], [1]),
        (
            [
                budget("0", D, schedule="0 0 * * *", duration="12h"),
                budget("0", D, schedule="0 12 * * *", duration="12h"),
                budget("1", D),
            ],
            [2],
        ),
        ([budget("10%"), budget("5")], []),
        ([budget("1%"), budget("5")], []),
        ([budget("5"), budget("10%")], []),
        ([budget("1", D), budget("10%")], []),
        ([budget("0", D, schedule="@daily", duration="1h"), budget("1", D)], []),
        ([budget("5"), budget("0", D, schedule="0 0 29 2 *", duration="1h")], []),
    ],
)
def test_an_entry_is_dead_only_if_it_can_never_decide_in_a_pool_of_any_size(budgets, dead):
    given = findings(budgets, 10, THURSDAY, windows_cover=False)

    assert [entry for finding in given if finding.code is Code.DEAD_ENTRY for entry in finding.entries] == dead


# --- keeping up ------------------------------------------------------------------------------------


def test_openings_with_less_room_than_nodes_wait_cannot_keep_up():
    budgets = [budget("1", D), budget("0", D, schedule="0 3 * * sat", duration="167h"), budget("10%", *OTHERS)]

    assert found(budgets, total=20, lagging=13)[Code.CANNOT_KEEP_UP].message == (
        "In the coming 28 days the budgets by themselves let at most 12 nodes go; 13 wait."
    )
    assert Code.CANNOT_KEEP_UP not in found(budgets, total=20, lagging=12)
    assert Code.CANNOT_KEEP_UP not in found(budgets, total=20, lagging=13, windows_cover=True)


def test_a_gate_without_a_limit_always_keeps_up():
    assert Code.CANNOT_KEEP_UP not in found([budget("10%", "Empty")], total=500, lagging=500)


def test_a_gate_that_never_opens_is_told_as_that_alone():
    given = found(TRAP, total=500, lagging=500)

    assert Code.NEVER_OPENS in given
    assert Code.CANNOT_KEEP_UP not in given


# --- order -----------------------------------------------------------------------------------------


def test_errors_come_first_then_warnings_then_the_rest():
    budgets = [budget("33%"), Budget(nodes="0", reasons=()), budget("4294967297", D)]

    severities = [finding.severity for finding in findings(budgets, 10, THURSDAY, windows_cover=False)]

    assert severities == [Severity.ERROR, Severity.WARNING, Severity.INFO]
