"""Where a roll goes next, state by state; every branch has a reason and every open gate a way to be shut."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from driftgate.domain.advance import Advance, RollView, advance, recounted, taken, to_closed
from driftgate.domain.ledger import Approval
from driftgate.domain.plan import Hold
from driftgate.domain.policy import OpenPolicy
from driftgate.domain.reasons import ReasonCode
from driftgate.domain.roll import TERMINAL, Roll, RollState
from driftgate.domain.signs import Sign
from tests.factories import NEW_IMAGE, at, node, nodeclaim, roll

OPENED_AT = at("2026-10-17T02:10:00Z")
GUARD_AT = at("2026-10-17T02:11:00Z")
REVERT_BY = at("2026-10-17T02:20:00Z")
ALARM = Hold(code=ReasonCode.ALARM, message="The alarm demo-5xx is in ALARM.", objects=("alarm/demo-5xx",))


def opened(**fields: object) -> Roll:
    """A roll whose gate opened at 02:10 with a1 and a2 in the pool, its worker alive ten seconds ago."""
    base = roll(
        RollState.OPENED,
        state_since=OPENED_AT,
        opened_at=OPENED_AT,
        guard_at=GUARD_AT,
        revert_by=REVERT_BY,
        beat_at=OPENED_AT,
        closed_at=None,
        claims_at_open=("app-a1", "app-a2"),
        image=NEW_IMAGE,
        node="",
        claim="",
        sign="",
        sign_at=None,
    )
    return replace(base, **fields)  # type: ignore[arg-type]


def shut(state: RollState, **fields: object) -> Roll:
    """The same roll later on, its gate shut at 02:10:20."""
    closed_at = OPENED_AT + timedelta(seconds=20)
    return opened(state=state, state_since=closed_at, closed_at=closed_at, **fields)


def in_flight(state: RollState = RollState.IN_FLIGHT, **fields: object) -> Roll:
    """a1 was taken for drift at 02:10:20."""
    taken = {"claim": "app-a1", "node": "a1", "sign": "Drifted", "sign_at": OPENED_AT + timedelta(seconds=20)}
    return replace(shut(state, **taken), **fields)  # type: ignore[arg-type]


def view(*claims, nodes=None, **fields) -> RollView:
    """The pool as seen; each claim's node is there and Ready unless `nodes` says otherwise."""
    found = {claim.name: claim for claim in claims}
    seen = {claim.name: node(claim.node_name) for claim in claims} if nodes is None else nodes
    return RollView(claims=found, nodes=seen, **({"read_at": OPENED_AT + timedelta(seconds=30)} | fields))


def seconds(after: float):
    return OPENED_AT + timedelta(seconds=after)


BOTH = (nodeclaim("a1", drifted="2026-10-05T08:00:00Z"), nodeclaim("a2", drifted="2026-10-06T08:00:00Z"))
A2 = BOTH[1]
NEW = nodeclaim("r1", created_at=OPENED_AT + timedelta(seconds=21))


# --- before the gate opens -------------------------------------------------------------------------


def test_a_planned_roll_of_a_living_worker_is_left_alone():
    planned = opened(state=RollState.PLANNED)

    assert advance(planned, view(*BOTH), seconds(30)).roll == planned


def test_a_planned_roll_whose_worker_died_ends_unused_and_gives_its_slot_back():
    step = advance(opened(state=RollState.PLANNED), view(*BOTH), seconds(91))

    assert (step.next, step.gives_back, step.close) == (RollState.CLOSED_UNUSED, True, True)


def test_an_opening_whose_worker_died_is_closed_because_its_patch_may_have_landed():
    step = advance(opened(state=RollState.OPENING), view(*BOTH), seconds(91))

    assert (step.next, step.close, step.gives_back) == (RollState.CLOSED, True, False)


# --- while the gate is open ------------------------------------------------------------------------


def test_an_open_gate_without_a_sign_stays_open_while_nothing_speaks_against_it():
    step = advance(opened(), view(*BOTH), seconds(30))

    assert (step.next, step.close, step.reason) == (RollState.OPENED, False, ReasonCode.OPENED)


