"""Our port of Karpenter's budget rules against Karpenter's own code; `make oracle` asks ten times as much."""

from itertools import islice
from random import SystemRandom

from tests.e2e.harness.fixtures import require
from tests.e2e.oracle import MOST_SHOWN, disagreements

LISTS = 100_000


def test_the_port_agrees_with_karpenter_on_random_budget_lists():
    require("oracle")
    seed = SystemRandom().randrange(2**32)

    found = [str(disagreement) for disagreement in islice(disagreements(LISTS, seed), MOST_SHOWN)]

    assert not found, f"seed {seed}:\n" + "\n".join(found)
