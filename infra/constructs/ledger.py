"""The ledger's table: kept when the stack goes, restorable to any second of the last weeks."""

from __future__ import annotations

import aws_cdk as cdk
from aws_cdk import aws_dynamodb as dynamodb
from constructs import Construct


class LedgerTable(Construct):
    """Keys as the ledger's items have them. `ttl` only cleans: nothing is decided by an item's absence."""

    def __init__(self, scope: Construct, id_: str) -> None:
        super().__init__(scope, id_)
        text = dynamodb.AttributeType.STRING
        self.table = dynamodb.TableV2(
            self,
            "Table",
            partition_key=dynamodb.Attribute(name="pk", type=text),
            sort_key=dynamodb.Attribute(name="sk", type=text),
            billing=dynamodb.Billing.on_demand(),
            time_to_live_attribute="ttl",
            point_in_time_recovery_specification=dynamodb.PointInTimeRecoverySpecification(
                point_in_time_recovery_enabled=True
            ),
            deletion_protection=True,
            removal_policy=cdk.RemovalPolicy.RETAIN,
        )