def test_the_first_sign_shuts_the_gate_and_names_the_node():
    taken = nodeclaim("a1", drifted="2026-10-05T08:00:00Z", taken="Drifted")

    step = advance(opened(), view(taken, A2), seconds(30))

    assert (step.next, step.close) == (RollState.IN_FLIGHT, True)
    assert (step.roll.node, step.roll.sign, step.roll.sign_at) == ("a1", "Drifted", seconds(30))


def test_two_signs_are_told_because_more_than_one_node_goes():
    step = advance(opened(), view(), seconds(30))

    assert step.next is RollState.IN_FLIGHT
    assert [alert.code for alert in step.alerts] == [ReasonCode.GATE_LEFT_OPEN]


def test_an_alarm_shuts_the_gate_without_a_sign():
    step = advance(opened(), view(*BOTH, must_close=(ALARM,)), seconds(5))

    assert (step.next, step.close, step.reason) == (RollState.CLOSED, True, ReasonCode.ALARM)


def test_an_alarm_beside_a_sign_still_follows_the_node_that_cannot_be_called_back():
    taken = nodeclaim("a1", taken="Drifted")

    step = advance(opened(), view(taken, A2, must_close=(ALARM,)), seconds(5))

    assert (step.next, step.close) == (RollState.IN_FLIGHT, True)


@pytest.mark.parametrize(
    ("after", "reason"),
    [(600, ReasonCode.OPEN_TIMEOUT), (629, ReasonCode.OPEN_TIMEOUT), (630, ReasonCode.GATE_LEFT_OPEN)],
)
def test_a_gate_past_its_time_is_shut_and_half_a_minute_over_it_is_an_alert(after, reason):
    step = advance(opened(beat_at=seconds(after)), view(*BOTH), seconds(after))

    assert (step.next, step.close, step.reason) == (RollState.CLOSED, True, reason)


def test_the_second_before_its_time_it_stays_open():
    assert advance(opened(beat_at=seconds(599)), view(*BOTH), seconds(599)).next is RollState.OPENED


@pytest.mark.parametrize(("silent_for", "state"), [(90, RollState.OPENED), (91, RollState.CLOSED)])
def test_a_worker_silent_for_more_than_90_seconds_has_abandoned_its_gate(silent_for, state):
    assert advance(opened(), view(*BOTH), seconds(silent_for)).next is state


def test_a_list_that_somebody_put_back_ends_the_opening():
    step = advance(opened(), view(*BOTH, is_marked=False), seconds(40))

    assert (step.next, step.close, step.reason) == (RollState.CLOSED, True, ReasonCode.REVERTED_BY)


def test_a_list_put_back_after_a_node_was_taken_is_a_success():
    taken = nodeclaim("a1", taken="Drifted")

    step = advance(opened(), view(taken, A2, is_marked=False), seconds(40))

    assert (step.next, step.alerts) == (RollState.IN_FLIGHT, ())


# --- shut without a sign ---------------------------------------------------------------------------


def test_a_shut_gate_is_proved_unused_only_by_claims_read_at_the_guards_minute_or_later():
    before = view(*BOTH, read_at=GUARD_AT - timedelta(seconds=1))
    after = view(*BOTH, read_at=GUARD_AT)
    closed = shut(RollState.CLOSED)

    assert advance(closed, before, GUARD_AT).next is RollState.CLOSED
    assert advance(closed, after, GUARD_AT).next is RollState.CLOSED_UNUSED
    assert advance(closed, after, GUARD_AT).gives_back


def test_a_late_sign_after_closing_is_followed():
    taken = nodeclaim("a1", taken="Drifted")

    step = advance(shut(RollState.CLOSED), view(taken, A2), seconds(40))

    assert (step.next, step.gives_back, step.close) == (RollState.IN_FLIGHT, False, False)


def test_claims_that_cannot_be_read_prove_nothing():
    blind = RollView(claims=None, nodes={}, read_at=GUARD_AT + timedelta(hours=1))

    step = advance(shut(RollState.CLOSED), blind, GUARD_AT + timedelta(hours=1))

    assert (step.next, step.gives_back) == (RollState.CLOSED, False)


def test_a_proof_that_never_comes_ends_after_a_day_and_keeps_the_slot():
    late = GUARD_AT + timedelta(days=1)

    step = advance(shut(RollState.CLOSED), RollView(claims=None, nodes={}, read_at=late), late)

    assert (step.next, step.gives_back) == (RollState.FAILED, False)


