"""What is left for people to do once the stack stands. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from infra.access import entries_to_make
from infra.settings import LEDGER_OUTPUT, StackSettings


def next_steps(settings: StackSettings, outputs: Mapping[str, str]) -> str:
    """In their order; docs/deploy.md says more of each."""
    return "\n".join(_lines(settings, outputs)) + "\n"


def _lines(settings: StackSettings, outputs: Mapping[str, str]) -> Iterator[str]:
    deployment = settings.deployment
    group = "" if deployment.kubernetes_group == "driftgate" else f" --group {deployment.kubernetes_group}"
    yield "What is left to do (docs/deploy.md):"
    yield "- in each cluster, the rights of driftgate:"
    yield f"    driftgate cluster-manifests{group} | kubectl apply -f -"
    entries = entries_to_make(settings)
    if entries:
        yield "- access entries that the stack does not make:"
        yield from (f"    {line}" for line in entries.splitlines())
    if deployment.emails:
        yield f"- confirm the subscription in the mail to {', '.join(deployment.emails)}"
    if deployment.chat is not None:
        yield "- in the Slack channel: /invite @Amazon Q"
    yield "- the first looks, and who works, some minutes from now:"
    ledger = f"dynamodb:{outputs.get(LEDGER_OUTPUT, 'TABLE')}"
    yield f"    driftgate status --ledger {ledger} --cluster {settings.clusters[0].name}"
