"""The story of a new image, from AWS's parameter to the node that runs it, and back.

Nothing is acted out: who left and which lists stood is told by an onlooker, which image a node runs by the API
server, what people hear by the topic. driftgate is asked only what it makes of a pool.
"""

import json
import time
from collections.abc import Callable

from driftgate.contract import channel_prefix
from driftgate.domain.reasons import ReasonCode
from tests.e2e.harness.api import JSON_PATCH, Object
from tests.e2e.harness.aws_images import AL2023
from tests.e2e.harness.aws_world import CLUSTER, nodeclass
from tests.e2e.harness.scenario import AWS, EC2NODECLASSES, create_nodepool, has_condition, wait_for
from tests.e2e.harness.workload import DEPLOYMENTS, deployment, running
from tests.e2e.real_facts import Facts
from tests.e2e.real_images import Choice, ImageChoices
from tests.e2e.real_roll import Marked, marked, rolled
from tests.e2e.real_world import CHANNEL, DEPLOYMENT, LATEST, PINNED, RealWorld
from tests.e2e.rolls import GATE

OLD, NEW, FIXED = "v20260801", "v20260901", "v20260908"
CHANNEL_PARAMETER = f"{channel_prefix(DEPLOYMENT)}al2023"
NODES = {PINNED: 3, CHANNEL: 2, LATEST: 2}
FULL = "1500m"  # of a machine's two processors: a pod on every node, and a new node for every pod that moves
# After so long Karpenter has looked at every node class again, were it only for its subnets.
REFRESH_S = 65.0


