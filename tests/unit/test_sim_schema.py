"""Defaults and refusals of the NodePool CRD, in the real server's words (recorded from kube-apiserver 1.36.3)."""

import pytest

from tests.sim_clusters import APP, POOLS, bare_cluster, body_of, get, patch, send

NOT_CHECKED = (
    "<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; "
    "correct the existing errors to complete validation"
)


def set_budgets(budgets):
    sim = bare_cluster()
    return sim, patch(sim, APP, {"op": "replace", "path": "/spec/disruption/budgets", "value": budgets})


@pytest.mark.parametrize(
    ("written", "stored"),
    [
        ([], []),
        (None, [{"nodes": "10%"}]),
        ([{}], [{"nodes": "10%"}]),
        ([{"nodes": None}], [{"nodes": "10%"}]),
        ([{"nodes": "1", "reasons": []}], [{"nodes": "1", "reasons": []}]),
        ([{"nodes": "01", "reasons": ["Drifted"]}], [{"nodes": "01", "reasons": ["Drifted"]}]),
        (
            [{"nodes": "0", "schedule": "0 0 * * sat-sun", "duration": "99999999h"}],
            [{"nodes": "0", "schedule": "0 0 * * sat-sun", "duration": "99999999h"}],
        ),
    ],
)
def test_what_the_crd_takes_is_stored_with_its_defaults(written, stored):
    sim, answer = set_budgets(written)

    assert answer.status == 200
    assert get(sim, APP)["spec"]["disruption"]["budgets"] == stored


@pytest.mark.parametrize(
    ("budgets", "message"),
    [
        (
            [{"nodes": "1O%"}],
            'spec.disruption.budgets[0].nodes: Invalid value: "1O%": spec.disruption.budgets[0].nodes in body '
            "should match '^((100|[0-9]{1,2})%|[0-9]+)$'",
        ),
        (
            [{"nodes": "1", "schedule": "@daily", "duration": "30s"}],
            'spec.disruption.budgets[0].duration: Invalid value: "30s": spec.disruption.budgets[0].duration in body '
            "should match '^((([0-9]+(h|m))|([0-9]+h[0-9]+m))(0s)?)$'",
        ),
        (
            [{"nodes": "1", "reasons": ["Drifted", "Drifted"]}],
            'spec.disruption.budgets[0].reasons[1]: Duplicate value: "Drifted"',
        ),
        (
            [{"nodes": "1", "schedule": "@daily"}],
            "spec.disruption.budgets: Invalid value: 'schedule' must be set with 'duration'",
        ),
        (
            [{"nodes": 1}],
            '[spec.disruption.budgets[0].nodes: Invalid value: "integer": spec.disruption.budgets[0].nodes in body '
            f'must be of type string: "integer", {NOT_CHECKED}]',
        ),
        (
            [{"nodes": "1", "reasons": ["drifted"]}],
            '[spec.disruption.budgets[0].reasons[0]: Unsupported value: "drifted": supported values: '
            f'"Underutilized", "Empty", "Drifted", {NOT_CHECKED}]',
        ),
        (
            [{"nodes": "1"}] * 51,
            f"[spec.disruption.budgets: Too many: 51: must have at most 50 items, {NOT_CHECKED}]",
        ),
        (
            "x",
            '[spec.disruption.budgets: Invalid value: "string": spec.disruption.budgets in body must be of type '
            f'array: "string", {NOT_CHECKED}]',
        ),
        (
            [None],
            '[spec.disruption.budgets[0]: Invalid value: "null": spec.disruption.budgets[0] in body must be of type '
            f'object: "null", {NOT_CHECKED}]',
        ),
    ],
)
def test_what_the_crd_refuses_is_refused_in_its_words_and_nothing_is_stored(budgets, message):
    sim, answer = set_budgets(budgets)

    assert answer.status == 422
    assert body_of(answer)["message"] == f'NodePool.karpenter.sh "app" is invalid: {message}'
    assert get(sim, APP)["spec"]["disruption"]["budgets"] == [{"nodes": "0", "reasons": ["Drifted"]}]


def test_a_refusal_lists_its_causes_for_programs():
    _, answer = set_budgets([{"nodes": "1", "schedule": "@daily"}])

    assert body_of(answer)["details"] == {
        "name": "app",
        "group": "karpenter.sh",
        "kind": "NodePool",
        "causes": [
            {
                "reason": "FieldValueInvalid",
                "message": "Invalid value: 'schedule' must be set with 'duration'",
                "field": "spec.disruption.budgets",
            }
        ],
    }


def test_an_unknown_field_of_a_budget_is_dropped_with_a_warning():
    sim, answer = set_budgets([{"nodes": "1", "foo": "bar"}])

    assert answer.headers == (("Warning", '299 - "unknown field \\"spec.disruption.budgets[0].foo\\""'),)
    assert get(sim, APP)["spec"]["disruption"]["budgets"] == [{"nodes": "1"}]


def test_a_disruption_block_needs_consolidate_after():
    answer = send(
        bare_cluster(),
        "POST",
        POOLS,
        {"kind": "NodePool", "metadata": {"name": "bad"}, "spec": {"disruption": {"budgets": []}, "template": {}}},
    )

    assert body_of(answer)["message"] == (
        f'NodePool.karpenter.sh "bad" is invalid: [spec.disruption.consolidateAfter: Required value, {NOT_CHECKED}]'
    )


def test_a_pool_without_a_disruption_block_gets_the_whole_default():
    sim = bare_cluster()

    send(sim, "POST", POOLS, {"kind": "NodePool", "metadata": {"name": "new"}, "spec": {"template": {}}})

    assert get(sim, f"{POOLS}/new")["spec"]["disruption"] == {
        "budgets": [{"nodes": "10%"}],
        "consolidateAfter": "0s",
        "consolidationPolicy": "WhenEmptyOrUnderutilized",
    }


def test_the_spec_of_a_nodeclaim_is_immutable():
    sim = bare_cluster()
    sim.add_node("app", "a1")

    answer = patch(
        sim,
        "/apis/karpenter.sh/v1/nodeclaims/app-a1",
        {"op": "replace", "path": "/spec/expireAfter", "value": "1h"},
    )

    assert body_of(answer)["message"] == (
        'NodeClaim.karpenter.sh "app-a1" is invalid: spec: Invalid value: spec is immutable'
    )
