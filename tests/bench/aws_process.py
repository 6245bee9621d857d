"""AWS on the loopback in a process of its own, with the table and the queue of a deployment."""

from __future__ import annotations

import os

from infra.local.aws import TABLE, start_aws
from tests.bench.helper import Facts, serve


def main() -> None:
    """Serves until its input ends."""
    aws = start_aws()
    try:
        endpoint = os.environ["AWS_ENDPOINT_URL"]
        ready: Facts = {"endpoint": endpoint, "table": TABLE, "queueUrl": aws.queue_url}
        serve(ready, lambda _: {})
    finally:
        aws.stop()


if __name__ == "__main__":
    main()
