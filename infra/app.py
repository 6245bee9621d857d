"""The CDK app: `python -m infra.app`, by itself or as the CDK command calls it (cdk.json).

Synthesis needs neither Docker, Node nor AWS: driftgate.yaml and the functions' code in, a template out.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path

import aws_cdk as cdk
from aws_cdk import aws_lambda as lambda_

from driftgate.config import Config, load_config
from driftgate.contract import CONFIG_FILE
from driftgate.domain.errors import InvalidInputError
from infra.settings import StackSettings
from infra.stack import DriftgateStack

ROOT = Path(__file__).parents[1]
OUT = "cdk.out"


def synthesize(config: Path, out: Path, asset: Path) -> Path:
    """The path of the template that this driftgate.yaml asks for, in the folder `out`.

    `asset` is the functions' code, as a folder or an archive.

    Raises:
        InvalidInputError: there is no such driftgate.yaml, or it is wrong (InvalidSettingsError, with lines).
    """
    settings = StackSettings.of(read_config(config))
    app = new_app(out)
    DriftgateStack(app, settings.prefix, settings=settings, code=lambda_.Code.from_asset(str(asset)))
    app.synth()
    return out / f"{settings.prefix}.template.json"


def new_app(out: Path) -> cdk.App:
    """An app with the feature flags of cdk.json, whoever starts it."""
    return cdk.App(outdir=str(out), context=feature_flags(), analytics_reporting=False)


def feature_flags() -> Mapping[str, object]:
    found: Mapping[str, object] = json.loads((ROOT / "cdk.json").read_text(encoding="utf-8"))["context"]
    return found


def read_config(path: Path) -> Config:
    """Raises InvalidInputError."""
    try:
        return load_config(path.read_text(encoding="utf-8"), str(path))
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInputError("cannot be read", place=str(path), remedy="Name the file with --config.") from error


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m infra.app", description="Write the deployment's template.")
    parser.add_argument("--config", type=Path, default=Path(CONFIG_FILE), help="driftgate.yaml")
    parser.add_argument("--asset", type=Path, required=True, help="the functions' code: a folder or an archive")
    parser.add_argument("--out", type=Path, default=Path(os.environ.get("CDK_OUTDIR", OUT)), help="where it is written")
    arguments = parser.parse_args()
    try:
        print(synthesize(arguments.config, arguments.out, arguments.asset))
    except InvalidInputError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
