"""T25 and T28: what keeps a node from moving, and whether its pool has room for another."""

from __future__ import annotations

import pytest

from tests.cases.expand import (
    SHUT,
    Json,
    Planner,
    config,
    drifted,
    fill,
    node,
    observed,
    pdb,
    pod,
    pool,
)

WEB_NEVER = pdb(
    "web", {"minAvailable": 2}, {"expectedPods": 2, "currentHealthy": 2, "disruptionsAllowed": 0, "desiredHealthy": 2}
)
API_ONE = pdb("api", {"maxUnavailable": 1}, {"disruptionsAllowed": 1})


class TestT25:
    """PDBs at zero."""

    NODES = drifted("a1 a2 a3", words="empty")
    PODS = (pod("web-0", "a1"), pod("web-1", "a2"), pod("api-0", "a3"))

    def test_one_node_is_left(self, planner: Planner):
        app = planner.app(SHUT, self.NODES, more=[*self.PODS, WEB_NEVER, API_ONE])

        assert (app.kind, app["eligible"], app["nextNode"]) == ("OPEN", ["a3"], "a3")
        assert app.blocked == {
            "a1": ["PDB_EXHAUSTED", "PDB_NEVER_ALLOWS"],
            "a2": ["PDB_EXHAUSTED", "PDB_NEVER_ALLOWS"],
        }

    def test_the_budget_and_the_pod_are_named(self, planner: Planner):
        app = planner.app(SHUT, self.NODES, more=[*self.PODS, WEB_NEVER, API_ONE])
        first = app["blocked"][0]["reasons"][0]

        assert first["objects"][0] == "pdb/shop/web"
        assert "shop/web-0" in first["message"]

    def test_all_blocked_is_nothing_eligible_and_no_write(self, planner: Planner):
        answer = planner.ask([*pool(SHUT, drifted("a1 a2", words="empty")), *self.PODS[:2], WEB_NEVER])
        app = answer.pool()

        assert (app.kind, app.codes) == ("HOLD", ["NOTHING_ELIGIBLE"])
        assert (app["eligible"], app["nextNode"], app["action"]["patch"]) == ([], None, None)
        assert answer.exit_code == 1

    def test_a_budget_that_allows_one_keeps_neither(self, planner: Planner):
        web = pdb("web", {"minAvailable": 1}, {"expectedPods": 2, "currentHealthy": 2, "disruptionsAllowed": 1})
        app = planner.app(SHUT, self.NODES, more=[*self.PODS, web, API_ONE])

        assert (app.kind, app["eligible"], app.blocked) == ("OPEN", ["a1", "a2", "a3"], {})

    @pytest.mark.parametrize(
        ("spec", "status", "codes"),
        [
            ({"maxUnavailable": 0}, {"disruptionsAllowed": 0}, ["PDB_EXHAUSTED", "PDB_NEVER_ALLOWS"]),
            ({"maxUnavailable": "0%"}, {"disruptionsAllowed": 0}, ["PDB_EXHAUSTED", "PDB_NEVER_ALLOWS"]),
            ({"minAvailable": "100%"}, {"disruptionsAllowed": 0}, ["PDB_EXHAUSTED", "PDB_NEVER_ALLOWS"]),
            ({"minAvailable": 1}, {"disruptionsAllowed": 0, "expectedPods": 2}, ["PDB_EXHAUSTED"]),
            ({"maxUnavailable": 1}, {"disruptionsAllowed": 0}, ["PDB_EXHAUSTED"]),
            ({"maxUnavailable": 1}, {}, ["PDB_EXHAUSTED"]),
            ({"maxUnavailable": 1}, {"disruptionsAllowed": 2}, []),
        ],
    )
    def test_whether_a_budget_ever_allows_one(self, planner: Planner, spec: Json, status: Json, codes: list[str]):
        app = planner.app(SHUT, drifted("a1 a2", words="empty"), more=[pod("web-0", "a1"), pdb("web", spec, status)])

        assert app.blocked.get("a1", []) == codes

    def test_two_budgets_on_one_pod_keep_it_whatever_they_allow(self, planner: Planner):
        both = [
            pdb("web", {"maxUnavailable": 1}, {"disruptionsAllowed": 1}),
            pdb("web", {"maxUnavailable": 1}, {"disruptionsAllowed": 1})
            | {"metadata": {"name": "web-too", "namespace": "shop"}},
        ]
        app = planner.app(SHUT, drifted("a1 a2", words="empty"), more=[pod("web-0", "a1"), *both])

        assert app.blocked == {"a1": ["TWO_PDBS"]}

    def test_a_budget_of_another_namespace_covers_nothing(self, planner: Planner):
        other = pdb("web", {"maxUnavailable": 0}, {"disruptionsAllowed": 0}, namespace="other")
        app = planner.app(SHUT, [*drifted("a1", words="empty"), "a2 new"], more=[pod("web-0", "a1"), other])

        assert app.blocked == {}

    def test_a_finished_pod_needs_no_eviction(self, planner: Planner):
        done = pod("web-0", "a1", status={"phase": "Succeeded"})
        app = planner.app(SHUT, [*drifted("a1", words="empty"), "a2 new"], more=[done, WEB_NEVER])

        assert app["eligible"] == ["a1"]

    def test_a_sick_pod_may_go_where_the_budget_says_so(self, planner: Planner):
        sick = pod("web-0", "a1", status={"conditions": [{"type": "Ready", "status": "False"}]})
        always = pdb(
            "web", {"maxUnavailable": 1, "unhealthyPodEvictionPolicy": "AlwaysAllow"}, {"disruptionsAllowed": 0}
        )
        app = planner.app(SHUT, [*drifted("a1", words="empty"), "a2 new"], more=[sick, always])

        assert app["eligible"] == ["a1"]

    @pytest.mark.parametrize("name", ["pods", "poddisruptionbudgets"])
    def test_what_could_not_be_read_is_not_empty(self, planner: Planner, name: str):
        errors = [{"resource": name, "status": 403, "message": "forbidden"}]
        app = planner.app(SHUT, fill(4, *drifted("a1")), seen=observed(errors=errors))

        assert (app["verdict"], app.codes) == ("TRAPPED", ["UNKNOWN"])


