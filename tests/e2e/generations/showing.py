"""What a node shows on its way out, and when: the signs that driftgate must not miss on any generation."""

import threading
from collections import defaultdict
from collections.abc import Mapping
from datetime import UTC, datetime

from tests.e2e.harness.api import Api, Object
from tests.e2e.harness.scenario import has_condition
from tests.e2e.sightings import Onlooker

NODES = "/api/v1/nodes"
TAINT, REASON, DELETION, GONE = "taint", "DisruptionReason", "deletion", "gone"


class Showing(Onlooker):
    """An onlooker that also keeps what each node showed first, at which moment."""

    def __init__(self, api: Api) -> None:
        super().__init__(api)
        self._shown: dict[str, dict[str, datetime]] = defaultdict(dict)
        self._threads.append(threading.Thread(target=self._follow, args=(NODES, self._see_node), daemon=True))

    def of(self, node: str) -> Mapping[str, datetime]:
        """Every sign that the node gave, the earliest first."""
        return dict(sorted(self._shown[node].items(), key=lambda sign: sign[1]))

    def first_sign_at(self, node: str) -> datetime:
        """When somebody who watches everything could first know. Raises StopIteration for a node that stays."""
        return next(iter(self.of(node).values()))

    def _see_claim(self, claim: Object, *, deleted: bool) -> None:
        super()._see_claim(claim, deleted=deleted)
        node = claim.get("status", {}).get("nodeName", "")
        self._keep(node, REASON, shows=has_condition(claim, "DisruptionReason"))
        self._keep(node, DELETION, shows="deletionTimestamp" in claim["metadata"])
        self._keep(node, GONE, shows=deleted)

    def _see_node(self, node: Object, *, deleted: bool) -> None:
        taints = node["spec"].get("taints", [])
        tainted = any(taint["key"] == "karpenter.sh/disrupted" for taint in taints)
        self._keep(node["metadata"]["name"], TAINT, shows=tainted)

    def _keep(self, node: str, sign: str, *, shows: bool) -> None:
        if shows:
            self._shown[node].setdefault(sign, datetime.now(UTC))
