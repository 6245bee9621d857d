"""AWS on the loopback in a process of its own, with the table and the queue of a deployment."""

from __future__ import annotations

from driftgate.adapters.ledger_dynamodb import create_table
from infra.local.cloud.server import CloudServer
from tests.bench.helper import Facts, serve

TABLE = "driftgate"


def main() -> None:
    """Serves until its input ends. It is ready with the variables by which a process reaches it."""
    with CloudServer() as cloud:
        create_table(cloud.client("dynamodb"), TABLE)
        cloud.client("events").create_event_bus(Name="driftgate")
        queue = cloud.client("sqs").create_queue(QueueName="driftgate.fifo", Attributes={"FifoQueue": "true"})
        ready: Facts = {"environment": dict(cloud.administrator), "table": TABLE, "queueUrl": queue["QueueUrl"]}
        serve(ready, lambda _: {})


if __name__ == "__main__":
    main()