def test_a_record_of_a_closed_gate_that_was_never_shut_is_shut_first():
    step = advance(opened(state=RollState.CLOSED), view(*BOTH, read_at=GUARD_AT), GUARD_AT)

    assert (step.next, step.close) == (RollState.CLOSED, True)


# --- the node on its way ---------------------------------------------------------------------------


def test_a_node_that_is_gone_leaves_the_replacement_to_settle():
    step = advance(in_flight(), view(A2, NEW), seconds(60))

    assert (step.next, step.roll.replacement) == (RollState.SETTLING, "app-r1")


def test_a_node_that_karpenter_gave_up_on_fails_the_roll_and_suspects_the_image():
    orphan = replace(NEW, conditions={"Launched": NEW.conditions["Launched"]})

    step = advance(in_flight(), view(*BOTH, orphan), seconds(780))

    assert (step.next, step.image_verdict) == (RollState.FAILED, Approval.SUSPECT)
    assert "nodeclaim/app-r1" in step.alerts[0].objects


def test_a_replacement_without_a_machine_is_no_fault_of_the_image():
    orphan = replace(NEW, conditions={}, provider_id="")

    step = advance(in_flight(), view(*BOTH, orphan), seconds(780))

    assert (step.next, step.image_verdict) == (RollState.FAILED, None)


@pytest.mark.parametrize(("minutes", "codes"), [(19, []), (20, [ReasonCode.DRAIN_STUCK])])
def test_a_drain_that_takes_longer_than_settle_timeout_is_told(minutes, codes):
    taken = nodeclaim("a1", taken="Drifted")

    step = advance(in_flight(), view(taken, A2, open=OpenPolicy()), seconds(20 + 60 * minutes))

    assert step.next is RollState.IN_FLIGHT
    assert [alert.code for alert in step.alerts] == codes


def test_a_termination_grace_period_makes_the_drain_patient():
    taken = nodeclaim("a1", taken="Drifted", termination_grace_period="1h")

    assert advance(in_flight(), view(taken, A2), seconds(20 + 60 * 79)).alerts == ()
    assert advance(in_flight(), view(taken, A2), seconds(20 + 60 * 80)).alerts != ()


def test_a_taint_becomes_the_reason_once_karpenter_gives_it():
    taken = nodeclaim("a1", taken="Drifted")

    step = advance(in_flight(sign="tainted"), view(taken, A2), seconds(40))

    assert step.roll.sign == "Drifted"


# --- the replacement -------------------------------------------------------------------------------


def settling(**fields: object) -> Roll:
    return in_flight(RollState.SETTLING, state_since=seconds(60), **fields)


def test_an_empty_node_needs_no_replacement_and_proves_nothing():
    step = advance(settling(), view(A2, is_bake_owed=True), seconds(70))

    assert (step.next, step.reason) == (RollState.DONE, ReasonCode.NO_REPLACEMENT_NEEDED)


def test_a_replacement_made_in_the_second_of_the_opening_is_seen():
    opened_at = OPENED_AT + timedelta(milliseconds=601)
    born = replace(NEW, created_at=OPENED_AT)

    step = advance(settling(opened_at=opened_at), view(A2, born, is_bake_owed=True), seconds(70))

    assert (step.next, step.roll.replacement) == (RollState.BAKING, "app-r1")


def test_the_first_node_of_an_image_bakes():
    step = advance(settling(), view(A2, NEW, is_bake_owed=True), seconds(70))

    assert step.next is RollState.BAKING


def test_later_nodes_of_a_proved_image_do_not_bake():
    assert advance(settling(), view(A2, NEW, is_bake_owed=False), seconds(70)).next is RollState.DONE


def test_a_node_that_left_for_another_reason_ends_the_roll_without_a_bake():
    step = advance(settling(sign="Empty"), view(A2, NEW, is_bake_owed=True), seconds(70))

    assert (step.next, step.reason) == (RollState.DONE, ReasonCode.LEFT_FOR_ANOTHER_REASON)


def test_a_roll_that_ended_keeps_no_list_of_the_claims_that_told_its_sign():
    step = advance(settling(), view(A2, NEW, is_bake_owed=False), seconds(70))

    assert (step.next, step.roll.claims_at_open) == (RollState.DONE, ())


