"""Reads everything one decision needs, once; what cannot be read is named, never guessed.

The order matters: the ledger first (an alarm's stop that is written later must not look lifted by an older reading
of that alarm), then the alarms, then the cluster.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from driftgate.app.observe_images import with_images
from driftgate.app.reader import Reader
from driftgate.app.sources import Sources
from driftgate.domain.observation import Observation
from driftgate.domain.policy import ClusterPolicy
from driftgate.ports import Cluster, LedgerState

POD_LISTS_BY_NODE = 20
"""Up to so many drifted nodes are asked for their pods one by one; beyond, all pods are listed by page."""


def observe(sources: Sources, policy: ClusterPolicy, ledger: LedgerState | None, now: datetime) -> Observation:
    """One cluster at one moment. `ledger` was loaded before; None: there is none to read."""
    reader = Reader()
    empty = with_ledger(Observation(at=now), ledger)
    seen = _cluster(reader, sources.cluster, _guards(reader, sources, policy, empty))
    whole = _details(reader, sources, with_images(reader, sources, policy, seen))
    return replace(whole, errors=tuple(reader.errors))


def with_ledger(observation: Observation, ledger: LedgerState | None) -> Observation:
    """The observation with what the ledger knows."""
    if ledger is None:
        return observation
    return replace(
        observation,
        rolls=ledger.rolls,
        leases=() if ledger.lease is None else (ledger.lease,),
        stops=ledger.stops,
        counters=ledger.counters,
        image_verdicts=ledger.image_verdicts,
    )


def _guards(reader: Reader, sources: Sources, policy: ClusterPolicy, seen: Observation) -> Observation:
    guards = tuple({guard.name: guard for p in policy.policies() for guard in p.guards.alarms or ()}.values())
    names = tuple(sorted({name for p in policy.policies() for name in p.guards.calendars}))
    since = seen.at - max(p.guards.flapping_within for p in policy.policies())
    alarms = reader.read("alarms", lambda: sources.alarms.read(guards, since) if guards else None, None)
    calendars = reader.read("calendars", lambda: sources.calendars.read(names) if names else None, None)
    return replace(seen, alarms=alarms, calendars=calendars)


def _cluster(reader: Reader, cluster: Cluster, seen: Observation) -> Observation:
    return replace(
        seen,
        nodepools=reader.read("nodepools", cluster.list_nodepools, ()),
        node_classes=reader.read("nodeclasses", cluster.list_node_classes, ()),
        nodeclaims=reader.read("nodeclaims", cluster.list_nodeclaims, ()),
        nodes=reader.read("nodes", cluster.list_nodes, ()),
        karpenter_version=reader.read("karpenter", cluster.karpenter_version, None),
    )


def _details(reader: Reader, sources: Sources, seen: Observation) -> Observation:
    """What only drifted nodes need: their pods, budgets and volumes."""
    drifted = [claim.node_name for claim in seen.nodeclaims if claim.is_drifted and claim.node_name]
    if not drifted:
        return seen
    wanted = drifted if len(drifted) <= POD_LISTS_BY_NODE else None
    return replace(
        seen,
        pods=reader.read("pods", lambda: sources.cluster.list_pods(wanted), ()),
        pdbs=reader.read("poddisruptionbudgets", sources.cluster.list_pdbs, ()),
        volume_attachments=reader.read("volumeattachments", sources.cluster.list_volume_attachments, ()),
    )
