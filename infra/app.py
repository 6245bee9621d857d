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
from infra.access import entries_to_make
from infra.packaging import PackagingError, build_asset
from infra.packaging.contents import ASSETS
from infra.settings import StackSettings
from infra.stack import DriftgateStack

ROOT = Path(__file__).parents[1]


def synthesize(config: Path, out: Path, asset: Path, *, is_checked: bool = False) -> Path:
    """The path of the template that this driftgate.yaml asks for, in the folder `out`.

    `asset` is the functions' code, as a folder or an archive. `is_checked`: the rules of cdk-nag are held against it.

    Raises:
        InvalidInputError: there is no such driftgate.yaml, or it is wrong (InvalidSettingsError, with lines).
        RuntimeError: CDK refuses the template; what is wrong was printed.
    """
    settings = StackSettings.of(read_config(config))
    app = new_app(out)
    DriftgateStack(app, settings.prefix, settings=settings, code=lambda_.Code.from_asset(str(asset)))
    if is_checked:
        check(app)
    app.synth()
    return out / f"{settings.prefix}.template.json"


def new_app(out: Path) -> cdk.App:
    """An app with the feature flags of cdk.json, whoever starts it."""
    return cdk.App(outdir=str(out), context=feature_flags(), analytics_reporting=False)


def feature_flags() -> Mapping[str, object]:
    found: Mapping[str, object] = json.loads((ROOT / "cdk.json").read_text(encoding="utf-8"))["context"]
    return found


def check(app: cdk.App) -> None:
    """A finding of cdk-nag that nobody explained fails the synthesis."""
    from cdk_nag import AwsSolutionsChecks

    cdk.Validations.of(app).add_plugins(AwsSolutionsChecks(app))


def read_config(path: Path) -> Config:
    """Raises InvalidInputError."""
    try:
        return load_config(path.read_text(encoding="utf-8"), str(path), is_deployed=True)
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInputError("cannot be read", place=str(path), remedy="Name the file with --config.") from error


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m infra.app", description="Write the deployment's template.")
    parser.add_argument("--config", type=Path, default=Path(CONFIG_FILE), help="driftgate.yaml")
    parser.add_argument("--asset", type=Path, help="the functions' code, a folder or an archive; built where left out")
    parser.add_argument("--out", type=Path, default=Path(os.environ.get("CDK_OUTDIR", "cdk.out")), help="a folder")
    arguments = parser.parse_args()
    try:
        settings = StackSettings.of(read_config(arguments.config))
        asset = arguments.asset or build_asset(ASSETS, arguments.config)
        print(synthesize(arguments.config, arguments.out, asset, is_checked=True))
    except (InvalidInputError, PackagingError) as error:
        print(error, file=sys.stderr)
        return 2
    except RuntimeError as error:
        print(f"CDK refuses the template: {error}", file=sys.stderr)
        return 1
    print(entries_to_make(settings), end="", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
