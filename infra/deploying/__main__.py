"""`python -m infra.deploying` (`make deploy`): what would change in AWS, and on a person's word the change itself.

Exit codes: 2 something is missing, and nothing was done; 1 CDK refuses the template; 4 AWS refused the change or took
it back; 130 interrupted; 0.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
from botocore.exceptions import BotoCoreError, ClientError

from driftgate.contract import CONFIG_FILE
from driftgate.domain.errors import InvalidInputError
from infra.app import read_config
from infra.deploying.changes import as_lines, is_harmless
from infra.deploying.needs import Missing, Place, Session, find_place
from infra.deploying.next_steps import next_steps
from infra.deploying.stack import DeploymentError, Stack
from infra.deploying.upload import upload
from infra.packaging.bundle import Bundle
from infra.packaging.package import package
from infra.packaging.wheels import PackagingError
from infra.settings import StackSettings

PREFIX = "driftgate/"
OUT = Path("dist")


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """What is outside of this program. `ask` None: nobody is here to be asked."""

    new_session: Callable[[str | None], Session]
    package: Callable[[Path, Path], Bundle]
    ask: Callable[[str], str] | None
    sleep: Callable[[float], None]


def main() -> int:
    new_session: Any = boto3.Session
    ask = input if sys.stdin.isatty() else None
    world = World(
        new_session=lambda region: new_session(region_name=region), package=package, ask=ask, sleep=time.sleep
    )
    try:
        return run(sys.argv[1:], world)
    except KeyboardInterrupt:
        print("\nStopped here. A change that was begun goes on in AWS; see the stack's events.", file=sys.stderr)
        return 130


def run(given: Sequence[str], world: World) -> int:
    """The exit code."""
    said = _arguments(given)
    try:
        settings = StackSettings.of(read_config(said.config))
    except InvalidInputError as error:
        return _say_missing([Missing(what=str(error), remedy="docs/deploy.md says how to begin.")])
    place = find_place(lambda: world.new_session(said.region), said.bucket)
    if isinstance(place, list):
        return _say_missing(place)
    try:
        return _deploy(said, settings, place, world)
    except PackagingError as error:
        return _say_missing([Missing(what=str(error), remedy="No code was built, so there is nothing to deploy.")])
    except RuntimeError as error:
        _complain(f"CDK refuses the template: {error}")
        return 1
    except (DeploymentError, ClientError, BotoCoreError) as error:
        _complain(str(error))
        return 4


def _arguments(given: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m infra.deploying", description="Deploy without CDK.")
    parser.add_argument("--config", type=Path, default=Path(CONFIG_FILE), help="driftgate.yaml")
    parser.add_argument("--region", help="default: as the AWS command line has it")
    parser.add_argument("--bucket", help="for the functions' code; default: that of cdk bootstrap")
    parser.add_argument("--yes", action="store_true", help="do not ask, unless something would be lost")
    return parser.parse_args(given)


def _deploy(said: argparse.Namespace, settings: StackSettings, place: Place, world: World) -> int:
    session = world.new_session(said.region)
    stack = Stack(session.client("cloudformation"), settings.prefix, sleep=world.sleep, say=_complain)
    if unusable := stack.unusable():
        return _say_missing(unusable)
    print(f"The stack {settings.prefix}, account {place.account}, {place.region}; code in {place.bucket}.")
    url = upload(session.client("s3"), world.package(said.config, OUT), place.bucket, PREFIX)
    lines = as_lines(stack.propose(url, {"CodeBucket": place.bucket, "CodePrefix": PREFIX}))
    print("\n".join(lines) or "Nothing would change.")
    if not lines:
        return 0
    if not (said.yes and is_harmless(lines)) and not _is_agreed(world.ask):
        stack.discard()
        print("Nothing was changed.")
        return 2 if world.ask is None else 0
    return _execute(stack, settings)


def _execute(stack: Stack, settings: StackSettings) -> int:
    ended = stack.execute()
    if not ended.is_done:
        raise DeploymentError(f"The change failed and was taken back: the stack is in {ended.status}.")
    print(f"Done: {ended.status}.\n\n{next_steps(settings, ended.outputs)}", end="")
    return 0


def _is_agreed(ask: Callable[[str], str] | None) -> bool:
    if ask is None:
        _complain("Nobody is here to be asked: YES=1 goes ahead where nothing is lost.")
        return False
    return ask("Go ahead? [y/N] ").strip().lower() in ("y", "yes")


def _say_missing(missing: Sequence[Missing]) -> int:
    _complain("Not deployed; nothing was changed:\n" + "\n".join(f"- {need}" for need in missing))
    return 2


def _complain(text: str) -> None:
    print(text, file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
