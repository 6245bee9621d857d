"""Which image is right for a node: what driftgate says, what Karpenter launches, and whom Karpenter calls drifted.

Four node classes, and a node of every kind of machine in each. Then images are released, recalled and dropped, and
Karpenter is asked again: by its own mark on the nodes that are there, and by launching one more of every kind.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import date

from driftgate.domain.pool_facts import ClusterFacts, PoolFacts
from tests.e2e.harness.api import JSON_PATCH, Object
from tests.e2e.harness.aws_images import (
    AL2023,
    BOTTLEROCKET,
    BOTTLEROCKET_STANDARD,
    NEURON,
    STANDARD,
    Flavour,
)
from tests.e2e.harness.aws_world import nodeclass
from tests.e2e.harness.scenario import (
    AWS,
    EC2NODECLASSES,
    NODECLAIMS,
    NODEPOOLS,
    claims_with,
    create_nodepool,
    has_condition,
    nodeclaim,
    wait_for,
)
from tests.e2e.real_world import RealWorld

INSTANCE_TYPE = "node.kubernetes.io/instance-type"
MACHINES = {"m5.large": "amd64", "m6g.large": "arm64", "g4dn.xlarge": "amd64", "inf2.xlarge": "amd64"}
OLD, NEW = "v20260701", "v20260915"
BOTTLEROCKET_OLD, BOTTLEROCKET_NEW = "v1.50.0", "v1.51.0"
# Kinds for which `latest` still names the old image while the release is under way.
NOT_REACHED = (STANDARD, NEURON, *BOTTLEROCKET_STANDARD)
TEAM_PARAMETER = "/team/node-image"
Terms = list[dict[str, object]]
Key = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One node: the image that it runs, the one that is right by us and by Karpenter, and what both make of it.

    `right` is None where driftgate cannot tell. `launched` is what Karpenter gives to a new node of the kind;
    `is_drifted` is its mark AMIDrift.
    """

    node_class: str
    machine: str
    runs: str
    right: str | None
    launched: str
    is_drifted: bool
    is_rollback: bool

    @property
    def lags(self) -> bool:
        return self.runs != self.right and not self.is_rollback

    @property
    def agrees(self) -> bool:
        return self.right == self.launched and self.is_marked_alike

    @property
    def is_marked_alike(self) -> bool:
        return self.is_drifted is (self.runs != self.right)


