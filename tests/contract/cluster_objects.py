"""Kubernetes objects as a person or Karpenter would create them: whole enough for the real API server."""

from __future__ import annotations

from typing import Any

Object = dict[str, Any]

GATE = [{"nodes": "10%", "reasons": ["Empty", "Underutilized"]}, {"nodes": "0", "reasons": ["Drifted"]}]
_CLASS = {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "std"}
_REQUIREMENTS = [{"key": "kubernetes.io/arch", "operator": "In", "values": ["amd64"]}]


def nodepool_object(
    name: str, budgets: list[Object] | None = None, annotations: dict[str, str] | None = None
) -> Object:
    metadata: Object = {"name": name} | ({} if annotations is None else {"annotations": annotations})
    return {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": metadata,
        "spec": {
            "disruption": {"consolidateAfter": "5m", "budgets": GATE if budgets is None else budgets},
            "template": {
                "spec": {"expireAfter": "Never", "nodeClassRef": _CLASS, "requirements": _REQUIREMENTS},
            },
        },
    }


def nodeclaim_object(name: str, pool: str, **conditions: str) -> Object:
    """A claim; `Drifted="AMIDrift"` gives it that condition with that reason."""
    return {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodeClaim",
        "metadata": {"name": name, "labels": {"karpenter.sh/nodepool": pool}},
        "spec": {"expireAfter": "Never", "nodeClassRef": _CLASS, "requirements": _REQUIREMENTS},
        "status": nodeclaim_status(name, **conditions),
    }


def nodeclaim_status(name: str, **conditions: str) -> Object:
    shown = [condition(kind, reason) for kind, reason in conditions.items()]
    return {"imageID": "ami-0aaa00000000000a1", "nodeName": f"{name}-node", "conditions": shown}


def condition(kind: str, reason: str) -> Object:
    since = "2026-10-05T08:00:00Z"
    return {"type": kind, "status": "True", "reason": reason, "message": reason, "lastTransitionTime": since}


def node_object(name: str, pool: str, taints: tuple[str, ...] = ()) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"karpenter.sh/nodepool": pool}},
        "spec": {
            "providerID": f"aws:///eu-central-1a/i-{name}",
            "taints": [{"key": key, "effect": "NoSchedule"} for key in taints],
        },
        "status": {"conditions": [condition("Ready", "KubeletReady")]},
    }


def pod_object(name: str, node: str) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default", "labels": {"app": name}},
        "spec": {"nodeName": node, "containers": [{"name": "main", "image": "app:1"}]},
    }


def pdb_object(name: str) -> Object:
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"maxUnavailable": 1, "selector": {"matchLabels": {"app": name}}},
    }


def volume_attachment_object(name: str, node: str) -> Object:
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "VolumeAttachment",
        "metadata": {"name": name},
        "spec": {"attacher": "ebs.csi.aws.com", "nodeName": node, "source": {"persistentVolumeName": "pv-1"}},
    }


def deployment_object(version: str) -> Object:
    labels = {"app.kubernetes.io/name": "karpenter"}
    container = {"name": "controller", "image": f"public.ecr.aws/karpenter/controller:{version}@sha256:{'0' * 64}"}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "karpenter", "namespace": "default", "labels": labels},
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
        },
    }
