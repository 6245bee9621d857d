"""T18 to T22: what is done where a record, an annotation or marks of ours stand, alone or together."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from tests.cases.expand import (
    KEY,
    NEW,
    SATURDAY,
    SHUT,
    THURSDAY,
    Json,
    Line,
    Planner,
    PoolAnswer,
    config,
    drifted,
    fill,
    node,
    observed,
    pool,
    roll,
)

MARK = {"nodes": "01", "reasons": ["Drifted"]}
ZERO = {"nodes": "0", "reasons": ["Drifted"]}
ID = "20261017T021000000Z-app"
NODES = fill(6, *drifted("a1 a2 a3"))
PERSONS = {"nodes": "0", "reasons": ["Underutilized"], "schedule": "0 6 * * *", "duration": "2h"}


def guard(minute: str = "11 2") -> Json:
    return {"nodes": "00", "reasons": ["Drifted"], "schedule": f"{minute} 17 10 *", "duration": "8736h"}


def live(**over: object) -> str:
    """The annotation of an opening at 02:10 with its guard at 02:11."""
    whole = {
        "deployment": "driftgate",
        "id": ID,
        "openedAt": "2026-10-17T02:10:00Z",
        "guardAt": "2026-10-17T02:11:00Z",
        "revertBy": "2026-10-17T02:30:00Z",
        "baseline": [ZERO],
        "opened": [MARK, guard()],
        "windowKey": KEY,
        "count": 1,
    }
    return json.dumps(whole | over)


def opened(**over: object) -> Json:
    """The ledger's record of the same opening."""
    whole = roll(
        "opened",
        openedAt="2026-10-17T02:10:00Z",
        guardAt="2026-10-17T02:11:00Z",
        revertBy="2026-10-17T02:30:00Z",
        beatAt="2026-10-17T02:10:00Z",
        holder="worker-1",
        opened=[MARK, guard()],
        claimsAtOpen=[f"app-a{number}" for number in range(1, 7)],
    )
    return whole | over


def standing(
    planner: Planner,
    budgets: list[Json],
    at: str,
    *,
    annotation: str | None = None,
    nodes: Sequence[Line] = NODES,
    settings: Json | None = None,
    **seen: Any,
) -> PoolAnswer:
    """The pool with this list standing, judged at this moment."""
    metadata: Json = {"annotations": {} if annotation is None else {"driftgate.dev/roll": annotation}, "generation": 2}
    return planner.app(json.dumps(budgets), nodes, at, seen=observed(**seen), metadata=metadata, settings=settings)


def operations(answer) -> list[tuple[str, str]]:
    return [(operation["op"], operation["path"]) for operation in answer["action"]["patch"]]


class TestT18:
    """Someone edits during the window."""

    AT = "2026-10-17T02:31:00Z"

    def test_an_entry_that_a_person_added_is_kept(self, planner: Planner):
        app = standing(planner, [MARK, guard(), PERSONS], self.AT, annotation=live(), rolls=[opened()])

        assert app.kind == "CLOSE"
        assert app.opened == [ZERO, PERSONS]
        assert "FOREIGN_EDIT" in app.alerts

    def test_a_list_that_a_person_replaced_is_left_and_only_the_tombstone_written(self, planner: Planner):
        app = standing(planner, [{"nodes": "0"}], self.AT, annotation=live(), rolls=[opened()])

        assert app.kind == "CLOSE"
        assert ("replace", "/spec/disruption/budgets") not in operations(app)
        assert "FOREIGN_EDIT" in app.alerts
        told = app.alert("FOREIGN_EDIT")["message"]
        assert '[{"nodes": "0"}]' in told
        assert '[{"nodes": "0", "reasons": ["Drifted"]}]' in told

    def test_the_tombstone_says_which_roll_and_window(self, planner: Planner):
        app = standing(planner, [{"nodes": "0"}], self.AT, annotation=live(), rolls=[opened()])

        assert app.annotation == {"deployment": "driftgate", "id": ID, "windowKey": KEY, "count": 1}

    def test_an_untouched_list_becomes_the_baseline_exactly(self, planner: Planner):
        app = standing(planner, [MARK, guard()], self.AT, annotation=live(), rolls=[opened()])

        assert app.opened == [ZERO]
        assert "FOREIGN_EDIT" not in app.alerts

    def test_a_renewed_guard_is_no_edit(self, planner: Planner):
        later = live(guardAt="2026-10-17T02:12:00Z", opened=[MARK, guard("12 2")])
        app = standing(planner, [MARK, guard("12 2")], self.AT, annotation=later, rolls=[opened()])

        assert app.opened == [ZERO]
        assert "FOREIGN_EDIT" not in app.alerts

    def test_what_a_person_opened_during_ours_is_shut_and_told(self, planner: Planner):
        persons = {"nodes": "3", "reasons": ["Drifted"]}
        app = standing(planner, [persons], self.AT, annotation=live(), rolls=[opened()])

        assert app.opened == [persons, ZERO]
        assert "FOREIGN_EDIT" in app.alerts


