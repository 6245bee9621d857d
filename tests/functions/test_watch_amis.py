"""watch_amis: mirrors what changed, once."""

import pytest

from driftgate.domain.errors import AwsUnavailableError
from driftgate.ports import PutLook
from functions.watch_amis.handler import handler
from tests.functions.conftest import event
from tests.functions.worlds import saturday

PUBLIC = "/aws/service/eks/optimized-ami/1.34/amazon-linux-2023/x86_64/standard/recommended/image_id"
MIRROR = (
    "/driftgate/local/seen/eu-central-1/eks/optimized-ami/1.34/amazon-linux-2023/x86_64/standard/recommended/image_id"
)
QUIET = {"polled": 1, "changed": {}, "missing": [], "refused": [], "left": [], "problems": [], "heldBy": None}


def watching(use, **values):
    around = use(saturday())
    around.parameters.values.update(values)
    around.ledger.commit("demo", PutLook(around.clock.now(), (PUBLIC,)))
    return around


def test_a_new_image_is_mirrored_told_and_counted_once(use, context, output):
    around = watching(use, **{PUBLIC: "ami-new", MIRROR: "ami-old"})

    first = handler(event("schedule_poll"), context)
    second = handler(event("schedule_poll"), context)

    assert first["changed"] == {f"eu-central-1{PUBLIC}": {"before": "ami-old", "now": "ami-new"}}
    assert second["changed"] == {}
    assert around.parameters.written == [MIRROR]
    assert [told.kind for told in around.publisher.told] == ["ImageChanged"]
    assert output().values() == {"ImageChanged": [1.0], "ImagesPolled": [1.0, 1.0]}


def test_an_image_that_is_seen_for_the_first_time_is_no_change_to_count(use, context, output):
    watching(use, **{PUBLIC: "ami-new"})

    answer = handler(event("schedule_poll"), context)

    assert answer["changed"] == {f"eu-central-1{PUBLIC}": {"before": None, "now": "ami-new"}}
    assert output().values() == {"ImagesPolled": [1.0]}


def test_an_image_that_did_not_change_is_not_written(use, context):
    around = watching(use, **{PUBLIC: "ami-new", MIRROR: "ami-new"})

    assert handler(event("schedule_poll"), context) == QUIET
    assert around.parameters.written == []


def test_a_name_that_aws_does_not_offer_is_named(use, context):
    watching(use)

    assert handler(event("schedule_poll"), context)["missing"] == [f"eu-central-1{PUBLIC}"]


def test_a_region_that_failed_fails_the_invocation_after_it_was_logged(use, context, output):
    around = watching(use, **{PUBLIC: "ami-new"})
    around.parameters.failures["eu-central-1"] = AwsUnavailableError("eu-central-1 was throttled")

    with pytest.raises(AwsUnavailableError, match="throttled"):
        handler(event("schedule_poll"), context)

    seen = output()
    (line,) = seen.log("Polled the image parameters")
    assert line["problems"] == ["eu-central-1 was throttled"]
    assert seen.metrics == []


def test_what_is_no_poll_is_dropped_with_a_warning(use, context, output):
    around = watching(use, **{PUBLIC: "ami-new"})

    answer = handler(event("schedule_heartbeat"), context)

    told = output().log("Dropped an event that is not a poll")
    assert answer == {"polled": 0}
    assert around.parameters.written == []
    assert [(line["level"], line["event"]) for line in told] == [("WARNING", "Heartbeat")]
