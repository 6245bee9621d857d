"""What must have been true of the story: each promise is a sentence and a question to the facts."""

import json
from collections.abc import Callable, Mapping

from driftgate.contract import seen_prefix
from tests.e2e.harness.aws_images import STANDARD
from tests.e2e.harness.aws_world import REGION
from tests.e2e.real_facts import Facts, RollSeen
from tests.e2e.real_images import Choice
from tests.e2e.real_story import FIXED, NEW, OLD, news
from tests.e2e.real_world import CHANNEL, DEPLOYMENT, LATEST, PINNED
from tests.e2e.rolls import GATE

Promise = Callable[[Facts], bool]
MIRROR = f"{seen_prefix(DEPLOYMENT)}{REGION}/{STANDARD.parameter().removeprefix('/aws/service/')}"
FIRST, RELEASE, RECALL, SECOND_RELEASE = range(4)


def broken(facts: Facts) -> list[str]:
    """The promises that were not kept."""
    return [sentence for sentence, holds in PROMISES.items() if not holds(facts)]


def _mirrored(facts: Facts, poll: int, was: str, now: str) -> bool:
    """Whether this poll saw the parameter of the newest image change and no other, and wrote it down."""
    change = {"before": facts.images[was], "now": facts.images[now]}
    is_seen = news(facts.polls[poll]) == {STANDARD.parameter(): change}
    return is_seen and facts.seen[poll].get(MIRROR) == (poll + 1, facts.images[now])


def _is_stale(facts: Facts, moment: str, named: str, kept: str) -> bool:
    """Whether the one finding of that moment names both images."""
    messages = facts.stale[moment]
    return len(messages) == 1 and facts.images[named] in messages[0] and facts.images[kept] in messages[0]


def _each(question: Callable[[RollSeen], bool]) -> Promise:
    return lambda facts: list(facts.rolls) == ["pin", "recall", "channel"] and all(map(question, facts.rolls.values()))


def _alerted(facts: Facts, name: str) -> bool:
    return "ROLLBACK" in facts.rolls[name].alerts


def _machines(facts: Facts, is_meant: Callable[[Choice], bool]) -> dict[str, set[str]]:
    """The machines in question, by node class."""
    found: dict[str, set[str]] = {}
    for choice in filter(is_meant, facts.choices_after):
        found.setdefault(choice.node_class, set()).add(choice.machine)
    return found


ALL = {"m5.large", "m6g.large", "g4dn.xlarge", "inf2.xlarge"}
PROMISES: Mapping[str, Promise] = {
    "the first poll takes what it sees for no change": lambda facts: (
        bool(facts.polls[FIRST]["changed"]) and news(facts.polls[FIRST]) == {}
    ),
    "a release is mirrored, and nothing else": lambda facts: _mirrored(facts, RELEASE, OLD, NEW),
    "a recall is mirrored too": lambda facts: _mirrored(facts, RECALL, NEW, OLD),
    "so is what comes after it": lambda facts: _mirrored(facts, SECOND_RELEASE, OLD, FIXED),
    "what a poll wrote leads to a look at the cluster": lambda facts: all(facts.looks_after_poll),
    "STALE_RESOLUTION while @latest waits for Karpenter's cache": lambda facts: (
        _is_stale(facts, f"{LATEST}, at once", NEW, OLD) and _is_stale(facts, f"{LATEST}, a refresh later", NEW, OLD)
    ),
    "STALE_RESOLUTION while a promoted channel does": lambda facts: _is_stale(
        facts, f"{CHANNEL}, promoted", FIXED, OLD
    ),
    "no STALE_RESOLUTION once Karpenter has read the parameters again": lambda facts: (
        facts.stale[f"{LATEST}, after a restart"] == facts.stale[f"{CHANNEL}, promoted, after a restart"] == []
    ),
    "Karpenter itself marks the nodes AMIDrift": _each(lambda roll: roll.marks == ("AMIDrift",)),
    "driftgate judges TRAPPED": _each(lambda roll: roll.verdict == "TRAPPED"),
    "one opening, and exactly one node leaves": _each(lambda roll: (roll.openings, roll.left) == (1, 1)),
    "the gate is shut within a second of the sign": _each(lambda roll: roll.seconds_to_shut <= 1),
    "the budgets are back byte for byte": _each(lambda roll: roll.budgets == roll.baseline == json.dumps(GATE)),
    "Karpenter's limits for other reasons never move": _each(lambda roll: roll.others == {(2, 0)}),
    "the roll is done": _each(lambda roll: roll.state == "done"),
    "the replacement runs the image that is right": _each(lambda roll: roll.new_images == (roll.right_image,)),
    "after the recall the alert is ROLLBACK, and only then": lambda facts: (
        [_alerted(facts, name) for name in ("pin", "recall", "channel")] == [False, True, False]
    ),
    "people are told of the recall, and of the pool that goes back": lambda facts: (
        {("", "ROLLBACK"), (PINNED, "ROLLBACK")} <= set(facts.told)
    ),
    "every image is right before anything changed, by driftgate and by Karpenter": lambda facts: (
        len(facts.choices_before) == 16
        and all(choice.agrees and choice.runs == choice.right for choice in facts.choices_before)
    ),
    "driftgate and Karpenter agree on every image afterwards": lambda facts: (
        len(facts.choices_after) == 16 and all(choice.agrees for choice in facts.choices_after)
    ),
    "the nodes lag whose image was replaced": lambda facts: (
        _machines(facts, lambda choice: choice.lags)
        == {
            "al2023-pinned": ALL,
            "al2023-latest": {"m6g.large", "g4dn.xlarge"},
            "bottlerocket": {"g4dn.xlarge"},
            "custom": {"m6g.large"},
        }
    ),
    "the nodes must go back whose image was withdrawn": lambda facts: (
        _machines(facts, lambda choice: choice.is_rollback) == {"custom": {"m5.large", "g4dn.xlarge", "inf2.xlarge"}}
    ),
}