ARGO = {
    "annotations": {"argocd.argoproj.io/tracking-id": "karpenter-config:karpenter.sh/NodePool:/app"},
    "managedFields": [
        {
            "manager": "argocd-controller",
            "operation": "Update",
            "fieldsV1": {"f:spec": {"f:disruption": {"f:budgets": {}}}},
        }
    ],
}
FLUX = {
    "managedFields": [
        {
            "manager": "kustomize-controller",
            "operation": "Apply",
            "fieldsV1": {"f:spec": {"f:disruption": {"f:budgets": {}}}},
        }
    ]
}


class TestT19:
    """GitOps puts Git back."""

    AT = "2026-10-17T02:11:00Z"

    def reverted(self, planner: Planner, metadata: Json, nodes=NODES):
        annotations = {**metadata.get("annotations", {}), "driftgate.dev/roll": live()}
        record = opened(beatAt="2026-10-17T02:10:50Z")
        whole = metadata | {"annotations": annotations}
        return planner.app(SHUT, nodes, self.AT, seen=observed(rolls=[record]), metadata=whole)

    def test_ownership_is_told_before_the_first_opening_ever_and_holds_nothing(self, planner: Planner):
        app = planner.app(SHUT, NODES, metadata=ARGO)

        assert (app.kind, app.alerts) == ("OPEN", ["GITOPS_OWNED"])
        assert "argocd-controller" in app.alert("GITOPS_OWNED")["message"]

    @pytest.mark.parametrize(
        ("metadata", "manager", "advice"),
        [
            (ARGO, "argocd-controller", ["/spec/disruption/budgets", "RespectIgnoreDifferences=true"]),
            (FLUX, "kustomize-controller", ["/spec/disruption/budgets"]),
            ({"labels": {"kustomize.toolkit.fluxcd.io/name": "infra"}}, "kustomize-controller", []),
            ({"annotations": {"argocd.argoproj.io/tracking-id": "x"}}, "argocd-controller", []),
            (
                {
                    "managedFields": [
                        {
                            "manager": "argocd-application-controller",
                            "operation": "Apply",
                            "fieldsV1": {"f:spec": {"f:disruption": {"f:budgets": {}}}},
                        }
                    ]
                },
                "argocd-application-controller",
                ["RespectIgnoreDifferences=true"],
            ),
        ],
    )
    def test_the_message_carries_the_whole_list_ignore(
        self, planner: Planner, metadata: Json, manager: str, advice: list[str]
    ):
        alert = planner.app(SHUT, NODES, metadata=metadata).alert("GITOPS_OWNED")

        assert manager in alert["message"]
        assert all(word in alert["remedy"] for word in advice)
        assert "selfHeal" not in alert["remedy"]

    def test_a_manager_that_owns_something_else_is_no_owner(self, planner: Planner):
        fields: Json = {"f:spec": {"f:limits": {"f:cpu": {}}}}
        metadata = {"managedFields": [{"manager": "argocd-controller", "operation": "Update", "fieldsV1": fields}]}

        assert planner.app(SHUT, NODES, metadata=metadata).alerts == []

    def test_our_own_writes_make_us_no_gitops_controller(self, planner: Planner):
        fields: Json = {"f:spec": {"f:disruption": {"f:budgets": {}}}}
        metadata = {"managedFields": [{"manager": "driftgate", "operation": "Update", "fieldsV1": fields}]}

        assert planner.app(SHUT, NODES, metadata=metadata).alerts == []

    @pytest.mark.parametrize(("metadata", "manager"), [(ARGO, "argocd-controller"), (FLUX, "kustomize-controller")])
    def test_a_list_put_back_before_a_node_went_is_told_with_its_writer(
        self, planner: Planner, metadata: Json, manager: str
    ):
        app = self.reverted(planner, metadata)

        assert (app["roll"]["next"], app["roll"]["reason"]) == ("closed", "REVERTED_BY")
        assert manager in app.alert("REVERTED_BY")["message"]
        assert app.annotation["id"] == ID

    def test_if_a_node_had_started_it_is_a_success(self, planner: Planner):
        nodes = fill(6, "a1 old drifted taken Drifted", *drifted("a2 a3"))
        app = self.reverted(planner, ARGO, nodes)

        assert app["roll"]["next"] == "in_flight"
        assert "REVERTED_BY" not in app.alerts

    def test_two_vain_openings_end_the_window(self, planner: Planner):
        seen = observed(counters=[{"windowKey": KEY, "unused": 2}])
        app = planner.app(SHUT, NODES, "2026-10-17T03:00:00Z", seen=seen, metadata=ARGO)

        assert app.codes == ["UNUSED_OPENINGS"]