class TestAnnotations:
    def test_a_protected_pod_keeps_its_node(self, planner: Planner):
        kept = pod("job-0", "a1", metadata={"annotations": {"karpenter.sh/do-not-disrupt": "true"}})
        app = planner.app(SHUT, [*drifted("a1", words="empty"), "a2 new"], more=[kept])

        assert (app.codes, app.blocked) == (["NOTHING_ELIGIBLE"], {"a1": ["POD_DO_NOT_DISRUPT"]})

    @pytest.mark.parametrize(
        ("started", "codes"), [("2026-10-17T01:11:00Z", ["POD_DO_NOT_DISRUPT"]), ("2026-10-17T01:10:00Z", [])]
    )
    def test_for_a_duration_from_its_start(self, planner: Planner, started: str, codes: list[str]):
        kept = pod(
            "job-0",
            "a1",
            metadata={"annotations": {"karpenter.sh/do-not-disrupt": "1h"}},
            status={"startTime": started},
        )
        app = planner.app(SHUT, [*drifted("a1", words="empty"), "a2 new"], more=[kept])

        assert app.blocked.get("a1", []) == codes

    def test_a_protected_node_stays(self, planner: Planner):
        line = node("a1 old drifted", node={"metadata": {"annotations": {"karpenter.sh/do-not-disrupt": "true"}}})
        app = planner.app(SHUT, fill(3, line))

        assert (app.codes, app.blocked) == (["NOTHING_ELIGIBLE"], {"a1": ["NODE_DO_NOT_DISRUPT"]})

    @pytest.mark.parametrize("key", ["karpenter.sh/do-not-drift", "driftgate.dev/do-not-roll"])
    @pytest.mark.parametrize("is_on_node", [True, False])
    def test_an_annotation_that_karpenter_does_not_know_shuts_the_gate_while_it_is_next(
        self, planner: Planner, key: str, is_on_node: bool
    ):
        wish: Json = {"metadata": {"annotations": {key: "true"}}}
        line = node("a1 old drifted", node=wish) if is_on_node else node("a1 old drifted", claim=wish)
        answer = planner.ask(pool(SHUT, fill(4, line, *drifted("a2", "2026-10-06T08:00:00Z"))))
        app = answer.pool()

        assert (app.kind, app.codes, app["nextNode"]) == ("HOLD", ["DO_NOT_DRIFT"], "a1")
        assert app.blocked == {"a1": ["DO_NOT_DRIFT"]}
        assert answer.exit_code == 1

    def test_it_holds_nothing_while_another_is_next(self, planner: Planner):
        wish: Json = {"metadata": {"annotations": {"driftgate.dev/do-not-roll": "true"}}}
        later = node("a2 old drifted since 2026-10-06T08:00:00Z", node=wish)

        assert planner.app(SHUT, fill(4, *drifted("a1"), later)).kind == "OPEN"

    def test_it_holds_where_it_drifted_in_the_same_second_as_the_next(self, planner: Planner):
        wish: Json = {"metadata": {"annotations": {"driftgate.dev/do-not-roll": "true"}}}
        app = planner.app(SHUT, fill(4, *drifted("a1"), node("a2 old drifted", node=wish)))

        assert (app.codes, app["nextNode"]) == (["DO_NOT_DRIFT"], "a1")

    def test_it_holds_in_a_static_pool_wherever_it_stands(self, planner: Planner):
        wish: Json = {"metadata": {"annotations": {"driftgate.dev/do-not-roll": "true"}}}
        later = node("a2 old drifted since 2026-10-06T08:00:00Z", node=wish)
        static: Json = {"replicas": 4, "limits": {"nodes": "5"}}

        app = planner.app(SHUT, fill(4, *drifted("a1"), later), spec=static)

        assert (app.codes, app["nextNode"]) == (["DO_NOT_DRIFT"], "a1")

    def test_a_grace_period_forces_protected_pods_so_it_holds(self, planner: Planner):
        forced = node("a1 old drifted empty", claim={"spec": {"terminationGracePeriod": "1h"}})
        kept = pod("job-0", "a1", metadata={"annotations": {"karpenter.sh/do-not-disrupt": "true"}})
        app = planner.app(SHUT, fill(3, forced), more=[kept])

        assert (app.codes, app["eligible"]) == (["WOULD_FORCE"], ["a1"])

    def test_unless_the_owner_does_not_respect_it(self, planner: Planner):
        forced = node("a1 old drifted empty", claim={"spec": {"terminationGracePeriod": "1h"}})
        kept = pod("job-0", "a1", metadata={"annotations": {"karpenter.sh/do-not-disrupt": "true"}})
        settings = config(respect={"do_not_disrupt": False})

        assert planner.app(SHUT, fill(3, forced), more=[kept], settings=settings).kind == "OPEN"

    def test_a_grace_period_lets_a_pdb_at_zero_go(self, planner: Planner):
        forced = node("a1 old drifted empty", claim={"spec": {"terminationGracePeriod": "1h"}})
        app = planner.app(SHUT, fill(3, forced), more=[pod("web-0", "a1"), WEB_NEVER])

        assert (app.kind, app["eligible"]) == ("OPEN", ["a1"])

    @pytest.mark.parametrize(
        ("expires", "created", "is_told"),
        [
            ("720h", "2026-09-16T12:00:00Z", True),
            ("720h", "2026-09-17T05:00:00Z", True),
            ("720h", "2026-09-17T05:00:01Z", False),
            ("Never", "2026-09-16T12:00:00Z", False),
        ],
    )
    def test_a_node_that_expires_before_the_next_window_ends_is_told(
        self, planner: Planner, expires: str, created: str, is_told: bool
    ):
        line = node(f"a1 old drifted created {created}", claim={"spec": {"expireAfter": expires}})
        app = planner.app(SHUT, fill(3, line), "2026-10-15T12:00:00Z")

        assert ("EXPIRES_FIRST" in app.blocked.get("a1", [])) == is_told

    def test_without_any_window_nothing_is_said_of_expiry(self, planner: Planner):
        line = node("a1 old drifted created 2026-09-16T12:00:00Z", claim={"spec": {"expireAfter": "720h"}})
        app = planner.app(SHUT, fill(3, line), "2026-10-15T12:00:00Z", settings=config(windows=[]))

        assert app.blocked == {}


