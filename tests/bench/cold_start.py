"""A function's cold start, in an interpreter of its own: `cold_start.py ASSET NAME import|first`.

Run by its path, with `-I -S`: the unpacked archive and the standard library are all that can be imported. `import` is
what Lambda does before there is an event; `first` goes on to the answer of one event, from standard input.
"""

from __future__ import annotations

import json
import os
import sys
from importlib import import_module
from types import SimpleNamespace

TROUBLE = frozenset({"problems", "failures", "batchItemFailures"})
LAMBDA = SimpleNamespace(
    function_name="bench",
    function_version="bench",
    aws_request_id="bench",
    memory_limit_in_mb=512,
    invoked_function_arn="arn:aws:lambda:eu-central-1:123456789012:function:bench",
    get_remaining_time_in_millis=lambda: 60_000,
)


def main(asset: str, name: str, what: str) -> None:
    """Ends with an error where the function did not do its work, or loaded what it must not."""
    sys.path.insert(0, asset)
    handler = import_module(f"functions.{name}.handler").handler
    if what == "first":
        given = json.load(sys.stdin)
        answer = handler(given["event"], LAMBDA)
        if troubles(answer):
            raise SystemExit(f"{name} did not do its work: {answer}")
        loaded = [module for module in given["mustNotLoad"] if module in sys.modules]
        if loaded:
            raise SystemExit(f"{name} loaded {loaded}")


def troubles(answer: object) -> list[object]:
    """What an answer says that went wrong, wherever it says it."""
    if isinstance(answer, list):
        return [found for each in answer for found in troubles(each)]
    if not isinstance(answer, dict):
        return []
    told = [value for key, value in answer.items() if key in TROUBLE and value]
    return told + [found for value in answer.values() for found in troubles(value)]


if __name__ == "__main__":
    main(*sys.argv[1:])
    sys.stdout.flush()
    # a function's process is frozen, never taken down
    os._exit(0)