class TestT20:
    """The run died after opening."""

    def judged(self, planner: Planner, at: str, **seen: Any):
        return standing(planner, [MARK, guard()], at, annotation=live(), rolls=[opened()], **seen)

    @pytest.mark.parametrize("at", ["2026-10-17T03:05:00Z", "2026-10-19T09:00:00Z", "2026-10-17T02:31:00Z"])
    def test_the_first_write_is_the_revert_whatever_the_time(self, planner: Planner, at: str):
        app = self.judged(planner, at)

        assert app.kind == "CLOSE"
        assert app.opened == [ZERO]

    def test_an_alarm_does_not_stop_the_revert(self, planner: Planner):
        app = self.judged(planner, "2026-10-17T03:05:00Z", alarms=[{"name": "demo-5xx", "state": "ALARM"}])

        assert app.kind == "CLOSE"
        assert app.opened == [ZERO]

    def test_the_minutes_are_told(self, planner: Planner):
        app = self.judged(planner, "2026-10-17T03:05:00Z")

        assert "GATE_LEFT_OPEN" in app.alerts
        assert "55 min" in app.alert("GATE_LEFT_OPEN")["message"]
        assert app["roll"] == {"id": ID, "state": "opened", "next": "closed", "reason": "GATE_LEFT_OPEN"}

    def test_a_minute_past_its_time_is_left_open_too(self, planner: Planner):
        app = self.judged(planner, "2026-10-17T02:31:00Z")

        assert "GATE_LEFT_OPEN" in app.alerts
        assert "21 min, 1 min past" in app.alert("GATE_LEFT_OPEN")["message"]

    @pytest.mark.parametrize("at", ["2026-10-17T02:31:00Z", "2026-10-17T03:05:00Z", "2026-10-19T09:00:00Z"])
    def test_a_record_written_by_hand_says_enough(self, planner: Planner, at: str):
        sparse = {
            "pool": "app",
            "openedAt": "2026-10-17T02:10:00Z",
            "revertBy": "2026-10-17T02:30:00Z",
            "baseline": [ZERO],
            "opened": [MARK, guard()],
        }
        app = standing(planner, [MARK, guard()], at, rolls=[sparse])

        assert app.kind == "CLOSE"
        assert app.opened == [ZERO]
        assert "GATE_LEFT_OPEN" in app.alerts

    def test_a_worker_that_gave_no_sign_of_life_is_closed_before_its_time(self, planner: Planner):
        app = self.judged(planner, "2026-10-17T02:12:00Z")

        assert (app.kind, app["roll"]["reason"]) == ("CLOSE", "ABANDONED")

    def test_a_living_worker_keeps_its_gate(self, planner: Planner):
        record = opened(beatAt="2026-10-17T02:10:30Z")
        app = standing(planner, [MARK, guard()], "2026-10-17T02:10:40Z", annotation=live(), rolls=[record])

        assert (app["verdict"], app.kind) == ("OPEN", "NONE")
        assert app["roll"]["next"] == "opened"

    @pytest.mark.parametrize(
        ("seen", "settings"),
        [
            ({"alarms": [{"name": "demo-5xx", "state": "ALARM"}]}, None),
            ({"stops": [{"cause": "pause", "ref": "ada"}]}, None),
            ({"stops": None}, None),
            ({"alarms": None}, None),
            ({}, config(blackouts=[{"name": "b", "from": "2026-10-17", "timezone": "UTC"}])),
            ({}, config(windows=[])),
        ],
    )
    def test_a_living_worker_loses_its_gate_to_whatever_would_have_held(
        self, planner: Planner, seen: Json, settings: Json | None
    ):
        record = opened(beatAt="2026-10-17T02:10:30Z")
        app = standing(
            planner,
            [MARK, guard()],
            "2026-10-17T02:10:40Z",
            annotation=live(),
            rolls=[record],
            settings=settings,
            **seen,
        )

        assert app.kind == "CLOSE"
        assert app.opened == [ZERO]

    def test_a_lost_record_is_told_and_the_baseline_comes_from_the_object(self, planner: Planner):
        app = standing(planner, [MARK, guard()], "2026-10-17T03:05:00Z", annotation=live())

        assert (app.kind, app.codes) == ("CLOSE", ["GATE_LEFT_OPEN"])
        assert app.opened == [ZERO]
        assert app.annotation == {"deployment": "driftgate", "id": ID, "windowKey": KEY, "count": 1}
        assert "55 min" in app.alert("GATE_LEFT_OPEN")["message"]

    def test_a_lost_record_whose_time_has_not_come_is_somebody_elses_roll(self, planner: Planner):
        app = standing(planner, [MARK, guard("26 2")], "2026-10-17T02:25:00Z", annotation=live())

        assert app.kind in ("NONE", "HOLD")
        assert app["action"]["patch"] is None

    def test_another_deployments_roll_in_flight_is_left_alone(self, planner: Planner):
        theirs = live(deployment="laptop-ada")
        app = standing(planner, [MARK, guard("26 2")], "2026-10-17T02:25:00Z", annotation=theirs)

        assert app.kind in ("NONE", "HOLD")
        assert app["action"]["patch"] is None
        assert "GUARD_LEFT_BEHIND" not in app.findings

    def test_another_deployments_roll_past_its_time_is_closed(self, planner: Planner):
        theirs = live(deployment="laptop-ada")
        app = standing(planner, [MARK, guard()], "2026-10-17T02:30:00Z", annotation=theirs)

        assert app.kind == "CLOSE"
        assert app.opened == [ZERO]

    def test_while_another_deployment_rolls_a_pool_the_others_wait(self, planner: Planner):
        theirs = live(deployment="laptop-ada")
        metadata = {"annotations": {"driftgate.dev/roll": theirs}}
        objects = [
            *pool(json.dumps([MARK, guard("26 2")]), NODES, metadata=metadata),
            *pool(SHUT, fill(3, *drifted("w1"), prefix="w"), name="web"),
        ]
        answer = planner.ask(objects, "2026-10-17T02:25:00Z", settings=config(pools=["app", "web"]))

        assert answer.pool("web").codes == ["WAITING_FOR"]
        assert answer.pool("web").reason("WAITING_FOR")["objects"] == ["nodepool/app"]

    def test_a_guard_that_acts_already_shuts_the_pool_and_the_foreign_roll_is_named(self, planner: Planner):
        theirs = live(deployment="laptop-ada")
        app = standing(planner, [MARK, guard()], "2026-10-17T02:25:00Z", annotation=theirs)

        assert (app["verdict"], app.kind) == ("TRAPPED", "HOLD")
        assert "IN_FLIGHT" in app.codes
        assert "laptop-ada" in app.reason("IN_FLIGHT")["message"]


