import pytest

from driftgate.domain.errors import InvalidSettingsError
from driftgate.settings import NotifierSettings

SECRET = "arn:aws:secretsmanager:eu-central-1:111122223333:secret:slack/driftgate-a1B2c3"
ENVIRONMENT = {"DRIFTGATE_TABLE": "driftgate-prod", "DRIFTGATE_SLACK_SECRET": SECRET}


def test_a_table_and_a_secret_are_enough():
    assert NotifierSettings.from_env(ENVIRONMENT) == NotifierSettings(table="driftgate-prod", secret=SECRET)


def test_a_channel_and_another_slack_may_be_named():
    more = {"DRIFTGATE_SLACK_CHANNEL": "C0123ABCD", "DRIFTGATE_SLACK_URL": "https://slack-gov.com/api"}

    settings = NotifierSettings.from_env(ENVIRONMENT | more)

    assert (settings.channel, settings.url) == ("C0123ABCD", "https://slack-gov.com/api")


def test_all_that_is_missing_is_told_at_once():
    with pytest.raises(InvalidSettingsError) as raised:
        NotifierSettings.from_env({})

    assert [problem.path for problem in raised.value.problems] == ["DRIFTGATE_TABLE", "DRIFTGATE_SLACK_SECRET"]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DRIFTGATE_SLACK_SECRET", "slack"),
        ("DRIFTGATE_SLACK_CHANNEL", "#general"),
        ("DRIFTGATE_SLACK_URL", "https://slack.com/api/"),
        ("DRIFTGATE_SLACK_URL", "slack.com/api"),
    ],
)
def test_a_value_that_cannot_be_right_is_refused_by_name(name, value):
    with pytest.raises(InvalidSettingsError) as raised:
        NotifierSettings.from_env(ENVIRONMENT | {name: value})

    assert [problem.path for problem in raised.value.problems] == [name]