class TestT28:
    """Limits and static pools."""

    def asked(self, planner: Planner, count: int, **spec: object) -> list[str]:
        names = " ".join(f"a{number}" for number in range(1, count + 1))
        return planner.app(SHUT, drifted(names, words="cpu 4"), spec=spec).codes

    @pytest.mark.parametrize(
        ("count", "spec", "codes"),
        [
            (3, {"replicas": 3, "limits": {"nodes": 3}}, ["STATIC_NO_HEADROOM"]),
            (3, {"replicas": 3, "limits": {"nodes": 4}}, []),
            (4, {"limits": {"cpu": "16"}}, []),
            (4, {"limits": {"cpu": "12"}}, ["LIMIT_EXCEEDED"]),
            (4, {"limits": {"nodes": "4"}}, []),
            (4, {"replicas": 3, "limits": {"nodes": 5}}, ["STATIC_SCALING_DOWN"]),
            (3, {"replicas": 3}, []),
            (4, {"limits": {"cpu": "16000m"}}, []),
            (4, {"limits": {"cpu": "15999m"}}, ["LIMIT_EXCEEDED"]),
            (4, {"limits": {"nodes": "3"}}, ["LIMIT_EXCEEDED"]),
            (3, {"replicas": 3, "limits": {"nodes": "3"}}, ["STATIC_NO_HEADROOM"]),
            (4, {"limits": {"memory": "1Gi"}}, []),
        ],
    )
    def test_room_for_one_more(self, planner: Planner, count: int, spec: Json, codes: list[str]):
        assert self.asked(planner, count, **spec) == codes

    def test_karpenters_own_sum_goes_before_ours(self, planner: Planner):
        nodes = drifted("a1 a2 a3 a4", words="cpu 4")
        status = {"resources": {"cpu": "20"}}
        app = planner.app(SHUT, nodes, spec={"limits": {"cpu": "16"}}, status=status)

        assert app.codes == ["LIMIT_EXCEEDED"]

    def test_the_remedy_says_how_many(self, planner: Planner):
        app = planner.app(SHUT, drifted("a1 a2 a3"), spec={"replicas": 3, "limits": {"nodes": 3}})

        assert "at least 4" in app.reason("STATIC_NO_HEADROOM")["remedy"]

    def test_no_headroom_needs_a_person_and_scaling_down_does_not(self, planner: Planner):
        full = pool(SHUT, drifted("a1 a2 a3"), spec={"replicas": 3, "limits": {"nodes": 3}})
        shrinking = pool(SHUT, drifted("a1 a2 a3 a4"), spec={"replicas": 3, "limits": {"nodes": 5}})

        assert (planner.ask(full).exit_code, planner.ask(shrinking).exit_code) == (1, 0)
