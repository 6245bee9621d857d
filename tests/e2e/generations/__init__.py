"""The same scenarios on one Karpenter after the other, from before `DisruptionReason` to the newest.

`make e2e-matrix` runs them and writes what was seen into `docs/compatibility.md`. `world.py` sets up one generation,
`showing.py` looks on, `test_generations.py` has the scenarios, `findings.py` gathers them, `page.py` writes them down.
"""
