"""A function in a process of its own: its environment to the letter, its log, its time, and its end."""

from __future__ import annotations

import os
import textwrap

import pytest

from infra.local.runtime.function import Function, Surroundings, environment_of
from infra.local.runtime.process import FunctionFailedError, FunctionProcess, Pace

pytestmark = pytest.mark.slow
ARN = "arn:aws:lambda:eu-central-1:123456789012:function:look"


def function(timeout_s=30, **variables):
    return Function(
        name="look",
        arn=ARN,
        handler="functions.look.handler.handler",
        role_arn="arn:aws:iam::123456789012:role/look",
        variables=variables,
        timeout_s=timeout_s,
        memory_mb=256,
        log_group="/look",
        code="",
    )


@pytest.fixture
def started(tmp_path):
    """Starts a function with this code."""
    running = []

    def start(code, pace=None, timeout_s=30, **variables):
        folder = tmp_path / "functions" / "look"
        folder.mkdir(parents=True)
        (folder / "handler.py").write_text(textwrap.dedent(code))
        surroundings = Surroundings(endpoint="http://127.0.0.1:1", task_root=tmp_path)
        running.append(FunctionProcess(function(timeout_s, **variables), surroundings, tmp_path / "log", pace))
        return running[-1]

    yield start
    for process in running:
        process.stop()


def test_it_has_the_templates_variables_and_those_that_lambda_sets_and_no_others(started, tmp_path, monkeypatch):
    monkeypatch.setenv("DRIFTGATE_TABLE", "of-this-machine")
    process = started("import os\ndef handler(event, context): return dict(os.environ)", DRIFTGATE_TABLE="rolls")

    found = process.invoke({}, "1")

    expected = environment_of(process.function, Surroundings(endpoint="http://127.0.0.1:1", task_root=tmp_path))
    assert isinstance(found, dict)
    assert {name: found.get(name) for name in expected} == expected
    assert set(found) - set(expected) <= {"LC_CTYPE", "__CF_USER_TEXT_ENCODING"}
    assert found["DRIFTGATE_TABLE"] == "rolls"


def test_it_finds_its_own_code_and_none_of_the_work_tree(started):
    process = started(
        """
        import importlib.util
        import functions
        def handler(event, context):
            return [importlib.util.find_spec(name) is not None for name in ("infra", "tests")]
        """
    )

    assert process.invoke({}, "1") == [False, False]


def test_it_is_started_once_and_remembers(started):
    process = started("seen = []\ndef handler(event, context):\n    seen.append(event)\n    return seen")

    assert [process.invoke(number, "1") for number in (1, 2)] == [[1], [1, 2]]
    assert process.starts == 1


def test_the_context_is_lambdas(started):
    process = started(
        """
        def handler(event, context):
            left = context.get_remaining_time_in_millis()
            return [context.function_name, context.memory_limit_in_mb, context.invoked_function_arn,
                    context.aws_request_id, 0 < left <= 30000]
        """
    )

    assert process.invoke({}, "request-1") == ["look", 256, ARN, "request-1", True]


def test_what_it_prints_is_its_log(started, tmp_path):
    process = started("def handler(event, context):\n    print('looked')\n    return 1")

    assert process.invoke({}, "1") == 1
    assert (tmp_path / "log").read_text() == "looked\n"


@pytest.mark.parametrize(
    ("code", "kind", "said"),
    [
        ("def handler(event, context): raise ValueError('no such cluster')", "ValueError", "no such cluster"),
        ("def handler(event, context): return object()", "TypeError", "not JSON serializable"),
        ("raise ImportError('a module is missing')", "ImportError", "a module is missing"),
        ("import os\ndef handler(event, context): os._exit(3)", "Runtime.ExitError", "the process ended"),
        (
            "import socket\ndef handler(event, context): socket.create_connection(('192.0.2.1', 443))",
            "PermissionError",
            "nothing leaves this machine",
        ),
    ],
)
def test_a_function_that_fails_says_how(started, code, kind, said):
    process = started(code)

    with pytest.raises(FunctionFailedError, match=said) as raised:
        process.invoke({}, "1")

    assert raised.value.kind == kind


def test_one_that_takes_too_long_is_ended_and_the_next_event_finds_a_new_one(started):
    process = started(
        """
        import time
        def handler(event, context):
            time.sleep(event)
            return "done"
        """,
        timeout_s=1,
    )

    with pytest.raises(FunctionFailedError, match=r"Task timed out after 1\.00 seconds"):
        process.invoke(60, "1")

    assert process.invoke(0, "2") == "done"
    assert process.starts == 2


def test_nothing_of_it_is_left_when_it_is_stopped(started):
    process = started("import os\ndef handler(event, context): return os.getpid()")
    pid = process.invoke({}, "1")

    process.stop()

    assert isinstance(pid, int)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_it_may_live_by_a_faster_clock(started):
    process = started(
        """
        from driftgate import bootstrap
        def handler(event, context):
            clock = bootstrap._clock()
            before = clock.now()
            clock.sleep(60)
            return [before.year, (clock.now() - before).total_seconds() >= 60]
        """,
        Pace(start="2031-01-01T00:00:00+00:00", began=0.0, speed=600.0),
    )

    found = process.invoke({}, "1")

    assert isinstance(found, list)
    assert found[0] >= 2031
    assert found[1]
