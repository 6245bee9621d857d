"""What every function is given: runtime, time, memory, variables, a log, and a place for what it could not do."""

from __future__ import annotations

from dataclasses import fields
from importlib.util import find_spec

import pytest

from driftgate.contract import Env
from driftgate.settings import Settings

ALL = {
    "close_fleet",
    "evaluate_drift",
    "watch_amis",
    "notify_slack",
    "reconcile_cluster@default",
    "reconcile_cluster@eu",
    "close_budgets@default",
    "close_budgets@eu",
}
COMMON = {
    "DRIFTGATE_DEPLOYMENT": "prod",
    "POWERTOOLS_SERVICE_NAME": "driftgate-prod",
    "DRIFTGATE_TABLE": "LedgerTable",
    "DRIFTGATE_EVENT_BUS": "EventsBus",
    "DRIFTGATE_TOPIC_ARN": "MessagesTopic",
    "DRIFTGATE_FAILURES_URL": "FailuresQueue",
}
VARIABLES = {
    "evaluate_drift": COMMON
    | {
        "DRIFTGATE_CLUSTERS": "test,shop,far,other",
        "DRIFTGATE_QUEUE_URL": "default=PlacementdefaultWorkQueue,eu=PlacementeuWorkQueue",
        "DRIFTGATE_CLOSER": "default=PlacementdefaultCloserFunction.Arn,eu=PlacementeuCloserFunction.Arn",
    },
    "watch_amis": COMMON,
    "reconcile_cluster@eu": COMMON | {"DRIFTGATE_PLACEMENT": "eu", "DRIFTGATE_QUEUE_URL": "PlacementeuWorkQueue"},
    "close_budgets@default": COMMON | {"DRIFTGATE_PLACEMENT": "default"},
}
LIMITS = {
    "close_fleet": (300, 512, None),
    "evaluate_drift": (50, 512, None),
    "watch_amis": (120, 512, None),
    "notify_slack": (60, 512, None),
    "reconcile_cluster@default": (105, 512, None),
    "reconcile_cluster@eu": (105, 512, None),
    "close_budgets@default": (300, 1024, 10),
    "close_budgets@eu": (300, 1024, 10),
}
ASYNCHRONOUS = {
    "FleetClosingCloseFleet": (300, 0),
    "EvaluateDrift": (600, 2),
    "WatchAmis": (600, 1),
    "NotifierNotifySlack": (21600, 2),
    "PlacementdefaultCloser": (21600, 2),
    "PlacementeuCloser": (21600, 2),
}


def test_there_is_a_worker_and_a_closer_for_each_placement_and_one_of_the_others(fleet):
    assert set(fleet.functions()) == ALL


def test_without_slack_there_is_no_notifier(small):
    assert set(small.functions()) == {
        "close_fleet",
        "evaluate_drift",
        "watch_amis",
        "reconcile_cluster@default",
        "close_budgets@default",
    }


def test_functions_run_on_the_newest_python_and_arm_and_are_traced(fleet):
    for function in fleet.functions().values():
        assert function["Runtime"] == "python3.14"
        assert function["Architectures"] == ["arm64"]
        assert function["TracingConfig"] == {"Mode": "Active"}


def test_nothing_is_put_around_a_line_of_the_log_for_metrics_are_read_from_it(fleet):
    assert {function["LoggingConfig"]["LogFormat"] for function in fleet.functions().values()} == {"Text"}


def test_time_memory_and_reserved_runs_are_as_thought_out(fleet):
    found = {
        name: (function["Timeout"], function["MemorySize"], function.get("ReservedConcurrentExecutions"))
        for name, function in fleet.functions().items()
    }

    assert found == LIMITS


def test_every_function_has_a_role_and_a_log_of_its_own(fleet):
    functions = fleet.functions().values()

    assert len({function["Role"] for function in functions}) == len(ALL)
    assert len({function["LoggingConfig"]["LogGroup"] for function in functions}) == len(ALL)


def test_logs_are_kept_for_as_long_as_the_settings_say(fleet):
    logs = fleet.of_type("AWS::Logs::LogGroup")

    assert {log["RetentionInDays"] for log in logs.values()} == {90}
    assert len(logs) == len(ALL)


def test_what_an_asynchronous_run_could_not_do_is_kept(fleet):
    found = {}
    for name, config in fleet.of_type("AWS::Lambda::EventInvokeConfig").items():
        owner = name.removesuffix("FunctionEventInvokeConfig")
        found[owner] = (config["MaximumEventAgeInSeconds"], config["MaximumRetryAttempts"])
        kept = "NotifierUntoldQueue.Arn" if owner.startswith("Notifier") else "FailuresQueue.Arn"
        assert config["DestinationConfig"] == {"OnFailure": {"Destination": kept}}

    assert found == ASYNCHRONOUS


@pytest.mark.parametrize("name", VARIABLES)
def test_a_function_gets_exactly_the_variables_that_it_uses(fleet, name):
    assert fleet.functions()[name]["Environment"]["Variables"] == VARIABLES[name]


def test_variables_are_those_of_the_contract(fleet):
    known = {name.value for name in Env}

    for function in fleet.functions().values():
        assert set(function["Environment"]["Variables"]) <= known


@pytest.mark.parametrize("name", VARIABLES)
def test_the_settings_read_what_a_function_is_given(fleet, name):
    def deployed(value: str) -> str:
        """Names as AWS would fill them in."""
        value = value.replace("PlacementdefaultWorkQueue", "https://sqs.eu-central-1.amazonaws.com/1/a.fifo")
        value = value.replace("PlacementeuWorkQueue", "https://sqs.eu-central-1.amazonaws.com/1/b.fifo")
        value = value.replace("FailuresQueue", "http://sqs.eu-central-1.amazonaws.com/1/failures")
        topic = "arn:aws:sns:eu-central-1:111122223333:messages"
        return value.replace(".Arn", "").replace("MessagesTopic", topic)

    variables = {key: deployed(value) for key, value in fleet.functions()[name]["Environment"]["Variables"].items()}

    settings = Settings.from_env(variables)

    assert settings.deployment == "prod"
    assert len(settings.queues) == variables.get("DRIFTGATE_QUEUE_URL", "").count("https")
    assert {field.name for field in fields(settings)} >= {"queues", "closers", "placement"}


def test_one_placement_needs_no_names_in_the_variables(small):
    variables = small.functions()["evaluate_drift"]["Environment"]["Variables"]

    assert variables["DRIFTGATE_QUEUE_URL"] == "PlacementdefaultWorkQueue"
    assert variables["DRIFTGATE_CLOSER"] == "PlacementdefaultCloserFunction.Arn"


def test_every_handler_is_there(fleet):
    for function in fleet.functions().values():
        module, _, name = function["Handler"].rpartition(".")
        assert find_spec(module) is not None
        assert name == "handler"


def test_a_worker_that_queues_its_next_slice_is_not_taken_for_a_runaway(fleet):
    allowed = {name for name, function in fleet.functions().items() if function.get("RecursiveLoop") == "Allow"}

    assert allowed == {"reconcile_cluster@default", "reconcile_cluster@eu"}


def test_only_the_placement_of_a_vpc_is_in_it(fleet):
    placed = {name: function["VpcConfig"] for name, function in fleet.functions().items() if "VpcConfig" in function}

    vpc = {"SubnetIds": ["subnet-0a1b2c3d", "subnet-0a1b2c3e"], "SecurityGroupIds": ["sg-0a1b2c3d"]}
    assert placed == {"reconcile_cluster@eu": vpc, "close_budgets@eu": vpc}
