"""What only a file can suffer: kills, cuts, other processes, other versions."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from driftgate.adapters.ledger_file import FileLedger
from driftgate.domain.errors import InvariantError, LedgerCorruptError, LedgerUnavailableError
from driftgate.ports import PutCounter, PutLook, PutRoll, PutTold, Told
from tests.factories import NOW, counter, roll
from tests.fakes.clock import FakeClock

ROOT = Path(__file__).parent.parent.parent
# Two counters that every commit moves together, in a ledger large enough that most of the time goes into writing.
WRITER = """
import sys
from pathlib import Path
from driftgate.adapters.ledger_file import FileLedger
from driftgate.adapters.system_clock import SystemClock
from driftgate.domain.errors import LedgerConflictError
from driftgate.domain.ledger import CounterRecord
from driftgate.ports import PutCounter

ledger = FileLedger(Path(sys.argv[1]), SystemClock())
left = int(sys.argv[2])
while left:
    seen = {counter.window_key: counter for counter in ledger.load("demo").counters}
    def step(key):
        taken = seen[key].taken if key in seen else 0
        return PutCounter(CounterRecord(window_key=key, taken=taken + 1), seen.get(key))
    try:
        ledger.commit("demo", step("a"), step("b"))
    except LedgerConflictError:
        continue
    left -= 1
    print("committed", flush=True)
"""


# Commits once per step of a commit (each call of C code around the file is one), killed at that step by itself.
KILLED_AT_EVERY_STEP = """
import itertools, json, os, signal, sys
from pathlib import Path
from driftgate.adapters.ledger_file import FileLedger
from driftgate.adapters.system_clock import SystemClock
from driftgate.domain.ledger import CounterRecord
from driftgate.ports import PutCounter

ledger = FileLedger(Path(sys.argv[1]), SystemClock())

def stored():
    return {counter.window_key: counter for counter in ledger.load("demo").counters}

def commit(before):
    taken = before["a"].taken + 1 if before else 1
    ledger.commit("demo", *(PutCounter(CounterRecord(window_key=key, taken=taken), before.get(key)) for key in "ab"))

def kill_at(step):
    left = step
    def watch(frame, event, argument):
        nonlocal left
        place = frame.f_code.co_filename
        if event.startswith("c_") and any(part in place for part in ("ledger_file.py", "file_lock.py", "pathlib")):
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
    sys.setprofile(watch)

for step in itertools.count(1):
    before = stored()
    child = os.fork()
    if child == 0:
        kill_at(step)
        commit(before)
        os._exit(0)
    killed = os.WIFSIGNALED(os.waitpid(child, 0)[1])
    shown = [[counters[key].taken if key in counters else 0 for key in "ab"] for counters in (before, stored())]
    print(json.dumps([killed, *shown]))
    if not killed:
        break