class TestNotStarted:
    """An opening that took nothing, once that is proved."""

    def closed(self, at: str, **over: object) -> Json:
        whole = opened(state="closed", stateSince=at, closedAt=at, guardAt="2026-10-17T02:30:00Z")
        return whole | over

    def test_it_is_told_with_what_keeps_the_nodes(self, planner: Planner):
        kept = node("a1 old drifted", node={"metadata": {"annotations": {"karpenter.sh/do-not-disrupt": "true"}}})
        seen = observed(rolls=[self.closed("2026-10-17T02:30:00Z")])
        app = planner.app(SHUT, fill(6, kept, *drifted("a2")), "2026-10-17T02:31:00Z", seen=seen)

        assert (app["roll"]["next"], app["roll"]["reason"]) == ("closed_unused", "NOT_STARTED")
        assert "Free to go: a2." in app.alert("NOT_STARTED")["message"]
        assert "a1 (NODE_DO_NOT_DISRUPT)" in app.alert("NOT_STARTED")["message"]

    def test_an_opening_that_something_else_ended_is_no_riddle(self, planner: Planner):
        seen = observed(rolls=[self.closed("2026-10-17T02:15:00Z")])
        app = planner.app(SHUT, NODES, "2026-10-17T02:31:00Z", seen=seen)

        assert app["roll"]["next"] == "closed_unused"
        assert "NOT_STARTED" not in app.alerts

    def test_before_the_guards_minute_nothing_is_proved(self, planner: Planner):
        seen = observed(rolls=[self.closed("2026-10-17T02:15:00Z")])
        app = planner.app(SHUT, NODES, "2026-10-17T02:29:59Z", seen=seen)

        assert app["roll"]["reason"] == "CLOSING_PROOF_PENDING"
        assert "CLOSING_PROOF_PENDING" in app.codes


