"""Long lists of names within the limits of patterns and policies."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infra.patterns import fitted, length, split

NAMES = st.lists(st.text("abcdef-", min_size=1, max_size=60), unique=True, max_size=80)


def lets_through(matchers: list[object], name: str) -> bool:
    return any(
        name == matcher if isinstance(matcher, str) else name.startswith(str(matcher["prefix"]))  # type: ignore[index]
        for matcher in matchers
    )


def test_names_that_fit_stay_together_in_their_order():
    assert split(["b", "a"], 100, most=5) == [["b", "a"]]


def test_names_that_do_not_fit_are_split():
    # ["aaaa","bbbb"] has 15 characters, with a third name it would have 22
    assert split(["aaaa", "bbbb", "cccc"], 15, most=5) == [["aaaa", "bbbb"], ["cccc"]]


def test_nothing_is_nothing():
    assert split([], 100, most=5) == []


def test_too_many_names_become_the_longest_prefixes_that_will_do():
    names = ["shop-one", "shop-two", "edge"]

    # {"prefix":"shop-"} has 18 characters; with one letter more there would be two of them
    assert split(names, 27, most=1) == [[{"prefix": "shop-"}, "edge"]]


def test_a_policy_has_names_or_their_beginnings():
    # three names with 10 characters around each, quotes, commas and brackets: 60
    assert fitted(["shop-one", "shop-two", "edge"], 60, each=10) == ["shop-one", "shop-two", "edge"]
    assert fitted(["shop-one", "shop-two", "edge"], 59, each=10) == ["shop-*", "edge"]
    assert fitted([], 27, each=10) == []


@given(NAMES, st.integers(130, 400), st.integers(2, 6))
def test_no_name_is_lost_and_no_list_is_too_long(names, room, most):
    found = split(names, room, most)

    assert len(found) <= most
    assert all(length(matchers) <= room for matchers in found)
    assert all(any(lets_through(list(matchers), name) for matchers in found) for name in names)


@pytest.mark.parametrize("most", [1, 3])
def test_names_that_differ_in_their_beginnings_are_cut_until_they_fit(most):
    names = [f"{index:04}{'x' * 100}" for index in range(1000)]

    found = split(names, 1800, most)

    assert len(found) <= most
    assert all(length(matchers) <= 1800 for matchers in found)
    assert all(any(lets_through(list(matchers), name) for matchers in found) for name in names)