class Story:
    """Tells the story once; `tell` says a line to whoever watches."""

    def __init__(self, world: RealWorld, tell: Callable[[str], None]) -> None:
        self._world = world
        self._api = world.admin
        self._tell = tell
        self.facts = Facts()

    def run(self) -> Facts:
        """Every chapter in its order."""
        self.the_trap()
        self.an_image_appears()
        self.the_pin_moves()
        self.the_image_is_recalled()
        self.the_channel_is_promoted()
        self.facts.told = [_heard(message) for message in self._world.messages()]
        self.right_images()
        return self.facts

    def the_trap(self) -> None:
        """Three pools behind a gate that stays shut, each full of pods; the first look and the first poll."""
        self._step("The trap")
        for flavour in AL2023[1:]:
            self._world.aws.release_image(OLD, flavour)
        self._release(OLD)
        self._world.aws.client("ssm").put_parameter(Name=CHANNEL_PARAMETER, Value=self._image(OLD), Type="String")
        self._create_pool(PINNED, {"alias": f"al2023@{OLD}"})
        self._create_pool(CHANNEL, {"ssmParameter": CHANNEL_PARAMETER})
        self._create_pool(LATEST, {"alias": "al2023@latest"})
        for pool in NODES:
            self._wait_for_pods(pool)
        self._tell(f"Karpenter launched {sum(NODES.values())} nodes on {self._image(OLD)} ({OLD}), a pod on each.")
        self._tell(f"{PINNED} follows al2023@{OLD}, {CHANNEL} follows {CHANNEL_PARAMETER}, {LATEST} al2023@latest.")
        self._tell(f"Their budgets: {json.dumps(GATE)}")
        self._world.handlers.beat()
        self._poll()

    def an_image_appears(self) -> None:
        """AWS's parameter moves, our mirror follows, and Karpenter does not: it caches `@latest` for a day."""
        self._step(f"AWS releases {NEW}")
        self._release(NEW)
        self._released_at = time.monotonic()
        self._poll()
        self._ask_whether_stale(LATEST, "at once")

    def the_pin_moves(self) -> None:
        """A person changes the pin; Karpenter marks every node, and one goes."""
        self._step(f"Somebody moves the pin of {PINNED} to {NEW}")
        self._pin(NEW)
        self._rolled("pin", self._marked(PINNED, NEW), NEW)
        time.sleep(max(0.0, self._released_at + REFRESH_S - time.monotonic()))
        self._ask_whether_stale(LATEST, "a refresh later")

    def the_image_is_recalled(self) -> None:
        """AWS's parameter and the pin go back: only the node on the newer image is wrong now."""
        self._step(f"{NEW} is recalled, and the pin moves back")
        self._world.aws.recommend_image(self._image(OLD))
        self._pin(OLD)
        before = self._marked(PINNED, OLD)
        # Not sooner: until Karpenter takes its marks back, any look may find the pause over and open for the pin.
        self._poll()
        self._rolled("recall", before, OLD)

    def the_channel_is_promoted(self) -> None:
        """A better image is promoted; a restart spares us the five minutes for which Karpenter keeps a parameter."""
        self._step(f"AWS releases {FIXED}, and it is promoted in the channel")
        self._release(FIXED)
        self._poll()
        ssm = self._world.aws.client("ssm")
        ssm.put_parameter(Name=CHANNEL_PARAMETER, Value=self._image(FIXED), Overwrite=True)
        self._world.handlers.announce(CHANNEL_PARAMETER, "Update")
        self._ask_whether_stale(CHANNEL, "promoted")
        self._tell("Karpenter starts again, with nothing in its caches.")
        self._world.restart_karpenter()
        self._rolled("channel", self._marked(CHANNEL, FIXED), FIXED)
        self._ask_whether_stale(CHANNEL, "promoted, after a restart")
        self._ask_whether_stale(LATEST, "after a restart")

    def right_images(self) -> None:
        """Which image is right for every kind of machine: our word and Karpenter's, before and after changes."""
        self._step("Which image is right for which machine, by driftgate and by Karpenter")
        choices = ImageChoices(self._world)
        self.facts.choices_before = choices.set_up()
        choices.change()
        self.facts.choices_after = choices.compared()
        for choice in self.facts.choices_after:
            self._tell(_line(choice))

    def _marked(self, pool: str, version: str) -> Marked:
        before = marked(self._world, pool, self._image(version))
        alerts = "".join(f", alert {code}" for code in before.alerts)
        self._tell(f"Karpenter marks {before.drifted} of {NODES[pool]} nodes of {pool}: {', '.join(before.marks)}.")
        self._tell(f"driftgate judges {pool}: {before.verdict}{alerts}.")
        return before

    def _rolled(self, name: str, before: Marked, version: str) -> None:
        seen = rolled(self._world, before, self._image(version))
        self._wait_for_pods(before.pool)
        self.facts.rolls[name] = seen
        shut = max(0.0, seen.seconds_to_shut)  # driftgate sees the taint of the Node, the onlooker the NodeClaim
        self._tell(f"The gate opened. {seen.seconds_to_sign:.1f} s later Karpenter took {seen.node}.")
        self._tell(f"The gate was shut {shut:.2f} s after that: {seen.left} of {seen.drifted} nodes left.")
        self._tell(f"Its replacement runs {', '.join(seen.new_images)}; {version} is {seen.right_image}.")
        self._tell(f"The budgets: {seen.budgets}")

    def _poll(self) -> None:
        looked = self._world.pipeline.ledger.load(CLUSTER).looked_at
        answer = self._world.handlers.poll()
        self.facts.polls.append(answer)
        self.facts.seen.append(self._world.handlers.parameters())
        self.facts.looks_after_poll.append(self._world.pipeline.ledger.load(CLUSTER).looked_at != looked)
        for name, change in news(answer).items():
            self._tell(f"watch_amis mirrors {name}: {change['before']} → {change['now']}")

    def _ask_whether_stale(self, pool: str, moment: str) -> None:
        findings = self._world.judged(pool).findings
        messages = [finding.message for finding in findings if finding.code is ReasonCode.STALE_RESOLUTION]
        self.facts.stale[f"{pool}, {moment}"] = messages
        self._tell(f"{pool}, {moment}: {messages[0] if messages else 'Karpenter has what the parameter says.'}")

    def _release(self, version: str) -> None:
        self.facts.images[version] = self._world.aws.release_image(version)

    def _image(self, version: str) -> str:
        return self.facts.images[version]

    def _pin(self, version: str) -> None:
        patch = [{"op": "replace", "path": "/spec/amiSelectorTerms/0/alias", "value": f"al2023@{version}"}]
        self._api.patch(f"{EC2NODECLASSES}/{PINNED}", patch, JSON_PATCH)

    def _create_pool(self, name: str, term: dict[str, str]) -> None:
        """The pool with its node class, and a Deployment for which Karpenter provisions its nodes."""
        self._api.create(EC2NODECLASSES, nodeclass(name, term))
        wait_for(lambda: self._ready(name), f"ready EC2NodeClass {name}")
        create_nodepool(self._api, name, budgets=GATE, nodeclass=name, provider=AWS)
        self._api.create(DEPLOYMENTS, deployment(name, NODES[name], FULL))

    def _wait_for_pods(self, pool: str) -> None:
        wait_for(lambda: running(self._api, pool, NODES[pool]), f"running pods of {pool}", timeout_s=120)

    def _ready(self, name: str) -> Object | None:
        found = self._api.get(f"{EC2NODECLASSES}/{name}")
        return found if has_condition(found, "Ready") else None

    def _step(self, title: str) -> None:
        self._tell("")
        self._tell(f"── {title}")


def news(answer: Object) -> dict[str, dict[str, str]]:
    """What a poll saw change: `before` and `now` by parameter; what it saw for the first time is no news."""
    changed = answer["changed"].items()
    return {"/" + name.partition("/")[2]: change for name, change in changed if change["before"] is not None}


def _heard(message: Object) -> tuple[str, str]:
    """Pool and code of what the channel was told."""
    context = message["metadata"]["additionalContext"]
    return context.get("pool", ""), context.get("code", "")


def _line(choice: Choice) -> str:
    what = "lags" if choice.lags else "must go back" if choice.is_rollback else "right"
    word = "so says Karpenter" if choice.agrees else f"KARPENTER SAYS {choice.launched}, drifted: {choice.is_drifted}"
    return f"{choice.node_class:<14} {choice.machine:<12} {what:<13} {choice.right}: {word}"