class TestMarksWithoutARecord:
    def test_a_mark_alone_is_ours_and_goes(self, planner: Planner):
        app = standing(planner, [MARK, guard()], SATURDAY)

        assert (app.kind, app.codes) == ("CLOSE", ["GATE_LEFT_OPEN"])
        assert app.opened == [ZERO]
        assert app.alerts.count("GATE_LEFT_OPEN") == 1

    def test_a_guard_alone_goes_too(self, planner: Planner):
        app = standing(planner, [ZERO, guard()], SATURDAY)

        assert app.kind == "CLOSE"
        assert app.opened == [ZERO]
        assert "GUARD_LEFT_BEHIND" in app.findings

    def test_foreign_entries_stay_where_they_are(self, planner: Planner):
        other = {"nodes": "10%", "reasons": ["Empty"]}
        app = standing(planner, [other, MARK, PERSONS, guard()], SATURDAY)

        assert [entry for entry in app.opened if entry != ZERO] == [other, PERSONS]
        assert ZERO in app.opened

    def test_a_persons_opening_is_no_mark_of_ours(self, planner: Planner):
        app = standing(planner, [{"nodes": "1", "reasons": ["Drifted"]}], SATURDAY)

        assert (app["verdict"], app.kind) == ("OPEN", "NONE")

    @pytest.mark.parametrize("at", [THURSDAY, SATURDAY, "2026-10-19T09:00:00Z"])
    def test_closing_needs_no_window(self, planner: Planner, at: str):
        assert standing(planner, [MARK, guard()], at).kind == "CLOSE"

    def test_closing_needs_no_alarm_no_ledger_and_no_other_reading(self, planner: Planner):
        errors = [{"resource": name, "status": 403} for name in ("nodeclaims", "nodes", "pods", "alarms")]
        app = standing(
            planner, [MARK, guard()], SATURDAY, alarms=None, rolls=None, stops=None, imageVerdicts=None, errors=errors
        )

        assert app.kind == "CLOSE"
        assert app.opened == [ZERO]

    def test_a_tombstone_beside_a_mark_is_kept_as_it_is(self, planner: Planner):
        tombstone = json.dumps({"deployment": "driftgate", "id": ID, "windowKey": KEY, "count": 1})
        app = standing(planner, [MARK, guard()], SATURDAY, annotation=tombstone)

        assert app.kind == "CLOSE"
        assert operations(app)[3:] == [("replace", "/spec/disruption/budgets")]

    def test_a_tombstone_alone_is_nothing_to_close(self, planner: Planner):
        tombstone = json.dumps(
            {"deployment": "driftgate", "id": "20261010T021000000Z-app", "windowKey": "app/sat/x", "count": 1}
        )
        app = standing(planner, [ZERO], SATURDAY, annotation=tombstone)

        assert app.kind == "OPEN"

    def test_a_live_annotation_over_the_baseline_becomes_a_tombstone_only(self, planner: Planner):
        app = standing(planner, [ZERO], "2026-10-17T02:31:00Z", annotation=live())

        assert app.kind == "CLOSE"
        assert operations(app)[3:] == [("add", "/metadata/annotations/driftgate.dev~1roll")]

    def test_an_annotation_whose_baseline_would_open_the_gate_is_not_believed(self, planner: Planner):
        forged = live(baseline=[{"nodes": "100%"}], opened=[{"nodes": "100%"}])
        app = standing(planner, [MARK, guard()], "2026-10-17T02:31:00Z", annotation=forged)

        assert app.kind == "CLOSE"
        assert app.opened == [ZERO]

    @pytest.mark.parametrize("raw", ["", "not json", "[]", "{}", '{"id": 7}'])
    def test_an_unreadable_annotation_is_no_record_and_holds_because_it_may_be_the_only_one(
        self, planner: Planner, raw: str
    ):
        assert standing(planner, [MARK, guard()], SATURDAY, annotation=raw).opened == [ZERO]
        assert "UNKNOWN" in standing(planner, [ZERO], SATURDAY, annotation=raw).codes

    def test_a_pool_that_is_frozen_by_a_person_during_ours_is_left_frozen(self, planner: Planner):
        app = standing(planner, [{"nodes": "0"}], "2026-10-17T02:31:00Z", annotation=live())

        assert app.kind == "CLOSE"
        assert ("replace", "/spec/disruption/budgets") not in operations(app)

    def test_an_invalid_entry_of_a_person_does_not_stop_the_closing(self, planner: Planner):
        broken = {"nodes": "1", "reasons": ["Empty"], "schedule": "0 0 * * 7", "duration": "1h"}
        app = standing(planner, [MARK, guard(), broken], "2026-10-17T02:31:00Z", annotation=live())

        assert app.kind == "CLOSE"
        assert app.opened == [ZERO, broken]


