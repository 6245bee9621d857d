"""Whether a PodDisruptionBudget could ever allow an eviction."""

import pytest

from driftgate.domain.pdb import allows_never
from tests.factories import pdb


@pytest.mark.parametrize(
    ("min_available", "max_unavailable", "expected_pods", "never"),
    [
        ("2", None, 2, True),
        ("3", None, 2, True),
        ("1", None, 2, False),
        ("1", None, 1, True),
        ("0", None, 1, False),
        ("1", None, 0, False),
        ("1", None, None, False),
        ("100%", None, None, True),
        ("99%", None, 10, True),
        ("90%", None, 10, False),
        ("50%", None, 1, True),
        ("50%", None, None, False),
        (None, "0", 5, True),
        (None, "0%", None, True),
        (None, "1", 5, False),
        (None, "1%", 5, False),
        (None, "30%", None, False),
        (None, "many", 5, False),
        ("some%", None, 5, False),
        (None, None, 5, False),
    ],
)
def test_a_budget_can_never_allow_one_when_its_numbers_leave_none(min_available, max_unavailable, expected_pods, never):
    budget = pdb(min_available=min_available, max_unavailable=max_unavailable, expected_pods=expected_pods)

    assert bool(allows_never(budget)) is never


def test_the_sentence_names_the_numbers():
    budget = pdb(min_available="2", max_unavailable=None, expected_pods=2)

    assert allows_never(budget) == ("can never allow one: minAvailable 2 of 2 expected pods leaves none to spare.")
