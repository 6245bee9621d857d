"""What AWS and our own history know of a cluster's images, in the cluster's own region and account."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from driftgate.app.reader import Reader
from driftgate.app.sources import Sources
from driftgate.contract import seen_prefix
from driftgate.domain.image_parameters import is_public, parameters_in_use
from driftgate.domain.location import Location
from driftgate.domain.mirror import mirror_tail
from driftgate.domain.observation import ImageObservation, Observation, ParameterObservation, ReadError
from driftgate.domain.policy import ClusterPolicy
from driftgate.domain.seen_images import Key, SeenParameter


def with_images(reader: Reader, sources: Sources, policy: ClusterPolicy, seen: Observation) -> Observation:
    """The observation with the images in it described, and with the parameters that its node classes follow.

    Parameters are those that were read, and each image that one of them named before, under the name of our mirror,
    oldest first. An image that EC2 no longer knows is told from that history.
    """
    names = parameters_in_use(seen.node_classes, (node.kubelet_version for node in seen.nodes))
    history = _history(reader, sources, policy.location, names)
    return replace(
        seen,
        images=_images(reader, sources, policy.location, seen, history),
        parameters=_parameters(reader, sources, policy, names, history),
    )


def _history(reader: Reader, sources: Sources, at: Location, names: Iterable[str]) -> Mapping[Key, SeenParameter]:
    """Nothing where nobody knows in which region the cluster is: our own records are kept by it."""
    keys = [(at.region, "" if is_public(name) else at.account, name) for name in names]
    if not keys or not at.region:
        return {}
    return reader.read("parameters", lambda: sources.history.load(keys), {})


def _images(
    reader: Reader, sources: Sources, at: Location, seen: Observation, history: Mapping[Key, SeenParameter]
) -> tuple[ImageObservation, ...] | None:
    ids = _image_ids(seen)
    found = reader.read("images", lambda: sources.images.describe(ids, at) if ids else (), None)
    known = {image.id for image in found or ()}
    remembered = {
        image.image: ImageObservation(
            id=image.image, name=image.name, created_at=image.created_at, deprecated_at=image.deprecated_at
        )
        for parameter in history.values()
        for image in parameter.images
        if image.is_described and image.image not in known
    }
    return None if found is None and not remembered else (*(found or ()), *remembered.values())


def _image_ids(seen: Observation) -> tuple[str, ...]:
    chosen = {image.id for node_class in seen.node_classes for image in node_class.images or ()}
    return tuple(sorted(chosen | {claim.image_id for claim in seen.nodeclaims if claim.image_id.startswith("ami-")}))


def _parameters(
    reader: Reader,
    sources: Sources,
    policy: ClusterPolicy,
    names: tuple[str, ...],
    history: Mapping[Key, SeenParameter],
) -> tuple[ParameterObservation, ...] | None:
    public = [name for name in names if is_public(name)]
    custom = [name for name in names if not is_public(name)]
    read = [
        _read(reader, sources, asked, at)
        for asked, at in ((public, Location(policy.location.region)), (custom, policy.location))
        if asked
    ]
    found = tuple(parameter for part in read for parameter in part or ())
    mirrored = tuple(entry for parameter in history.values() for entry in _versions(policy.deployment, parameter))
    return None if None in read and not found and not mirrored else (*found, *mirrored)


def _read(reader: Reader, sources: Sources, names: list[str], at: Location) -> tuple[ParameterObservation, ...] | None:
    answer = reader.read("parameters", lambda: sources.parameters.read(names, at), None)
    if answer is None:
        return None
    reader.errors += [
        ReadError(resource="parameters", status=403, message=why, name=name) for name, why in answer.refused.items()
    ]
    return answer.found


def _versions(deployment: str, seen: SeenParameter) -> Iterable[ParameterObservation]:
    name = seen_prefix(deployment) + mirror_tail(seen.region, seen.name, seen.account)
    return (ParameterObservation(name=name, value=image.image, modified_at=image.since) for image in seen.images)
