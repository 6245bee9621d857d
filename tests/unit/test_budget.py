from __future__ import annotations

import pytest

from driftgate.domain.budget import (
    Budget,
    DisruptionReason,
    applies_to,
    from_objects,
    is_always_on,
    is_always_on_zero,
    is_usable_number,
    to_objects,
)
from driftgate.domain.errors import InvalidInputError
from tests.factories import budget


@pytest.mark.parametrize(
    "entry",
    [
        {"nodes": "10%"},
        {"nodes": "0", "reasons": []},
        {"nodes": "00", "reasons": ["Drifted"], "schedule": "11 2 17 10 *", "duration": "8736h"},
        {"nodes": "0", "reasons": ["Underutilized", "Empty"], "schedule": "@daily", "duration": "4h0m0s"},
        {"nodes": "", "schedule": ""},
        {"nodes": "1", "policy": {"deep": [1, None, {"x": True}]}, "another": "field"},
    ],
)
def test_an_entry_is_written_as_it_was_read(entry):
    assert to_objects(from_objects([entry])) == [entry]


def test_unknown_fields_keep_their_order():
    read = Budget.from_object({"zone": "a", "nodes": "1", "age": 2})

    assert list(read.to_object()) == ["nodes", "zone", "age"]


def test_an_entry_without_nodes_has_the_default_of_the_crd():
    assert Budget.from_object({}) == Budget(nodes="10%")


def test_an_empty_list_of_reasons_is_not_the_same_as_none():
    assert Budget.from_object({"nodes": "0", "reasons": []}).reasons == ()
    assert Budget.from_object({"nodes": "0"}).reasons is None


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ([{"nodes": 1}], 'budgets[0].nodes: this is a number · Write a string, such as nodes: "1".'),
        ([{}, {"nodes": True}], 'budgets[1].nodes: this is a boolean · Write a string, such as nodes: "1".'),
        (
            [{"schedule": None}],
            'budgets[0].schedule: this is null · Write a string, such as schedule: "0 2 * * sat".',
        ),
        ([{"duration": 3}], "budgets[0].duration: this is a number · Write a string, such as duration: 3h."),
        (
            [{"reasons": "Drifted"}],
            "budgets[0].reasons: this is a string · Write a list, such as reasons: [Drifted].",
        ),
        ([{"reasons": ["Empty", 1]}], "budgets[0].reasons[1]: this is a number · Write a string, such as Drifted."),
        (["10%"], "budgets[0]: this is a string · Write an object."),
        ({"nodes": "1"}, "budgets: this is an object · Write a list."),
    ],
)
def test_a_value_of_a_wrong_type_names_its_place_and_the_remedy(entries, message):
    with pytest.raises(InvalidInputError) as caught:
        from_objects(entries)

    assert str(caught.value) == message


def test_an_entry_applies_to_all_reasons_when_it_names_none():
    assert [applies_to(budget("0"), reason) for reason in DisruptionReason] == [True, True, True]


def test_an_entry_with_an_empty_list_applies_to_nothing():
    assert [applies_to(Budget(nodes="0", reasons=()), reason) for reason in DisruptionReason] == [False] * 3


def test_an_entry_applies_to_the_reasons_that_it_names():
    assert applies_to(budget("0", "Drifted", "Empty"), DisruptionReason.DRIFTED)
    assert not applies_to(budget("0", "Drifted", "Empty"), DisruptionReason.UNDERUTILIZED)


def test_an_entry_is_always_on_without_schedule_and_duration():
    assert is_always_on(budget("0"))
    assert not is_always_on(budget("0", schedule="@daily", duration="24h"))
    assert not is_always_on(budget("0", duration="24h"))


@pytest.mark.parametrize(
    ("nodes", "is_zero"),
    [("0", True), ("00", True), ("0%", True), ("000%", True), ("1", False), ("10%", False), ("", False), ("-0", False)],
)
def test_a_zero_is_told_by_its_spelling(nodes, is_zero):
    assert is_always_on_zero(budget(nodes, "Drifted")) is is_zero


def test_a_scheduled_zero_is_not_always_on():
    assert not is_always_on_zero(budget("0", schedule="@daily", duration="24h"))


@pytest.mark.parametrize(
    ("nodes", "is_usable"),
    [
        ("2147483647", True),
        ("2147483648", False),
        ("4294967297", False),
        ("99999999999999999999", False),
        ("00000000000000000000000000000007", True),
        ("100%", True),
    ],
)
def test_a_count_above_32_bits_is_not_usable(nodes, is_usable):
    assert is_usable_number(budget(nodes)) is is_usable
