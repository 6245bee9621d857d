"""Builders for every domain value, with the objects of the common case as defaults.

`replace`-style: name only what the test is about. Times are given as text: `at("2026-10-17T02:10:00Z")`.
Node `a1` and NodeClaim `app-a1` belong together; `pair("a1", drifted="2026-10-05T08:00:00Z")` builds both.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from driftgate.domain.budget import Budget
from driftgate.domain.conditions import Condition
from driftgate.domain.ledger import Approval, CounterRecord, ImageVerdict, LeaseRecord, Stop, StopCause
from driftgate.domain.nodepool import (
    ImageTerm,
    NodeClassRef,
    NodeClassSnapshot,
    NodePoolSnapshot,
    Requirement,
    ResolvedImage,
)
from driftgate.domain.nodes import (
    NodeClaimSnapshot,
    NodeSnapshot,
    PodDisruptionBudgetSnapshot,
    PodSnapshot,
    SelectorTerm,
    VolumeAttachmentSnapshot,
)
from driftgate.domain.observation import (
    AlarmObservation,
    CalendarObservation,
    ImageObservation,
    Observation,
    ParameterObservation,
)
from driftgate.domain.policy import (
    AlarmGuard,
    ClusterPolicy,
    GuardPolicy,
    ImagePolicy,
    Mode,
    OpenPolicy,
    PoolPolicy,
)
from driftgate.domain.roll import Roll, RollState
from driftgate.domain.roll_annotation import LiveRoll
from driftgate.domain.window import Blackout, Interval, MaintenanceWindow

OLD_IMAGE = "ami-0aaa00000000000a1"
NEW_IMAGE = "ami-0bbb00000000000b2"
OLD_NAME = "amazon-eks-node-al2023-x86_64-standard-1.34-v20260901"
NEW_NAME = "amazon-eks-node-al2023-x86_64-standard-1.34-v20260923"
DRIFTED_SINCE = "2026-10-05T08:00:00Z"
GPU_LABELS = ("karpenter.k8s.aws/instance-gpu-count", "karpenter.k8s.aws/instance-accelerator-count")


def at(text: str) -> datetime:
    """An instant, e.g. `at("2026-10-17T02:10:00Z")`."""
    return datetime.fromisoformat(text).astimezone(UTC)


NOW = at("2026-10-17T02:10:00Z")
"""A Saturday, ten minutes into the window."""


# --- budgets ---------------------------------------------------------------------------------------


def budget(nodes: str = "0", *reasons: str, schedule: str | None = None, duration: str | None = None) -> Budget:
    """`budget("0", "Drifted")`; without reasons it applies to every reason."""
    return Budget(nodes=nodes, reasons=reasons or None, schedule=schedule, duration=duration)


GATE = (Budget(nodes="10%", reasons=("Empty", "Underutilized")), Budget(nodes="0", reasons=("Drifted",)))


# --- Kubernetes objects ----------------------------------------------------------------------------


def nodepool(name: str = "app", **fields: Any) -> NodePoolSnapshot:
    pool = NodePoolSnapshot(
        name=name,
        resource_version="1000",
        annotations={},
        budgets=GATE,
        consolidate_after="5m",
        node_class=NodeClassRef(group="karpenter.k8s.aws", kind="EC2NodeClass", name="std"),
        requirements=(Requirement(key="kubernetes.io/arch", operator="In", values=("amd64",)),),
        expire_after="Never",
    )
    return replace(pool, **fields)


def resolved_image(id: str = NEW_IMAGE, name: str = NEW_NAME, arch: str = "amd64", **fields: Any) -> ResolvedImage:
    image = ResolvedImage(
        id=id,
        name=name,
        requirements=(
            Requirement(key="kubernetes.io/arch", operator="In", values=(arch,)),
            *(Requirement(key=key, operator="DoesNotExist") for key in GPU_LABELS),
        ),
    )
    return replace(image, **fields)


def node_class(name: str = "std", **fields: Any) -> NodeClassSnapshot:
    return replace(
        NodeClassSnapshot(
            group="karpenter.k8s.aws",
            kind="EC2NodeClass",
            name=name,
            images=(resolved_image(),),
            terms=(ImageTerm(alias="al2023@latest"),),
            conditions={"AMIsReady": Condition(status="True"), "Ready": Condition(status="True")},
        ),
        **fields,
    )


def condition(status: str = "True", reason: str = "", since: str | None = None) -> Condition:
    return Condition(status=status, reason=reason, message=reason, since=None if since is None else at(since))


def nodeclaim(
    node: str = "a1",
    pool: str = "app",
    *,
    drifted: str | None = None,
    drift_reason: str = "AMIDrift",
    taken: str | None = None,
    **fields: Any,
) -> NodeClaimSnapshot:
    """The claim of a Node; `drifted` since when, `taken` the DisruptionReason if Karpenter takes it."""
    conditions = {kind: condition() for kind in ("Launched", "Registered", "Initialized")}
    if drifted is not None:
        conditions["Drifted"] = condition(reason=drift_reason, since=drifted)
    if taken is not None:
        conditions["DisruptionReason"] = condition(reason=taken)
    claim = NodeClaimSnapshot(
        name=f"{pool}-{node}",
        nodepool=pool,
        labels={
            "karpenter.sh/nodepool": pool,
            "node.kubernetes.io/instance-type": "m7i.xlarge",
            "kubernetes.io/arch": "amd64",
        },
        created_at=at("2026-09-02T08:00:00Z"),
        image_id=NEW_IMAGE if drifted is None else OLD_IMAGE,
        provider_id=f"aws:///eu-central-1a/i-{node}",
        node_name=node,
        conditions=conditions,
    )
    return replace(claim, **fields)


def node(name: str = "a1", pool: str = "app", *, ready: bool = True, **fields: Any) -> NodeSnapshot:
    found = NodeSnapshot(
        name=name,
        provider_id=f"aws:///eu-central-1a/i-{name}",
        labels={"karpenter.sh/nodepool": pool, "karpenter.sh/initialized": "true"},
        created_at=at("2026-09-02T08:01:00Z"),
        ready=condition("True" if ready else "False"),
        kubelet_version="v1.34.2-eks-ecaa3a6",
    )
    return replace(found, **fields)


def pair(
    name: str = "a1", pool: str = "app", *, drifted: str | None = None, ready: bool = True
) -> tuple[NodeClaimSnapshot, NodeSnapshot]:
    """A NodeClaim and its Node; with `drifted` on the old image, else on the new one."""
    return nodeclaim(name, pool, drifted=drifted), node(name, pool, ready=ready)


def pod(name: str = "web-0", node: str = "a1", namespace: str = "shop", **fields: Any) -> PodSnapshot:
    """A running pod of a ReplicaSet, labelled `app=<name without its number>`."""
    app = name.rsplit("-", 1)[0]
    found = PodSnapshot(
        namespace=namespace,
        name=name,
        node_name=node,
        labels={"app": app},
        phase="Running",
        owner_kind="ReplicaSet",
        owner_name=f"{app}-5d4f",
        started_at=at("2026-10-01T00:00:00Z"),
    )
    return replace(found, **fields)


def daemon_pod(name: str = "proxy-0", node: str = "a1", **fields: Any) -> PodSnapshot:
    return pod(name, node, "kube-system", owner_kind="DaemonSet", owner_name="proxy", **fields)


def pdb(app: str = "web", namespace: str = "shop", **fields: Any) -> PodDisruptionBudgetSnapshot:
    """A PDB on `app=<app>` that allows one disruption."""
    found = PodDisruptionBudgetSnapshot(
        namespace=namespace,
        name=app,
        selector=(SelectorTerm(key="app", operator="In", values=(app,)),),
        max_unavailable="1",
        disruptions_allowed=1,
    )
    return replace(found, **fields)


def volume_attachment(name: str = "csi-1", node: str = "a1", **fields: Any) -> VolumeAttachmentSnapshot:
    return replace(VolumeAttachmentSnapshot(name=name, node_name=node, attached=True), **fields)


# --- what is not in the cluster --------------------------------------------------------------------


def alarm(name: str = "demo-5xx", state: str = "OK", **fields: Any) -> AlarmObservation:
    return replace(AlarmObservation(name=name, state=state, since=at("2026-10-01T00:00:00Z"), history=()), **fields)


def calendar(name: str = "change-calendar", state: str = "OPEN", **fields: Any) -> CalendarObservation:
    return replace(CalendarObservation(name=name, state=state), **fields)


def image(id: str = NEW_IMAGE, name: str = NEW_NAME, created: str = "2026-09-24T10:00:00Z") -> ImageObservation:
    return ImageObservation(id=id, name=name, created_at=at(created))


def parameter(name: str, value: str = NEW_IMAGE, **fields: Any) -> ParameterObservation:
    return replace(ParameterObservation(name=name, value=value, version=1), **fields)


# --- ledger records --------------------------------------------------------------------------------


def roll(state: RollState = RollState.OPENED, **fields: Any) -> Roll:
    """An opened roll of pool `app` at NOW, its guard one minute ahead."""
    found = Roll(
        id="20261017T021000Z-app",
        cluster="demo",
        pool="app",
        state=state,
        state_since=NOW,
        window_key="app/sat/2026-10-17T02:00:00Z",
        baseline=GATE,
        opened=(
            GATE[0],
            Budget(nodes="01", reasons=("Drifted",)),
            Budget(nodes="00", reasons=("Drifted",), schedule="11 2 17 10 *", duration="8736h"),
        ),
        revert_by=NOW + timedelta(minutes=10),
        image=NEW_IMAGE,
        generation=1,
        opened_at=NOW,
        guard_at=NOW + timedelta(minutes=1),
        beat_at=NOW,
        holder="worker-1",
    )
    return replace(found, **fields)


def live_roll(**fields: Any) -> LiveRoll:
    """The annotation that belongs to `roll()`: the same opening as it stands on the NodePool."""
    opened = roll()
    found = LiveRoll(
        deployment="driftgate",
        id=opened.id,
        opened_at=NOW,
        guard_at=NOW + timedelta(minutes=1),
        revert_by=NOW + timedelta(minutes=10),
        baseline=opened.baseline,
        opened=opened.opened,
        window_key=opened.window_key,
        count=1,
    )
    return replace(found, **fields)


def stop(cause: StopCause = StopCause.PAUSE, ref: str = "ada", **fields: Any) -> Stop:
    return replace(Stop(cause=cause, ref=ref, cluster="demo", at=NOW), **fields)


def lease(holder: str = "worker-1", **fields: Any) -> LeaseRecord:
    found = LeaseRecord(cluster="demo", holder=holder, token=1, acquired_at=NOW, expires_at=NOW + timedelta(minutes=2))
    return replace(found, **fields)


def counter(window_key: str = "app/sat/2026-10-17T02:00:00Z", **fields: Any) -> CounterRecord:
    return replace(CounterRecord(window_key=window_key), **fields)


def image_verdict(image: str = NEW_IMAGE, verdict: Approval = Approval.SUSPECT, **fields: Any) -> ImageVerdict:
    return replace(ImageVerdict(image=image, verdict=verdict, at=NOW), **fields)


# --- policy ----------------------------------------------------------------------------------------

SATURDAY = MaintenanceWindow(name="sat", timezone="UTC", cron="0 2 * * sat", duration=timedelta(hours=3))


def interval(start: str, end: str, name: str = "") -> Interval:
    return Interval(start=at(start), end=at(end), name=name)


def blackout(start: str, end: str | None, name: str = "sale") -> Blackout:
    return Blackout(name=name, start=at(start), end=None if end is None else at(end))


def pool_policy(**fields: Any) -> PoolPolicy:
    """The configuration of the common case: acts on Saturdays 02-05 UTC, guarded by one alarm."""
    policy = PoolPolicy(
        mode=Mode.ACT,
        windows=(SATURDAY,),
        open=OpenPolicy(open_timeout=timedelta(minutes=20)),
        guards=GuardPolicy(alarms=(AlarmGuard(name="demo-5xx"),)),
        ami=ImagePolicy(),
    )
    return replace(policy, **fields)


def cluster_policy(*pools: str, policy: PoolPolicy | None = None, **fields: Any) -> ClusterPolicy:
    """Cluster `demo` with the named pools (every pool if none is named), all with the same policy."""
    chosen = policy or pool_policy()
    named = tuple((name, chosen) for name in pools) or None
    return replace(ClusterPolicy(cluster="demo", default=chosen, pools=named), **fields)


# --- the whole -------------------------------------------------------------------------------------


def observation(pairs: Iterable[tuple[NodeClaimSnapshot, NodeSnapshot]] = (), **fields: Any) -> Observation:
    """Cluster at NOW with pool `app`; one ordinary pod per node unless `pods` says otherwise."""
    members = tuple(pairs)
    found = Observation(
        at=NOW,
        karpenter_version="1.14.1",
        nodepools=(nodepool(),),
        node_classes=(node_class(),),
        nodeclaims=tuple(claim for claim, _ in members),
        nodes=tuple(node for _, node in members),
        pods=tuple(pod(f"job-{index}", node=node.name) for index, (_, node) in enumerate(members)),
        alarms=(alarm(),),
        calendars=(),
        parameters=(),
        images=(image(), image(OLD_IMAGE, OLD_NAME, "2026-09-02T10:00:00Z")),
        rolls=(),
        leases=(),
        stops=(),
        counters=(),
        image_verdicts=(),
    )
    return replace(found, **fields)
