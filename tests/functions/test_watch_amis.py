"""watch_amis: mirrors what changed, once."""

from driftgate.ports import PutLook
from functions.watch_amis.handler import handler
from tests.functions.conftest import event
from tests.functions.worlds import saturday

PUBLIC = "/aws/service/eks/optimized-ami/1.34/amazon-linux-2023/x86_64/standard/recommended/image_id"
MIRROR = (
    "/driftgate/local/seen/eu-central-1/eks/optimized-ami/1.34/amazon-linux-2023/x86_64/standard/recommended/image_id"
)


def watching(use, **values):
    around = use(saturday())
    around.parameters.values.update(values)
    around.ledger.commit("demo", PutLook(around.clock.now(), (PUBLIC,)))
    return around


def test_a_new_image_is_mirrored_told_and_counted_once(use, context, output):
    around = watching(use, **{PUBLIC: "ami-new", MIRROR: "ami-old"})

    first = handler(event("schedule_poll"), context)
    second = handler(event("schedule_poll"), context)

    assert first["changed"] == {PUBLIC: {"before": "ami-old", "now": "ami-new"}}
    assert second["changed"] == {}
    assert around.parameters.written == [MIRROR]
    assert [told.thread for told in around.publisher.told] == [PUBLIC]
    assert output().values() == {"ImageChanged": [1.0], "ImagesPolled": [1.0, 1.0]}


def test_an_image_that_did_not_change_is_not_written(use, context):
    around = watching(use, **{PUBLIC: "ami-new", MIRROR: "ami-new"})

    assert handler(event("schedule_poll"), context) == {"polled": 1, "changed": {}, "missing": [], "problems": []}
    assert around.parameters.written == []


def test_a_name_that_aws_does_not_offer_is_named(use, context):
    watching(use)

    assert handler(event("schedule_poll"), context)["missing"] == [PUBLIC]


def test_what_is_no_poll_is_dropped_with_a_warning(use, context, output):
    around = watching(use, **{PUBLIC: "ami-new"})

    answer = handler(event("schedule_heartbeat"), context)

    told = output().log("Dropped an event that is not a poll")
    assert answer == {"polled": 0}
    assert around.parameters.written == []
    assert [(line["level"], line["event"]) for line in told] == [("WARNING", "Heartbeat")]
