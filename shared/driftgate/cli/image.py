"""`driftgate image list` and `driftgate image clear`: what is said of images, and a person's word that one is good."""

from __future__ import annotations

import getpass
from typing import Annotated

import typer

from driftgate.cli import options
from driftgate.cli.answers import is_for_machines, write
from driftgate.cli.exit_codes import ExitCode
from driftgate.cli.situation import Choice, find_config, reach
from driftgate.cli.tables import Row, show
from driftgate.domain.errors import InvalidInputError
from driftgate.domain.fields import did_you_mean
from driftgate.domain.jsonvalue import rfc3339
from driftgate.domain.ledger import Approval, ImageVerdict
from driftgate.domain.records import image_verdict_to_object
from driftgate.ports import PutImageVerdict

HEADER = ("IMAGE", "VERDICT", "POOL", "SINCE", "BY", "WHY")
Image = Annotated[str, typer.Argument(metavar="IMAGE", help="The image's id, such as ami-0bbb00000000000b2.")]


def image_list(
    kubeconfig: options.Kubeconfig = None,
    context: options.Context = None,
    config: options.ConfigFile = None,
    cluster: options.ClusterName = None,
    ledger: options.LedgerSpec = None,
    output: options.OutputFormat = options.Output.TABLE,
) -> int:
    """List every image that somebody, or a roll, has said something about."""
    choice = Choice(kubeconfig=kubeconfig, context=context, config=config, cluster=cluster, ledger=ledger)
    pipeline = reach(choice, find_config(choice))
    name = pipeline.cluster_names[0]
    verdicts = pipeline.ledger.load(name).image_verdicts
    if is_for_machines(output):
        write({"cluster": name, "imageVerdicts": [image_verdict_to_object(each) for each in verdicts]}, output)
    elif verdicts:
        show(HEADER, [_row(verdict) for verdict in verdicts], output)
    else:
        typer.echo(f"Nothing is said of any image in {name}: none is suspect.")
    return ExitCode.OK


def image_clear(
    image: Image,
    reason: Annotated[str, typer.Option("--reason", help="Why it is good: people read it later.")],
    kubeconfig: options.Kubeconfig = None,
    context: options.Context = None,
    config: options.ConfigFile = None,
    cluster: options.ClusterName = None,
    ledger: options.LedgerSpec = None,
) -> int:
    """Lift what was said against an image, so that nodes may roll onto it again."""
    if not reason.strip():
        raise InvalidInputError("the reason is empty", place="--reason", remedy="Say why, for those who read it.")
    choice = Choice(kubeconfig=kubeconfig, context=context, config=config, cluster=cluster, ledger=ledger)
    pipeline = reach(choice, find_config(choice))
    name = pipeline.cluster_names[0]
    known = [verdict for verdict in pipeline.ledger.load(name).image_verdicts if verdict.image == image]
    if not known:
        images = {verdict.image for verdict in pipeline.ledger.load(name).image_verdicts}
        remedy = did_you_mean(image, images) or "`driftgate image list` shows what is said of images."
        raise InvalidInputError(f"nothing is said of {image!r} in {name}", place="image clear", remedy=remedy)
    now, who = pipeline.clock.now(), getpass.getuser()
    cleared = [
        ImageVerdict(image=image, verdict=Approval.CLEARED, at=now, pool=pool, reason=reason.strip(), by=who)
        for pool in {verdict.pool for verdict in known}
    ]
    pipeline.ledger.commit(name, *(PutImageVerdict(verdict) for verdict in cleared))
    typer.echo(f"Cleared {image} in {name}: {reason.strip()}")
    return ExitCode.OK


def _row(verdict: ImageVerdict) -> Row:
    pool, at = verdict.pool or "every pool", rfc3339(verdict.at) or "-"
    return (verdict.image, str(verdict.verdict), pool, at, verdict.by or "-", verdict.reason or "-")
