"""What a fresh interpreter spends on imports: `python -m tests.bench.imports_process WHAT`, one JSON object.

`packages`: the yardstick. `heartbeat`: the handler is imported and run once. `modules` (their names on standard
input): the imports of a heartbeat alone, those included that it makes only as it runs.
"""

from __future__ import annotations

import json
import sys
import time
from importlib import import_module

BEFORE = frozenset(sys.modules)


class Context:
    """What Lambda gives a handler beside the event, as far as the Logger asks."""

    function_name = function_version = aws_request_id = "bench"
    memory_limit_in_mb = 512
    invoked_function_arn = "arn:aws:lambda:eu-central-1:123456789012:function:bench"


def packages() -> dict[str, object]:
    """The three packages that a function of this kind usually imports."""
    for name in ("boto3", "kubernetes.client", "aws_lambda_powertools"):
        import_module(name)
    return {}


def heartbeat() -> dict[str, object]:
    """One heartbeat over the real ledger; what it loaded, in order."""
    handler = import_module("functions.evaluate_drift.handler").handler
    answer = handler({"driftgate": "heartbeat", "scheduledAt": "2026-10-17T02:10:00Z"}, Context())
    return {"answer": answer, "modules": [name for name in sys.modules if name not in BEFORE]}


def modules() -> dict[str, object]:
    """These modules and nothing else; those that cannot be imported by name come with others."""
    for name in NAMES:
        try:
            import_module(name)
        except ImportError:
            continue
    return {}


if __name__ == "__main__":
    chosen = {"packages": packages, "heartbeat": heartbeat, "modules": modules}[sys.argv[1]]
    NAMES = json.load(sys.stdin) if chosen is modules else []
    began, cpu = time.perf_counter(), time.process_time()
    result = chosen()
    spent = {"cpuMs": (time.process_time() - cpu) * 1000, "wallMs": (time.perf_counter() - began) * 1000}
    print(json.dumps(result | spent))
