"""Who else writes the budgets: a GitOps controller that owns the field may put Git's list back at any moment."""

from __future__ import annotations

from driftgate.domain.nodepool import FIELD_MANAGER, NodePoolSnapshot
from driftgate.domain.plan import Alert
from driftgate.domain.reasons import ReasonCode

ARGO_ANNOTATION = "argocd.argoproj.io/tracking-id"
FLUX_LABEL = "kustomize.toolkit.fluxcd.io/name"

_KNOWN = {
    "argocd-controller": "Argo CD",
    "argocd-application-controller": "Argo CD",
    "kustomize-controller": "Flux",
    "helm-controller": "Flux",
}


def budgets_owner(pool: NodePoolSnapshot) -> str:
    """The field manager of a GitOps controller that owns the budgets; "" where none does."""
    owners = [owner.manager for owner in pool.owners if owner.owns_budgets and owner.manager != FIELD_MANAGER]
    known = [manager for manager in owners if manager in _KNOWN or "argocd" in manager or "flux" in manager]
    if known:
        return known[0]
    if ARGO_ANNOTATION in (pool.annotations or {}):
        return "argocd-controller"
    return "kustomize-controller" if FLUX_LABEL in pool.labels else ""


def ownership_alerts(pool: NodePoolSnapshot) -> tuple[Alert, ...]:
    """GITOPS_OWNED where such a controller owns the budgets, with the settings that make it leave them alone."""
    owner = budgets_owner(pool)
    if not owner:
        return ()
    return (
        Alert(
            code=ReasonCode.GITOPS_OWNED,
            message=f"{owner} owns the budgets of {pool.name} and may put Git's list back while the gate is open.",
            objects=(f"nodepool/{pool.name}",),
            remedy=ignore_advice(owner),
        ),
    )


def ignore_advice(owner: str) -> str:
    """How to make this controller leave the whole list alone, without turning its self-heal off."""
    if "argo" in owner:
        return (
            "In the Argo CD Application, ignore the whole list: ignoreDifferences with group karpenter.sh, kind "
            "NodePool, jsonPointers [/spec/disruption/budgets], and syncOptions [RespectIgnoreDifferences=true]."
        )
    return (
        "In the Flux Kustomization, patch the NodePool with the annotation "
        "kustomize.toolkit.fluxcd.io/ssa: IfNotPresent, or leave /spec/disruption/budgets out of Git: it must not "
        "apply the whole list again."
    )
