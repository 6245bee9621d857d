"""The judges themselves: they start, know their users, and leave nothing behind."""

import json
import os
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

from tests.e2e import build
from tests.e2e.harness.controlplane import ControlPlane
from tests.e2e.harness.fixtures import require
from tests.e2e.harness.oracle import Oracle, question
from tests.e2e.harness.processes import Run, free_ports
from tests.e2e.harness.scenario import NODECLAIMS, NODEPOOLS

REPOSITORY = Path(__file__).resolve().parents[2]
NOON = datetime(2026, 8, 24, 12, tzinfo=UTC)


def test_the_group_driftgate_may_do_nothing_until_it_is_granted(api_server: ControlPlane):
    answer = api_server.api("driftgate").send("GET", NODEPOOLS)

    assert answer.status == 403


def test_an_unknown_token_is_refused(api_server: ControlPlane):
    assert api_server.api(None).send("GET", NODEPOOLS).status == 401


def test_karpenters_resources_are_served_at_once(api_server: ControlPlane):
    assert api_server.api("admin").items(NODECLAIMS) == []


def test_kubectl_reads_the_kubeconfig(api_server: ControlPlane):
    require("kubectl")
    kubectl = [str(build.binary_path("kubectl")), "--kubeconfig", str(api_server.kubeconfig("driftgate"))]

    who = json.loads(subprocess.check_output([*kubectl, "auth", "whoami", "-o", "json"], text=True))

    assert who["status"]["userInfo"]["groups"] == ["driftgate", "system:authenticated"]


def test_the_oracle_answers_while_its_input_stays_open(oracle: Oracle):
    gate = [{"nodes": "1", "reasons": ["Drifted"]}, {"nodes": "0", "schedule": "0 12 * * *", "duration": "1h"}]

    assert oracle.ask(gate[:1], 10, NOON)["must"] == {"Drifted": 1, "Empty": 2147483647, "Underutilized": 2147483647}
    assert oracle.ask(gate, 10, NOON)["must"] == {"Drifted": 0, "Empty": 0, "Underutilized": 0}


def test_the_oracle_tells_what_karpenter_cannot_decode(oracle: Oracle):
    budget = {"nodes": "1", "schedule": "@daily", "duration": "99999999h"}

    assert oracle.ask([budget], 1, NOON) == {"decode": 'time: invalid duration "99999999h"'}


def test_the_oracle_shows_an_error_that_poisons_every_reason(oracle: Oracle):
    broken = {"nodes": "5", "reasons": ["Empty"], "schedule": "0 2 * * 7", "duration": "1h"}

    answer = oracle.ask([{"nodes": "1", "reasons": ["Drifted"]}, broken], 10, NOON)

    assert answer["allowed"]["Drifted"] == {"value": 1, "error": True}
    assert answer["must"]["Drifted"] == 0


def test_the_oracle_answers_many_instants_of_one_question(oracle: Oracle):
    (answer,) = oracle.ask_all([question([{"nodes": "50%"}], 3, [NOON, NOON])])

    assert [each["must"]["Drifted"] for each in answer["answers"]] == [2, 2]


def test_a_crashed_run_is_cleared_away_by_the_next():
    crashed = subprocess.run([sys.executable, "-c", CRASH], cwd=REPOSITORY, capture_output=True, text=True, check=False)
    folder, pid = crashed.stdout.split()

    Run().close()

    assert not Path(folder).exists()
    assert has_ended(int(pid))


CRASH = """
import os
from tests.e2e.harness.processes import Run
run = Run()
run.start("sleeper", ["sleep", "600"])
print(run.folder, run.pid("sleeper"), flush=True)
os._exit(1)
"""


def test_a_run_leaves_the_processes_of_another_alone():
    first = Run()
    first.start("sleeper", ["sleep", "600"])

    Run().close()

    assert first.is_running("sleeper")
    first.close()
    assert not first.folder.exists()


def test_free_ports_are_distinct():
    assert len(set(free_ports(5))) == 5


def test_an_unknown_program_is_a_usage_error():
    assert build_exit_code("nonsense") == build.EXIT_USAGE


def test_without_go_the_build_says_so_with_a_code_of_its_own(tmp_path: Path):
    settings = {"PATH": str(tmp_path), "DRIFTGATE_CACHE": str(tmp_path)}

    assert build_exit_code("oracle", settings) == build.EXIT_NO_GO


def build_exit_code(name: str, settings: dict[str, str] | None = None) -> int:
    script = REPOSITORY / "tests" / "e2e" / "build.py"
    command = [sys.executable, str(script), name]
    return subprocess.run(command, env=os.environ | (settings or {}), capture_output=True, check=False).returncode


def has_ended(pid: int, patience_s: float = 5) -> bool:
    deadline = time.monotonic() + patience_s
    while time.monotonic() < deadline:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    return False