class ImageChoices:
    """Sets the node classes up, changes what they find, and compares."""

    def __init__(self, world: RealWorld) -> None:
        self._world = world
        self._api = world.admin
        self._old: dict[Flavour, str] = {}
        self._claims: dict[Key, str] = {}

    def set_up(self) -> list[Choice]:
        """Every node class with one node of every kind, and what both say of them."""
        self._publish_first()
        self._world.restart_karpenter()
        for name, terms in self._terms.items():
            self._api.create(EC2NODECLASSES, nodeclass(name, *terms))
        for name in self._terms:
            self._create_pool(name)
        self._claims = self._launch()
        return self._choices(self._images(self._claims))

    def change(self) -> None:
        """A release that has not reached every kind of `latest`, another that a pin names, and a recall."""
        aws, before = self._world.aws, self._resolved()
        for flavour in AL2023:
            aws.release_image(NEW, flavour)
        for flavour in BOTTLEROCKET:
            aws.release_image(BOTTLEROCKET_NEW, flavour, day=date(2026, 9, 15))
        for flavour in NOT_REACHED:
            aws.recommend_image(self._old[flavour], flavour)
        aws.create_image("team-arm64-2", date(2026, 3, 1), "arm64")
        self._set_terms("al2023-pinned", [{"alias": f"al2023@{NEW}"}])
        self._set_terms("custom", [{"ssmParameter": TEAM_PARAMETER}, {"name": "team-arm64-*"}])
        self._world.restart_karpenter()
        wait_for(lambda: self._all_differ(before) or None, "other images in every EC2NodeClass")

    def compared(self) -> list[Choice]:
        """Every node of the beginning, and what is right for it now by us and by Karpenter."""
        launched = self._images(self._launch())
        with suppress(TimeoutError):
            wait_for(lambda: all(c.is_marked_alike for c in self._choices({})) or None, "agreement", timeout_s=30)
        self._world.onlooker.watch_on(passes=0)
        return self._choices(launched)

    def _publish_first(self) -> None:
        aws = self._world.aws
        self._old = {flavour: aws.release_image(OLD, flavour) for flavour in AL2023}
        for flavour in BOTTLEROCKET:
            self._old[flavour] = aws.release_image(BOTTLEROCKET_OLD, flavour, day=date(2026, 7, 1))
        oldest = aws.create_image("team-amd64-0", date(2025, 12, 1), "x86_64")
        older = aws.create_image("team-amd64-1", date(2026, 1, 1), "x86_64")
        aws.create_image("team-amd64-2", date(2026, 2, 1), "x86_64", tags={"team": "nodes"})
        aws.create_image("team-arm64-1", date(2026, 1, 1), "arm64")
        aws.client("ssm").put_parameter(Name=TEAM_PARAMETER, Value=oldest, Type="String")
        by_team: Terms = [{"id": older}, {"name": "team-arm64-*"}, {"tags": {"team": "nodes"}}]
        self._terms: dict[str, Terms] = {
            "al2023-pinned": [{"alias": f"al2023@{OLD}"}],
            "al2023-latest": [{"alias": "al2023@latest"}],
            "bottlerocket": [{"alias": "bottlerocket@latest"}],
            "custom": [{"ssmParameter": TEAM_PARAMETER}, *by_team],
        }

    def _create_pool(self, name: str) -> None:
        """A NodePool that takes every kind of machine, behind a shut gate."""
        wait_for(lambda: self._ready(name), f"ready EC2NodeClass {name}")
        pool = create_nodepool(self._api, name, nodeclass=name, provider=AWS)
        requirements = pool["spec"]["template"]["spec"]["requirements"]
        wanted = {"kubernetes.io/arch": sorted(set(MACHINES.values())), INSTANCE_TYPE: sorted(MACHINES)}
        for requirement in requirements:
            requirement["values"] = wanted.get(requirement["key"], requirement["values"])
        patch = [{"op": "replace", "path": "/spec/template/spec/requirements", "value": requirements}]
        self._api.patch(f"{NODEPOOLS}/{name}", patch, JSON_PATCH)

    def _launch(self) -> dict[Key, str]:
        """The names of one more NodeClaim of every kind in every pool, once Karpenter has launched them."""
        made = {
            (name, machine): self._api.create(NODECLAIMS, self._claim(name, machine))["metadata"]["name"]
            for name in self._terms
            for machine in MACHINES
        }
        wait_for(lambda: claims_with(self._api, list(made.values()), "Launched"), "launched nodes of every kind")
        return made

    def _claim(self, pool: str, machine: str) -> Object:
        body = nodeclaim(self._api.get(f"{NODEPOOLS}/{pool}"))
        wanted = {"kubernetes.io/arch": MACHINES[machine], INSTANCE_TYPE: machine}
        for requirement in body["spec"]["requirements"]:
            requirement["values"] = [wanted.get(requirement["key"], requirement["values"][0])]
        return body

    def _images(self, claims: Mapping[Key, str]) -> dict[Key, str]:
        return {key: self._api.get(f"{NODECLAIMS}/{name}")["status"]["imageID"] for key, name in claims.items()}

    def _choices(self, launched: Mapping[Key, str]) -> list[Choice]:
        observation = self._world.observe()
        facts = ClusterFacts.of(observation)
        pools = {pool.name: PoolFacts.of(pool, facts) for pool in observation.nodepools}
        return [choice(pools[key[0]], key[1], name, launched.get(key, "")) for key, name in self._claims.items()]

    def _resolved(self) -> dict[str, object]:
        """What Karpenter has found for every node class."""
        return {name: self._api.get(f"{EC2NODECLASSES}/{name}")["status"]["amis"] for name in self._terms}

    def _all_differ(self, before: Mapping[str, object]) -> bool:
        return all(found != before[name] for name, found in self._resolved().items())

    def _set_terms(self, name: str, terms: Terms) -> None:
        patch = [{"op": "replace", "path": "/spec/amiSelectorTerms", "value": terms}]
        self._api.patch(f"{EC2NODECLASSES}/{name}", patch, JSON_PATCH)

    def _ready(self, name: str) -> Object | None:
        found = self._api.get(f"{EC2NODECLASSES}/{name}")
        return found if has_condition(found, "Ready") else None


def choice(facts: PoolFacts, machine: str, claim: str, launched: str) -> Choice:
    """What driftgate's own judgement of the pool says of the NodeClaim."""
    member = next(member for member in facts.members if member.claim.name == claim)
    group, runs = facts.images.group_of(claim), member.claim.image_id
    right = runs if group is None else group.right.id
    return Choice(
        node_class=facts.pool.name,
        machine=machine,
        runs=runs,
        right=None if member in facts.images.unclear else right,
        launched=launched,
        is_drifted=member.claim.drift_reason == "AMIDrift",
        is_rollback=group is not None and group.is_rollback,
    )
