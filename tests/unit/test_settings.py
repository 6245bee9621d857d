from pathlib import Path

import pytest

from driftgate.domain.errors import InvalidSettingsError
from driftgate.settings import Settings

ENVIRONMENT = {
    "DRIFTGATE_DEPLOYMENT": "prod",
    "DRIFTGATE_TABLE": "driftgate-prod",
    "DRIFTGATE_QUEUE_URL": "https://sqs.eu-central-1.amazonaws.com/111122223333/driftgate-prod.fifo",
    "DRIFTGATE_EVENT_BUS": "driftgate-prod",
    "DRIFTGATE_CLOSER": "driftgate-prod-close-budgets",
}


def test_settings_are_read_from_the_environment():
    topic = "arn:aws:sns:eu-central-1:111122223333:driftgate-prod"
    failures = "https://sqs.eu-central-1.amazonaws.com/111122223333/driftgate-prod-failures"
    environment = ENVIRONMENT | {
        "DRIFTGATE_TOPIC_ARN": topic,
        "DRIFTGATE_FAILURES_URL": failures,
        "POWERTOOLS_SERVICE_NAME": "gate",
        "PATH": "/bin",
    }

    assert Settings.from_env(environment) == Settings(
        deployment="prod",
        table="driftgate-prod",
        event_bus="driftgate-prod",
        queues={"": "https://sqs.eu-central-1.amazonaws.com/111122223333/driftgate-prod.fifo"},
        closers={"": "driftgate-prod-close-budgets"},
        topic_arn=topic,
        failures_url=failures,
        config_path=Path("driftgate.yaml"),
        service="gate",
    )


def test_topic_and_service_may_be_left_out():
    settings = Settings.from_env(ENVIRONMENT | {"DRIFTGATE_TOPIC_ARN": ""})

    assert settings.topic_arn is None
    assert settings.service == "driftgate"


@pytest.mark.parametrize(
    ("extra", "path"),
    [
        ({}, "driftgate.yaml"),
        ({"LAMBDA_TASK_ROOT": "/var/task"}, "/var/task/driftgate.yaml"),
        ({"LAMBDA_TASK_ROOT": "/var/task", "DRIFTGATE_CONFIG": "conf/prod.yaml"}, "/var/task/conf/prod.yaml"),
        ({"LAMBDA_TASK_ROOT": "/var/task", "DRIFTGATE_CONFIG": "/opt/prod.yaml"}, "/opt/prod.yaml"),
    ],
)
def test_config_lies_beside_the_code_unless_told_otherwise(extra, path):
    assert Settings.from_env(ENVIRONMENT | extra).config_path == Path(path)


@pytest.mark.parametrize(("value", "names"), [("", ()), ("demo", ("demo",)), ("eu/a:1,eu-b", ("eu/a:1", "eu-b"))])
def test_clusters_may_be_named(value, names):
    assert Settings.from_env(ENVIRONMENT | {"DRIFTGATE_CLUSTERS": value}).clusters == names


def test_all_that_is_missing_is_told_at_once():
    with pytest.raises(InvalidSettingsError) as refused:
        Settings.from_env({})

    assert [problem.path for problem in refused.value.problems] == [
        "DRIFTGATE_DEPLOYMENT",
        "DRIFTGATE_TABLE",
        "DRIFTGATE_EVENT_BUS",
    ]


def test_a_function_need_not_have_a_queue_or_a_closer():
    settings = Settings.from_env(ENVIRONMENT | {"DRIFTGATE_QUEUE_URL": "", "DRIFTGATE_CLOSER": ""})

    assert (settings.queues, settings.closers) == ({}, {})


def test_each_placement_may_have_a_queue_and_a_closer_of_its_own():
    urls = {
        "default": "https://sqs.eu-central-1.amazonaws.com/111122223333/a.fifo",
        "eu": "https://sqs.eu-central-1.amazonaws.com/111122223333/b.fifo",
    }
    settings = Settings.from_env(
        ENVIRONMENT
        | {
            "DRIFTGATE_QUEUE_URL": f"default={urls['default']},eu={urls['eu']}",
            "DRIFTGATE_CLOSER": "default=close-a,eu=arn:aws:lambda:eu-central-1:111122223333:function:b",
        }
    )

    assert settings.queues == urls
    assert settings.closers == {
        "default": "close-a",
        "eu": "arn:aws:lambda:eu-central-1:111122223333:function:b",
    }


@pytest.mark.parametrize(("value", "placement"), [("", None), ("default", "default"), ("eu-private", "eu-private")])
def test_a_function_may_belong_to_a_placement(value, placement):
    assert Settings.from_env(ENVIRONMENT | {"DRIFTGATE_PLACEMENT": value}).placement == placement


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DRIFTGATE_DEPLOYMENT", "Prod/1"),
        ("DRIFTGATE_TABLE", "a table"),
        ("DRIFTGATE_QUEUE_URL", "https://sqs.eu-central-1.amazonaws.com/111122223333/driftgate-prod"),
        ("DRIFTGATE_QUEUE_URL", "driftgate-prod.fifo"),
        ("DRIFTGATE_QUEUE_URL", "https://[::1/prod queue.fifo"),
        ("DRIFTGATE_EVENT_BUS", "my bus"),
        ("DRIFTGATE_CLOSER", "close budgets"),
        ("DRIFTGATE_TOPIC_ARN", "driftgate-prod"),
        ("DRIFTGATE_CLOSER", "eu=close,"),
        ("DRIFTGATE_CLOSER", "EU=close"),
        ("DRIFTGATE_QUEUE_URL", "eu=driftgate-prod.fifo"),
        ("DRIFTGATE_PLACEMENT", "eu west"),
        ("DRIFTGATE_CLUSTERS", "a, b"),
        ("DRIFTGATE_CLUSTERS", "a,,b"),
    ],
)
def test_value_that_cannot_be_right_is_refused_by_name(name, value):
    with pytest.raises(InvalidSettingsError) as refused:
        Settings.from_env(ENVIRONMENT | {name: value})

    assert [problem.path for problem in refused.value.problems] == [name]
    assert repr(value) in str(refused.value)


def test_message_says_what_is_wrong_and_what_to_do():
    with pytest.raises(InvalidSettingsError) as refused:
        Settings.from_env(ENVIRONMENT | {"DRIFTGATE_TABLE": ""})

    assert str(refused.value) == (
        "environment: 1 problem\n"
        "  DRIFTGATE_TABLE: is missing: the name of a DynamoDB table"
        " · Deploy again, or set it for this function."
    )
