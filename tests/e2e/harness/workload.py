"""Pods that fill their nodes: a Deployment and its PDB, so that a node that goes needs a replacement."""

from tests.e2e.harness.api import Api, Object

DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
PDBS = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"
PODS = "/api/v1/namespaces/default/pods"


def running(api: Api, app: str, count: int) -> list[Object] | None:
    """The pods, once so many of them run, each on a node of its own."""
    pods = [p for p in api.items(f"{PODS}?labelSelector=app%3D{app}") if "deletionTimestamp" not in p["metadata"]]
    found = [p for p in pods if p["status"].get("phase") == "Running"]
    return found if len({p["spec"]["nodeName"] for p in found}) == count else None


def deployment(app: str, replicas: int, cpu: str = "2500m") -> Object:
    """Pods for the NodePool of that name; by default, two do not fit on a node of four processors."""
    requests = {"cpu": cpu, "memory": "256Mi"}
    spec = {
        "nodeSelector": {"karpenter.sh/nodepool": app},
        "terminationGracePeriodSeconds": 1,
        "containers": [{"name": "app", "image": "app", "resources": {"requests": requests}}],
    }
    labels = {"app": app}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": app},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": spec},
        },
    }


def pdb(app: str, max_unavailable: int) -> Object:
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": app},
        "spec": {"maxUnavailable": max_unavailable, "selector": {"matchLabels": {"app": app}}},
    }