def test_a_roll_that_ends_with_its_gate_still_open_keeps_the_claims_for_the_closing():
    step = advance(settling(closed_at=None), view(A2, NEW, is_bake_owed=False), seconds(70))

    assert (step.next, step.close, step.roll.claims_at_open) == (RollState.DONE, True, ("app-a1", "app-a2"))


@pytest.mark.parametrize(("after", "state"), [(899, RollState.SETTLING), (900, RollState.FAILED)])
def test_a_replacement_that_is_not_ready_in_fifteen_minutes_fails_the_roll(after, state):
    sick = {"app-r1": node("r1", ready=False), "app-a2": node("a2")}

    assert advance(settling(), view(A2, NEW, nodes=sick), seconds(60 + after)).next is state


# --- the bake --------------------------------------------------------------------------------------


def baking(**fields: object) -> Roll:
    return in_flight(RollState.BAKING, state_since=seconds(120), replacement="app-r1", **fields)


@pytest.mark.parametrize(("hours", "state"), [(3.999, RollState.BAKING), (4, RollState.DONE)])
def test_a_bake_lasts_as_long_as_configured(hours, state):
    watched = view(A2, NEW, bake=timedelta(hours=4))

    assert advance(baking(), watched, seconds(120) + timedelta(hours=hours)).next is state


def test_whatever_turns_sick_while_it_bakes_makes_the_image_suspect():
    step = advance(baking(), view(A2, NEW, sick=(ALARM,)), seconds(300))

    assert (step.next, step.image_verdict) == (RollState.SUSPECT, Approval.SUSPECT)


# --- in every state --------------------------------------------------------------------------------


@pytest.mark.parametrize("state", sorted(TERMINAL))
def test_nothing_follows_a_terminal_state(state):
    ended = shut(state)

    assert advance(ended, view(*BOTH), seconds(10_000)) == Advance(
        roll=ended, reason=advance(ended, view(), OPENED_AT).reason
    )


@pytest.mark.parametrize("state", [s for s in RollState if s not in TERMINAL and s is not RollState.PLANNED])
def test_a_gate_that_was_never_recorded_shut_is_shut_in_every_state(state):
    silent = opened(state=state, beat_at=OPENED_AT, claim="app-a1", node="a1", sign="Drifted", replacement="app-r1")

    assert advance(silent, view(*BOTH, NEW), seconds(3_600)).close


# --- more than one node ----------------------------------------------------------------------------


def test_every_further_node_of_the_opening_is_written_down_and_told_at_every_look():
    both = view(nodeclaim("a1", taken="Drifted"), nodeclaim("a2", taken="Drifted"))

    step = advance(in_flight(), both, seconds(60))
    again = advance(step.roll, both, seconds(90))

    assert step.roll.also_taken == ("app-a2",)
    assert [alert.code for alert in again.alerts] == [ReasonCode.GATE_LEFT_OPEN]


def test_a_node_that_leaves_long_after_the_gate_was_shut_is_not_put_down_to_the_opening():
    late = GUARD_AT + timedelta(minutes=2, seconds=1)

    step = advance(in_flight(), view(nodeclaim("a1", taken="Drifted"), read_at=late), late)

    assert (step.roll.also_taken, step.alerts) == ((), ())


def test_a_node_that_leaves_for_another_reason_is_not_counted():
    step = advance(in_flight(), view(nodeclaim("a1", taken="Drifted"), nodeclaim("a2", taken="Empty")), seconds(60))

    assert step.roll.also_taken == ()


def test_claims_read_after_the_closing_count_what_the_watch_had_not_seen():
    step = taken(opened(), (Sign(claim="app-a2", node="a2", kind="Drifted"),), seconds(20))
    signs = (Sign(claim="app-a1", kind="gone"), Sign(claim="app-a2", node="a2", kind="Drifted"))

    counted = recounted(step, signs, seconds(21))

    assert (counted.roll.claim, counted.roll.also_taken) == ("app-a2", ("app-a1",))
    assert [alert.code for alert in counted.alerts] == [ReasonCode.GATE_LEFT_OPEN]


def test_a_sign_read_after_a_closing_without_one_is_followed():
    step = to_closed(opened(), ReasonCode.ALARM, seconds(20))

    counted = recounted(step, (Sign(claim="app-a1", kind="Drifted"),), seconds(21))

    assert counted.next is RollState.IN_FLIGHT
