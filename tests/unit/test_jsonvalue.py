"""Times as Kubernetes and people write them: what cannot be one is none, never a crash."""

from __future__ import annotations

import pytest

from driftgate.domain.jsonvalue import instant


@pytest.mark.parametrize(
    "text", ["", "yesterday", "2026-10-17T02:10:00", "0001-01-01T00:00:00+05:00", "9999-12-31T23:59:59-05:00"]
)
def test_what_is_no_instant_is_none(text):
    assert instant(text) is None
