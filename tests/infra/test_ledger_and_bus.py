"""What outlives a deployment, and where others can listen."""

from __future__ import annotations

from driftgate.adapters.ledger_dynamodb import create_table


class Asked:
    """A client that remembers what a table is to be like."""

    def __init__(self) -> None:
        self.keys: list[object] = []
        self.ttl: object = None

    def create_table(self, **table: object) -> None:
        self.keys = [table["KeySchema"], table["AttributeDefinitions"]]

    def get_waiter(self, name: str) -> Asked:
        return self

    def wait(self, **_: object) -> None: ...

    def update_time_to_live(self, **asked: object) -> None:
        self.ttl = asked["TimeToLiveSpecification"]


def test_the_table_is_as_the_ledger_needs_it(small):
    table, wanted = small.one("AWS::DynamoDB::GlobalTable", "LedgerTable"), Asked()
    create_table(wanted, "ledger")  # type: ignore[arg-type]

    assert [table["KeySchema"], table["AttributeDefinitions"]] == wanted.keys
    assert table["TimeToLiveSpecification"] == wanted.ttl


def test_the_table_is_paid_by_request_and_can_be_put_back_to_any_moment(small):
    table = small.one("AWS::DynamoDB::GlobalTable", "LedgerTable")
    (replica,) = table["Replicas"]

    assert table["BillingMode"] == "PAY_PER_REQUEST"
    assert replica["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": True}


def test_the_table_survives_its_stack_and_any_hand(small):
    resource = small.resource("AWS::DynamoDB::GlobalTable", "LedgerTable")

    assert resource["DeletionPolicy"] == "Retain"
    assert resource["UpdateReplacePolicy"] == "Retain"
    assert resource["Properties"]["Replicas"][0]["DeletionProtectionEnabled"] is True


def test_the_bus_has_no_archive_unless_asked(small, fleet):
    assert small.one("AWS::Events::EventBus", "EventsBus") == {"Name": "driftgate"}
    assert small.of_type("AWS::Events::Archive") == {}
    assert fleet.one("AWS::Events::Archive", "Events") == {
        "ArchiveName": "driftgate-prod",
        "Description": "What driftgate said",
        "EventPattern": {"source": ["driftgate"]},
        "KmsKeyIdentifier": "",
        "RetentionDays": 30,
        "SourceArn": "EventsBus.Arn",
    }
