"""Which drifted node Karpenter takes next, and what keeps the others.

Source: sigs.k8s.io/karpenter v1.14.1, pkg/controllers/disruption/drift.go (order), types.go (NewCandidate) and
pkg/controllers/state/statenode.go (ValidateNodeDisruptable). Whether the pods fit elsewhere takes Karpenter's
scheduler and is not imitated here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from driftgate.domain.duration import parse_duration
from driftgate.domain.errors import InvalidInputError
from driftgate.domain.jsonvalue import rfc3339
from driftgate.domain.karpenter_version import parse_version, skips_empty_nodes
from driftgate.domain.members import Member
from driftgate.domain.nodes import (
    DO_NOT_DISRUPT,
    DO_NOT_DRIFT,
    DO_NOT_ROLL,
    NodeClaimSnapshot,
    VolumeAttachmentSnapshot,
)
from driftgate.domain.observation import Observation
from driftgate.domain.plan import BlockedNode, Hold
from driftgate.domain.pod_blocks import PodIndex
from driftgate.domain.reasons import ReasonCode

DETACH_PATIENCE = timedelta(minutes=6)
"""After this time Kubernetes itself gives up waiting for a volume's unmount and forces the detach."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A drifted node as Karpenter sees it.

    `blockers` keep Karpenter from taking it. `overridden` would, but for the NodeClaim's terminationGracePeriod:
    drift then evicts those pods by force. `unwanted` are annotations that Karpenter does not know and we obey.
    `notes` change nothing, but a person should know.
    """

    member: Member
    is_empty: bool
    blockers: tuple[Hold, ...] = ()
    overridden: tuple[Hold, ...] = ()
    unwanted: tuple[Hold, ...] = ()
    notes: tuple[Hold, ...] = ()

    @property
    def name(self) -> str:
        return self.member.name

    @property
    def is_eligible(self) -> bool:
        """Whether Karpenter may take it as soon as the budgets allow one."""
        return not self.blockers

    @property
    def would_force(self) -> tuple[Hold, ...]:
        """Pods that ask not to be disrupted and would be, because of the terminationGracePeriod."""
        return tuple(hold for hold in self.overridden if hold.code is ReasonCode.POD_DO_NOT_DISRUPT)


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateFacts:
    """What beside the node itself decides: its pods, volumes, Karpenter's version, and how far we look ahead.

    `expires_by`: nodes that expire until then go without any budget; None asks nothing about expiry.
    """

    at: datetime
    pods: PodIndex
    skips_empty: bool = False
    volumes: Mapping[str, Sequence[VolumeAttachmentSnapshot]] = field(default_factory=dict)
    expires_by: datetime | None = None


def facts_for(observation: Observation, members: Iterable[Member], expires_by: datetime | None) -> CandidateFacts:
    """The facts for the drifted ones among these members, indexed once."""
    version = parse_version(observation.karpenter_version)
    names = [member.name for member in members if member.is_drifted]
    volumes: dict[str, list[VolumeAttachmentSnapshot]] = {}
    for volume in observation.volume_attachments:
        volumes.setdefault(volume.node_name, []).append(volume)
    pods = PodIndex(observation.pods, observation.pdbs, names, at=observation.at, version=version)
    return CandidateFacts(
        at=observation.at,
        pods=pods,
        skips_empty=skips_empty_nodes(version),
        volumes=volumes,
        expires_by=expires_by,
    )


def candidates(members: Iterable[Member], facts: CandidateFacts) -> tuple[Candidate, ...]:
    """The drifted ones of one pool or several, in Karpenter's order: empty first, then drifted longest, then name.

    Karpenter's own order among equal times is not fixed; by name is ours.
    """
    found = (_candidate(member, facts) for member in members if member.is_drifted)
    return tuple(sorted(found, key=_rank))


def eligible(found: Iterable[Candidate]) -> tuple[str, ...]:
    """The names that Karpenter may take, in the given order."""
    return tuple(candidate.name for candidate in found if candidate.is_eligible)


def next_candidate(found: Iterable[Candidate]) -> Candidate | None:
    """The one that Karpenter takes next if the budgets allow one; None where all are kept."""
    return next((candidate for candidate in found if candidate.is_eligible), None)


def may_go_first(found: Iterable[Candidate], *, is_static: bool) -> tuple[Candidate, ...]:
    """Every one that Karpenter may take next: those that drifted in the same second, in a static pool any.

    Source: sigs.k8s.io/karpenter v1.14.1, pkg/controllers/disruption/drift.go (an unstable sort of whole seconds, of
    nodes in no order) and staticdrift.go (which does not sort).
    """
    standing = tuple(candidate for candidate in found if candidate.is_eligible)
    if is_static:
        return standing
    return tuple(candidate for candidate in standing if _rank(candidate)[:2] == _rank(standing[0])[:2])


def blocked(found: Iterable[Candidate]) -> tuple[BlockedNode, ...]:
    """Every node with something to say about it, by name: blockers, then our own wishes, then notes."""
    spoken = (c for c in found if c.blockers or c.unwanted or c.notes)
    lines = (BlockedNode(node=c.name, reasons=(*c.blockers, *c.unwanted, *c.notes)) for c in spoken)
    return tuple(sorted(lines, key=lambda line: line.node))


def expires_at(claim: NodeClaimSnapshot) -> datetime | None:
    """When Karpenter ends the node without asking any budget; None for Never or where it is not known."""
    if claim.created_at is None or claim.expire_after in (None, "Never"):
        return None
    try:
        return claim.created_at + parse_duration(claim.expire_after or "")
    except InvalidInputError:
        return None


def _rank(candidate: Candidate) -> tuple[bool, datetime, str]:
    return not candidate.is_empty, candidate.member.drifted_since or _EARLIEST, candidate.name


_EARLIEST = datetime.min.replace(tzinfo=UTC)


def _candidate(member: Member, facts: CandidateFacts) -> Candidate:
    name = member.name
    is_empty, pod_blocks = facts.pods.is_empty(name), facts.pods.blocks(name)
    kept = tuple(_node_blocks(member, facts)) if _has_node_blocks(member, facts) else ()
    if is_empty and facts.skips_empty:
        kept = (*kept, _skipped_as_empty(member))
    is_forced = member.claim.termination_grace_period is not None
    return Candidate(
        member=member,
        is_empty=is_empty,
        blockers=kept if is_forced else (*kept, *pod_blocks),
        overridden=pod_blocks if is_forced else (),
        unwanted=_unwanted(member),
        notes=_expiry(member, facts.expires_by) + (_stuck_volumes(member, facts) if name in facts.volumes else ()),
    )


def _has_node_blocks(member: Member, facts: CandidateFacts) -> bool:
    """Whether there may be anything to say of the node itself: of thousands there mostly is not."""
    node = member.node
    if node is None or not member.is_initialized or member.is_marked or member.is_terminating:
        return True
    return node.deleted_at is not None or bool(node.annotations) or bool(facts.pods.nominated(member.name))


def _node_blocks(member: Member, facts: CandidateFacts) -> Iterator[Hold]:
    node = member.node
    if node is None or not member.is_initialized:
        lacks = "has no Node yet" if node is None else "is not initialized"
        yield Hold(code=ReasonCode.NOT_INITIALIZED, objects=member.objects, message=f"{member.name} {lacks}.")
        return
    if member.is_marked or member.is_terminating or node.deleted_at is not None:
        yield Hold(
            code=ReasonCode.DELETING, objects=member.objects, message=f"{member.name} is on its way out already."
        )
    if nominated := facts.pods.nominated(member.name):
        keys = sorted(pod.key for pod in nominated)
        yield Hold(
            code=ReasonCode.NOMINATED,
            objects=tuple(f"pod/{key}" for key in keys),
            message=f"{member.name} is promised to {', '.join(keys)}, still pending.",
        )
    if node.annotations.get(DO_NOT_DISRUPT) == "true":
        yield Hold(
            code=ReasonCode.NODE_DO_NOT_DISRUPT,
            objects=(f"node/{node.name}",),
            message=f"{node.name} has {DO_NOT_DISRUPT}: Karpenter takes it for no voluntary reason.",
        )


def _skipped_as_empty(member: Member) -> Hold:
    return Hold(
        code=ReasonCode.VERSION_SKIPS_EMPTY,
        objects=member.objects,
        message=f"{member.name} is empty, and this version of Karpenter never takes an empty node for drift.",
    )


def _unwanted(member: Member) -> tuple[Hold, ...]:
    claim, node = member.claim, member.node
    of_node = _wishes(f"node/{node.name}", node.annotations) if node is not None and node.annotations else ()
    of_claim = _wishes(f"nodeclaim/{claim.name}", claim.annotations) if claim.annotations else ()
    return (*of_node, *of_claim)


def _wishes(place: str, written: Mapping[str, str]) -> tuple[Hold, ...]:
    return tuple(
        Hold(
            code=ReasonCode.DO_NOT_DRIFT,
            objects=(place,),
            message=f"{place} has {key}, which Karpenter does not know: while it may be next, the gate stays shut.",
        )
        for key in (DO_NOT_DRIFT, DO_NOT_ROLL)
        if written.get(key, "false") != "false"
    )


def _expiry(member: Member, by: datetime | None) -> tuple[Hold, ...]:
    ends = None if by is None else expires_at(member.claim)
    if by is None or ends is None or ends > by:
        return ()
    message = f"{member.name} expires at {rfc3339(ends)} and then goes without any budget."
    return (Hold(code=ReasonCode.EXPIRES_FIRST, objects=member.objects, message=message, until=ends),)


def _stuck_volumes(member: Member, facts: CandidateFacts) -> tuple[Hold, ...]:
    return tuple(
        Hold(
            code=ReasonCode.VOLUME_STUCK,
            objects=(f"volumeattachment/{volume.name}", f"node/{member.name}"),
            message=f"{volume.name} {stuck}",
        )
        for volume in facts.volumes[member.name]
        if (stuck := _stuck(volume, facts.at))
    )


def _stuck(volume: VolumeAttachmentSnapshot, at: datetime) -> str:
    """How the volume is stuck, as the end of a sentence; "" where it is not."""
    if volume.deleted_at is None:
        return ""
    if volume.error:
        return f"does not detach: {volume.error}"
    waited = at - volume.deleted_at
    return f"has been detaching since {rfc3339(volume.deleted_at)}." if waited > DETACH_PATIENCE else ""
