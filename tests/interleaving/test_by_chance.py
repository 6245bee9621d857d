"""Schedules by chance: whatever happens at whichever call, no promise is broken. A failure prints its schedule.

`python -m tests.interleaving FIRST COUNT` plays as many more as you like.
"""

from __future__ import annotations

from itertools import count
from pathlib import Path

import pytest

from driftgate.adapters.ledger_file import FileLedger
from tests.interleaving.run import by_chance, play, shrunk
from tests.interleaving.schedule import Act, Happening, Step

EACH = 20


def broken(seeds: range, most: int) -> list[str]:
    return [str(shrunk(played)) for seed in seeds if (played := by_chance(seed, most=most)).faults]


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 200, EACH))
def test_up_to_three_faults_break_no_promise(first):
    assert not (found := broken(range(first, first + EACH), most=3)), "\n\n".join(found)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(10_000, 10_100, EACH))
def test_nor_do_eight(first):
    assert not (found := broken(range(first, first + EACH), most=8)), "\n\n".join(found)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(20_000, 20_100, EACH))
def test_where_all_live_one_node_goes_per_opening_and_stops_act_at_once(first):
    found = [p for seed in range(first, first + EACH) if (p := by_chance(seed, is_clean=True)).faults]

    assert not found, "\n\n".join(map(str, found))


def test_a_seed_gives_the_same_run_every_time():
    assert by_chance(7).log == by_chance(7).log


def test_a_printed_schedule_plays_the_same_run():
    found = by_chance(6001, most=6)

    again = play(*found.happenings, *found.steps, setting=found.setting)

    assert again.log == found.log


def test_the_ledger_in_a_file_keeps_the_same_promises(tmp_path: Path):
    names = count()

    played = play(
        Happening(14, "alarm"),
        Happening(60, "alarm_ok"),
        Happening(200, "lose_ledger"),
        Step("worker-1", "commit", 5, Act.LOSE),
        Step("worker-2", "commit", 2, Act.DIE_AFTER),
        make_ledger=lambda clock: FileLedger(tmp_path / f"ledger-{next(names)}.json", clock),
    )

    assert played.faults == ()
