"""What happens to an object on its way into the store, whoever writes it: a client or the model of Karpenter.

Identity, generation, resourceVersion, managed fields, defaults and validation, finalizers.
"""

from __future__ import annotations

import random
import uuid
from collections.abc import Callable

from driftgate.domain.jsonvalue import child, text
from driftgate.sim.clock import SimClock
from driftgate.sim.fields import track, track_new
from driftgate.sim.jsonpatch import same
from driftgate.sim.kinds import Kind
from driftgate.sim.objects import JsonDict, copy_of, is_deleting, k8s_time, name_of, namespace_of, section
from driftgate.sim.schema import admit
from driftgate.sim.status import already_exists, conflict, not_found
from driftgate.sim.store import Store, Stored, key_of

_KEPT = ("uid", "creationTimestamp", "generation", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink")
CONTROLLER = "karpenter"
Edit = Callable[[JsonDict], None]
_LETTERS = "bcdfghjklmnpqrstvwxz2456789"


class Writes:
    """Writes of every kind. Names and uids come from a seeded generator, so that a run can be repeated."""

    def __init__(self, store: Store, clock: SimClock, seed: int = 1) -> None:
        self.store = store
        self.clock = clock
        self._random = random.Random(seed)

    def create(self, kind: Kind, given: JsonDict, manager: str, *, dry_run: bool = False) -> Stored:
        """The object as stored. A status behind a subresource is dropped, as by the server."""
        if kind.custom:
            given = {key: value for key, value in given.items() if key != "status"}
        return self.load(kind, given, manager, dry_run=dry_run)

    def load(self, kind: Kind, given: JsonDict, manager: str, *, dry_run: bool = False) -> Stored:
        """As `create`, but the status is kept: for building a cluster."""
        obj: JsonDict = {"apiVersion": kind.api_version, "kind": kind.kind} | copy_of(given)
        metadata = section(obj, "metadata")
        if not metadata.get("name"):
            metadata["name"] = f"{metadata.get('generateName', '')}{self._suffix()}"
        admit(kind, None, obj)
        with self.store.lock:
            if self.store.get(kind, key_of(name_of(obj), namespace_of(obj))) is not None:
                raise already_exists(kind, name_of(obj))
            metadata["uid"] = str(uuid.UUID(int=self._random.getrandbits(128), version=4))
            metadata.setdefault("creationTimestamp", k8s_time(self.clock.now()))
            if kind.generations:
                metadata.setdefault("generation", 1)
            track_new(kind, obj, manager, CONTROLLER if kind.custom else manager, self.clock.now())
            return self._store(kind, obj, manager, dry_run=dry_run)

    def replace(
        self, kind: Kind, key: str, given: JsonDict, manager: str, *, subresource: str = "", dry_run: bool = False
    ) -> tuple[Stored, list[str]]:
        """The object as stored, and the names of dropped fields; one that changes nothing is not written.

        Raises ApiError: 404; 409 where `given` carries another resourceVersion; 422 from validation.
        """
        with self.store.lock:
            before = self._existing(kind, key)
            after = self._merged(kind, before.obj, copy_of(given), subresource)
            version = text(child(given, "metadata").get("resourceVersion"))
            if version and version != str(before.version):
                raise conflict(kind, before.name)
            dropped = admit(kind, before.obj, after)
            return self._replaced(before, after, manager, subresource, dry_run=dry_run), dropped

    def change(self, kind: Kind, key: str, edit: Edit, manager: str, *, subresource: str = "") -> Stored | None:
        """Applies the edit to a copy and stores it; None where the object is gone."""
        with self.store.lock:
            before = self.store.get(kind, key)
            if before is None:
                return None
            after = copy_of(before.obj)
            edit(after)
            return self._replaced(before, after, manager, subresource, dry_run=False)

    def delete(self, kind: Kind, key: str, manager: str) -> Stored | None:
        """Marks the object for deletion, or takes it away where no finalizer holds it (then None)."""
        with self.store.lock:
            before = self._existing(kind, key)
            after = copy_of(before.obj)
            metadata = section(after, "metadata")
            if not metadata.get("finalizers"):
                self._remove(kind, after, manager)
                return None
            if is_deleting(before.obj):
                return before
            metadata["deletionTimestamp"] = k8s_time(self.clock.now())
            metadata["deletionGracePeriodSeconds"] = 0
            if kind.generations:
                metadata["generation"] = _generation(before.obj) + 1
            return self._store(kind, after, manager, dry_run=False)

    def _existing(self, kind: Kind, key: str) -> Stored:
        found = self.store.get(kind, key)
        if found is None:
            raise not_found(kind, key.rpartition("/")[2])
        return found

    def _merged(self, kind: Kind, before: JsonDict, given: JsonDict, subresource: str) -> JsonDict:
        """The part that this request may write, over the rest of what is stored."""
        if subresource == "status":
            return copy_of(before) | ({"status": given["status"]} if "status" in given else {})
        old, new = child(before, "metadata"), section(given, "metadata")
        new.update({key: old[key] for key in _KEPT if key in old})
        new["managedFields"] = copy_of(old.get("managedFields", []))
        given |= {"apiVersion": kind.api_version, "kind": kind.kind}
        if kind.custom:
            given.pop("status", None)
            given |= {"status": copy_of(before["status"])} if "status" in before else {}
        return given

    def _replaced(self, before: Stored, after: JsonDict, manager: str, subresource: str, *, dry_run: bool) -> Stored:
        kind = before.kind
        section(after, "metadata")["resourceVersion"] = str(before.version)
        if kind.generations and not same(_specified(before.obj), _specified(after)):
            section(after, "metadata")["generation"] = _generation(before.obj) + 1
        if same(before.obj, after):
            return before
        track(kind, before.obj, after, manager, subresource, self.clock.now())
        was_held, is_held = (child(obj, "metadata").get("finalizers") for obj in (before.obj, after))
        if not dry_run and is_deleting(after) and was_held and not is_held:
            return self._remove(kind, after, manager)
        return self._store(kind, after, manager, dry_run=dry_run)

    def _store(self, kind: Kind, obj: JsonDict, manager: str, *, dry_run: bool) -> Stored:
        if dry_run:
            version = text(child(obj, "metadata").get("resourceVersion"))
            return Stored(kind, obj, int(version or 0))
        version_now = self.store.next_version()
        section(obj, "metadata")["resourceVersion"] = str(version_now)
        return self.store.put(Stored(kind, obj, version_now), self.clock.now(), manager)

    def _remove(self, kind: Kind, last: JsonDict, manager: str) -> Stored:
        version = self.store.next_version()
        section(last, "metadata")["resourceVersion"] = str(version)
        gone = Stored(kind, last, version)
        self.store.remove(gone, self.clock.now(), manager)
        return gone

    def _suffix(self) -> str:
        return "".join(self._random.choices(_LETTERS, k=5))


def _specified(obj: JsonDict) -> JsonDict:
    """Everything that a generation counts: all but metadata and status."""
    return {key: value for key, value in obj.items() if key not in ("metadata", "status")}


def _generation(obj: JsonDict) -> int:
    found = child(obj, "metadata").get("generation")
    return found if isinstance(found, int) else 1