class TestT21:
    """One pool at a time."""

    def test_a_node_in_flight_blocks_the_other_pool_until_it_settled(self, planner: Planner):
        flying = roll(
            "in_flight",
            openedAt="2026-10-17T02:10:00Z",
            signAt="2026-10-17T02:10:20Z",
            sign="Drifted",
            closedAt="2026-10-17T02:10:21Z",
            guardAt="2026-10-17T02:11:00Z",
            node="a1",
            claim="app-a1",
        )
        objects = [
            *pool(SHUT, fill(3, "a1 old drifted taken Drifted", *drifted("a2"))),
            *pool(SHUT, fill(3, *drifted("w1"), prefix="w"), name="web"),
        ]
        seen = observed(rolls=[flying])
        answer = planner.ask(objects, "2026-10-17T02:15:00Z", seen=seen, settings=config(pools=["app", "web"]))

        assert answer.pool("web").codes == ["WAITING_FOR"]
        assert "IN_FLIGHT" in answer.pool().codes

    def test_another_pools_bake_does_not_block(self, planner: Planner):
        baking = roll(
            "baking",
            since="2026-10-17T02:20:00Z",
            openedAt="2026-10-17T02:10:00Z",
            signAt="2026-10-17T02:10:20Z",
            closedAt="2026-10-17T02:10:21Z",
            node="a1",
            claim="app-a1",
            replacement="app-a4",
        )
        objects = [
            *pool(SHUT, fill(4, *drifted("a2"))),
            *pool(SHUT, fill(3, *drifted("w1"), prefix="w"), name="web"),
        ]
        settings = config(pools=["app", "web"])
        answer = planner.ask(objects, "2026-10-17T02:40:00Z", seen=observed(rolls=[baking]), settings=settings)

        assert answer.pool("web").kind == "OPEN"
        assert "BAKING" in answer.pool().codes
        assert answer.pool().reason("BAKING")["until"] == "2026-10-17T06:20:00Z"


