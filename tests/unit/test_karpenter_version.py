"""What the running Karpenter's version changes."""

import pytest

from driftgate.domain.karpenter_version import (
    gives_disruption_reason,
    parse_version,
    reads_durations,
    skips_empty_nodes,
)


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("1.14.1", (1, 14, 1)),
        ("v1.5.0-rc.1", (1, 5, 0)),
        ("1.6", (1, 6, 0)),
        ("0.37.8", (0, 37, 8)),
        ("main", None),
        ("", None),
        (None, None),
    ],
)
def test_a_version_is_its_three_numbers(text, version):
    assert parse_version(text) == version


@pytest.mark.parametrize(
    ("version", "skips", "gives", "reads"),
    [
        ((1, 1, 5), False, False, False),
        ((1, 2, 0), False, True, False),
        ((1, 4, 9), False, True, False),
        ((1, 5, 0), True, True, False),
        ((1, 5, 4), True, True, False),
        ((1, 5, 5), False, True, False),
        ((1, 6, 0), True, True, False),
        ((1, 6, 2), True, True, False),
        ((1, 6, 3), False, True, False),
        ((1, 7, 0), False, True, False),
        ((1, 11, 2), False, True, False),
        ((1, 12, 0), False, True, True),
        (None, False, True, True),
    ],
)
def test_versions_differ_in_empty_nodes_reasons_and_durations(version, skips, gives, reads):
    assert (skips_empty_nodes(version), gives_disruption_reason(version), reads_durations(version)) == (
        skips,
        gives,
        reads,
    )
