"""The synthesized template at work: one node rolls, the next gate is shut at the alarm, people are told."""

from __future__ import annotations

import pytest

from tests.infra.template_night import AT_ONCE_S, HEARD, TOLD, baseline

pytestmark = pytest.mark.slow
STREAM = "eks/optimized-ami/1.34/amazon-linux-2023/x86_64/standard/recommended/image_id"


def test_one_node_rolls_and_people_hear_every_step():
    found = baseline()

    assert found.troubles == []
    assert found.rolled == ["ip-10-0-1-17"]
    assert found.told == TOLD


def test_the_alarm_shuts_the_next_gate_at_once():
    found = baseline()

    assert len(found.openings) == 2
    assert found.alarm_to_closed_s is not None
    assert found.alarm_to_closed_s <= AT_ONCE_S


def test_every_event_reached_the_function_it_is_for():
    assert baseline().heard == HEARD


def test_the_poll_mirrored_the_image_that_aws_published():
    assert baseline().mirrored == [f"/driftgate/demo/seen/eu-central-1/{STREAM}"]


def test_every_variable_of_the_template_is_one_that_its_function_asks_for():
    found = baseline()

    assert {f.label: sorted(set(f.variables) - found.read[f.label]) for f in found.functions} == {
        function.label: [] for function in found.functions
    }