class TestT22:
    """The replacement never becomes usable."""

    RECORD = roll(
        "in_flight",
        since="2026-10-17T02:10:20Z",
        openedAt="2026-10-17T02:10:00Z",
        guardAt="2026-10-17T02:11:00Z",
        signAt="2026-10-17T02:10:20Z",
        sign="Drifted",
        closedAt="2026-10-17T02:10:25Z",
        node="a1",
        claim="app-a1",
        claimsAtOpen=["app-a1", "app-a2", "app-a3"],
    )

    def replacement(self) -> list[Json]:
        return node("r1 new uninitialized empty created 2026-10-17T02:10:30Z")

    def judged(self, planner: Planner, at: str, a1: str, *more: list[Json], **seen: Any):
        nodes: list[Line] = [a1, *drifted("a2"), "a3 new", *more]
        return planner.app(SHUT, nodes, at, seen=observed(rolls=[self.RECORD], **seen))

    def test_while_karpenter_tries_the_roll_is_in_flight(self, planner: Planner):
        app = self.judged(planner, "2026-10-17T02:20:00Z", "a1 old drifted taken Drifted", self.replacement())

        assert app["roll"] == {
            "id": "20261017T021000000Z-app",
            "state": "in_flight",
            "next": "in_flight",
            "reason": ("IN_FLIGHT"),
        }
        assert "IN_FLIGHT" in app.codes

    def test_when_karpenter_gave_up_the_roll_failed_and_the_orphan_is_named(self, planner: Planner):
        app = self.judged(planner, "2026-10-17T02:23:00Z", "a1 old drifted", self.replacement())

        assert (app["roll"]["next"], app["roll"]["reason"]) == ("failed", "ROLL_FAILED")
        assert "nodeclaim/app-r1" in app.alert("ROLL_FAILED")["objects"]
        assert "app-r1" in app.alert("ROLL_FAILED")["message"]
        assert app["action"]["patch"] is None

    def test_the_image_is_suspect_at_once(self, planner: Planner):
        app = self.judged(planner, "2026-10-17T02:23:00Z", "a1 old drifted", self.replacement())

        assert "SUSPECT_AMI" in app.codes

    def test_a_suspect_image_holds_every_pool_that_selects_it(self, planner: Planner):
        verdict = {"image": NEW, "verdict": "SUSPECT", "at": "2026-10-17T02:23:00Z", "by": "20261017T021000000Z-web"}
        answer = planner.ask(pool(SHUT, NODES), "2026-10-24T02:10:00Z", seen=observed(imageVerdicts=[verdict]))

        assert answer.pool().codes == ["SUSPECT_AMI"]
        assert answer.exit_code == 1

    def test_the_failed_roll_itself_says_so_where_the_verdict_was_lost(self, planner: Planner):
        failed = self.RECORD | {"state": "failed", "endedAt": "2026-10-17T02:23:00Z", "replacement": "app-r1"}
        app = planner.app(SHUT, [*drifted("a1 a2"), "a3 new"], "2026-10-24T02:10:00Z", seen=observed(rolls=[failed]))

        assert "SUSPECT_AMI" in app.codes

    def test_a_person_may_clear_it(self, planner: Planner):
        failed = self.RECORD | {"state": "failed", "endedAt": "2026-10-17T02:23:00Z", "replacement": "app-r1"}
        cleared = {"image": NEW, "verdict": "CLEARED", "at": "2026-10-19T09:00:00Z", "by": "ada"}
        seen = observed(rolls=[failed], imageVerdicts=[cleared])
        app = planner.app(SHUT, [*drifted("a1 a2"), "a3 new"], "2026-10-24T02:10:00Z", seen=seen)

        assert app.kind == "OPEN"

    def test_an_orphan_without_a_creation_time_is_told_by_its_conditions(self, planner: Planner):
        launched = {"type": "Launched", "status": "True", "lastTransitionTime": "2026-10-17T02:10:40Z"}
        orphan = node("r1 new uninitialized empty", claim={"status": {"conditions": [launched]}})[:1]
        app = self.judged(planner, "2026-10-17T02:23:00Z", "a1 old drifted", orphan)

        assert "nodeclaim/app-r1" in app.alert("ROLL_FAILED")["objects"]
        assert "SUSPECT_AMI" in app.codes

    def test_a_replacement_that_never_registered_and_is_gone_is_to_blame_all_the_same(self, planner: Planner):
        record = self.RECORD | {"replacement": "app-r1"}
        nodes = ["a1 old drifted", *drifted("a2"), "a3 new"]
        unhealthy = {"type": "NodeRegistrationHealthy", "status": "False", "message": "nodes do not register"}
        app = planner.app(
            SHUT,
            nodes,
            "2026-10-17T02:26:00Z",
            seen=observed(rolls=[record]),
            status={"conditions": [unhealthy]},
        )

        assert app["roll"]["next"] == "failed"
        assert app.alert("ROLL_FAILED")["objects"] == ["node/a1"]
        assert "nodes do not register" in app.alert("ROLL_FAILED")["message"]
        assert "SUSPECT_AMI" in app.codes

    def test_without_a_machine_the_image_is_not_to_blame(self, planner: Planner):
        app = self.judged(planner, "2026-10-17T02:26:00Z", "a1 old drifted")

        assert app["roll"]["next"] == "failed"
        assert "SUSPECT_AMI" not in app.codes
        assert "not to blame" in app.alert("ROLL_FAILED")["message"]

    def test_the_orphan_still_there_in_the_next_window_is_no_reason_to_forget(self, planner: Planner):
        failed = self.RECORD | {"state": "failed", "endedAt": "2026-10-17T02:23:00Z", "replacement": "app-r1"}
        verdict = {"image": NEW, "verdict": "SUSPECT", "at": "2026-10-17T02:23:00Z"}
        nodes: list[Line] = [*drifted("a1 a2"), "a3 new", self.replacement()]
        seen = observed(rolls=[failed], imageVerdicts=[verdict])
        app = planner.app(SHUT, nodes, "2026-10-24T02:10:00Z", seen=seen)

        assert app.codes == ["SUSPECT_AMI"]