"""


@pytest.fixture
def path(tmp_path):
    return tmp_path / "state" / "ledger.json"


@pytest.fixture
def ledger(path):
    return FileLedger(path, FakeClock())


ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT / "shared")}


def writer(path, commits):
    command = [sys.executable, "-c", WRITER, str(path), str(commits)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=ENVIRONMENT)


def taken(ledger):
    return [found.taken for found in ledger.load("demo").counters]


def test_kill_at_every_step_of_a_commit_leaves_the_state_before_or_after_it(path):
    command = [sys.executable, "-c", KILLED_AT_EVERY_STEP, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=ENVIRONMENT)

    runs = [json.loads(line) for line in done.stdout.splitlines()]
    assert [killed for killed, _, _ in runs] == [True] * (len(runs) - 1) + [False]
    assert len(runs) > 20
    for _, before, after in runs:
        assert after in (before, [taken + 1 for taken in before])
    assert any(before == after for _, before, after in runs)
    assert sum(before != after for _, before, after in runs) > 1


@pytest.mark.parametrize("commits_before_the_kill", [1, 5, 13])
def test_kill_at_any_moment_leaves_a_committed_state(path, ledger, commits_before_the_kill):
    ledger.commit("demo", *(PutRoll(roll(id=f"{number:03}-app")) for number in range(300)))

    with writer(path, -1) as child:
        for _ in range(commits_before_the_kill):
            child.stdout.readline()
        child.send_signal(signal.SIGKILL)
        done = commits_before_the_kill + len(child.stdout.readlines())

    a, b = taken(ledger)
    assert a == b
    assert a in (done, done + 1)
    assert len(ledger.load("demo").rolls) == 300


def test_ledger_is_usable_right_after_its_writer_was_killed(path, ledger):
    with writer(path, -1) as child:
        child.stdout.readline()
        child.kill()

    ledger.commit("demo", PutLook(NOW))

    assert ledger.load("demo").looked_at == NOW


def test_two_processes_lose_no_commit_of_each_other(path, ledger):
    with writer(path, 30) as first, writer(path, 30) as second:
        first.stdout.read()
        second.stdout.read()

    assert (first.returncode, second.returncode) == (0, 0)
    assert taken(ledger) == [60, 60]


def test_file_and_lock_are_for_their_owner_alone(path, ledger):
    ledger.commit("demo", PutLook(NOW))

    modes = {entry.name: stat.S_IMODE(entry.stat().st_mode) for entry in path.parent.iterdir()}
    assert modes == {"ledger.json": 0o600, "ledger.json.lock": 0o600}


def test_file_states_its_schema_version_and_camel_case_records(path, ledger):
    ledger.commit("demo", PutRoll(roll()))

    document = json.loads(path.read_text(encoding="utf-8"))
    assert document["schemaVersion"] == 1
    assert document["clusters"][0]["cluster"] == "demo"
    assert document["clusters"][0]["rolls"][0]["windowKey"] == "app/sat/2026-10-17T02:00:00Z"


def test_look_of_a_file_that_does_not_say_when_the_next_is_due_is_read(path, ledger):
    ledger.commit("demo", PutLook(NOW, due_at=NOW, config="3f8a"))
    document = json.loads(path.read_text(encoding="utf-8"))
    del document["clusters"][0]["looks"][0]["dueAt"], document["clusters"][0]["looks"][0]["config"]
    path.write_text(json.dumps(document), encoding="utf-8")

    state = ledger.load("demo")

    assert (state.looked_at, state.due_at, state.config) == (NOW, None, "")


@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 0.99])
def test_file_cut_short_is_refused_and_left_as_it_is(path, ledger, share):
    ledger.commit("demo", PutRoll(roll()))
    whole = path.read_bytes()
    cut = whole[: int(len(whole) * share)]
    path.write_bytes(cut)

    with pytest.raises(LedgerCorruptError, match=f"{path}.*line.*Nothing was overwritten"):
        ledger.commit("demo", PutLook(NOW))

    assert path.read_bytes() == cut


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"schemaVersion": 2}, "schemaVersion is 2, this driftgate knows 1"),
        ({"schemaVersion": None}, "schemaVersion is None"),
        ({"clusters": None}, "clusters is missing"),
        ({"leapSeconds": []}, "unknown field leapSeconds"),
        ({"clusters": [{"cluster": "demo"}]}, r"ledger.clusters\[0\]: rolls is missing"),
    ],
)
def test_file_of_another_form_is_refused_with_the_place_and_left_as_it_is(path, ledger, change, place):
    ledger.commit("demo", PutLook(NOW))
    other = json.dumps(json.loads(path.read_text(encoding="utf-8")) | change)
    path.write_text(other, encoding="utf-8")

    with pytest.raises(LedgerCorruptError, match=place):
        ledger.load("demo")
    with pytest.raises(LedgerCorruptError):
        ledger.commit("demo", PutLook(NOW))

    assert path.read_text(encoding="utf-8") == other


def test_file_that_is_not_text_is_refused(path, ledger):
    path.parent.mkdir()
    path.write_bytes(b"\xff\xfe\x00")

    with pytest.raises(LedgerCorruptError, match="not UTF-8 at byte 0"):
        ledger.load_fleet()


def test_record_that_could_not_be_read_again_is_not_written(path, ledger):
    ledger.commit("demo", PutLook(NOW))
    before = path.read_bytes()

    with pytest.raises(InvariantError, match="key is missing"):
        ledger.commit("demo", PutTold(Told("", "said", NOW)))

    assert path.read_bytes() == before


def test_locked_ledger_is_refused_with_the_holder_and_its_age_after_a_bounded_wait(path):
    clock = FakeClock()
    ledger = FileLedger(path, clock)
    ledger.commit("demo", PutLook(NOW))

    with path.with_name("ledger.json.lock").open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(LedgerUnavailableError, match=rf"process {os.getpid()} for 10 s"):
            ledger.commit("demo", PutCounter(counter(), None))

    assert (clock.now() - NOW).total_seconds() == pytest.approx(10)


@pytest.mark.parametrize("signature", ["", "{", "[]", '{"pid": "x"}'])
def test_holder_that_cannot_be_told_is_another_process(path, ledger, signature):
    ledger.commit("demo", PutLook(NOW))
    lock = path.with_name("ledger.json.lock")
    lock.write_text(signature, encoding="utf-8")

    with lock.open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(LedgerUnavailableError, match="locked by another process"):
            ledger.commit("demo", PutLook(NOW))


def test_reading_needs_no_lock(path, ledger):
    ledger.commit("demo", PutLook(NOW))

    with path.with_name("ledger.json.lock").open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert ledger.load("demo").looked_at == NOW


def test_ledger_that_cannot_be_written_says_so_and_keeps_what_it_has(path, ledger):
    ledger.commit("demo", PutLook(NOW))
    path.with_name("ledger.json.new").mkdir()

    with pytest.raises(LedgerUnavailableError, match="nothing was changed"):
        ledger.commit("demo", PutRoll(roll()))

    assert ledger.load("demo").rolls == ()


def test_ledger_in_a_place_that_is_no_folder_says_so(tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    ledger = FileLedger(tmp_path / "file" / "ledger.json", FakeClock())

    with pytest.raises(LedgerUnavailableError, match=r"ledger\.json"):
        ledger.commit("demo", PutLook(NOW))


@pytest.mark.parametrize("content", ['{"schemaVersion": ' + "1" * 5000 + "}", "[" * 100_000])
def test_a_file_that_json_itself_gives_up_on_is_corrupt_and_not_a_crash(tmp_path, content):
    path = tmp_path / "ledger.json"
    path.write_text(content)

    with pytest.raises(LedgerCorruptError):
        FileLedger(path, FakeClock()).load("demo")

    assert path.read_text() == content
