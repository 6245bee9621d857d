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
    [("1.14.1", (1, 14)), ("v1.5.0-rc.1", (1, 5)), ("0.37.8", (0, 37)), ("main", None), ("", None), (None, None)],
)
def test_a_version_is_its_major_and_minor(text, version):
    assert parse_version(text) == version


@pytest.mark.parametrize(
    ("version", "skips", "gives", "reads"),
    [
        ((1, 1), False, False, False),
        ((1, 2), False, True, False),
        ((1, 5), True, True, False),
        ((1, 6), True, True, False),
        ((1, 7), False, True, False),
        ((1, 11), False, True, False),
        ((1, 12), False, True, True),
        (None, False, True, True),
    ],
)
def test_versions_differ_in_empty_nodes_reasons_and_durations(version, skips, gives, reads):
    assert (skips_empty_nodes(version), gives_disruption_reason(version), reads_durations(version)) == (
        skips,
        gives,
        reads,
    )
