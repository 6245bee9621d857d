"""Which entries of an edited budget list are the ones that stood in the list before the edit.

Entries have no names, so only their content and their order can tell. Must not know what an entry means.
"""

from __future__ import annotations

from collections.abc import Sequence

from driftgate.domain.budget import Budget


def aligned(before: Sequence[Budget], after: Sequence[Budget]) -> dict[int, int]:
    """For each entry of `after` that stood in `before`, its index there: a longest common subsequence.

    Equal entries are told apart by their neighbours, so that a person's own entry is not taken for its twin.
    """
    lengths = _common_lengths(before, after)
    found: dict[int, int] = {}
    i = j = 0
    while i < len(before) and j < len(after):
        if before[i] == after[j]:
            found[j] = i
            i, j = i + 1, j + 1
        elif lengths[i + 1][j] >= lengths[i][j + 1]:
            i += 1
        else:
            j += 1
    return found


def _common_lengths(before: Sequence[Budget], after: Sequence[Budget]) -> list[list[int]]:
    """The length of the longest common subsequence of the two rests, for each pair of positions."""
    lengths = [[0] * (len(after) + 1) for _ in range(len(before) + 1)]
    for i in reversed(range(len(before))):
        for j in reversed(range(len(after))):
            same = before[i] == after[j]
            lengths[i][j] = lengths[i + 1][j + 1] + 1 if same else max(lengths[i + 1][j], lengths[i][j + 1])
    return lengths
