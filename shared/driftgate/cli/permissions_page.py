"""`python -m driftgate.cli.permissions_page` writes docs/permissions.md from the rights and the policy themselves."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from driftgate.domain.admission_policy import RULES
from driftgate.domain.rights import RIGHTS, Right

_HEAD = """\
# Permissions

What driftgate may do in a cluster, why, and what the API server itself refuses to it. This page is made from the
program's own tables (`python -m driftgate.cli.permissions_page > docs/permissions.md`).

```bash
driftgate cluster-manifests | kubectl apply -f -      # --group NAME: the group of the EKS access entry
driftgate doctor                                      # what is still missing, in words and as YAML
```

It prints four objects, all named `driftgate`: a ClusterRole, its binding to the group, a ValidatingAdmissionPolicy, and
the policy's binding. The policy needs Kubernetes 1.30 or later. It binds the members of the group and nobody else:
people, GitOps controllers and Karpenter write NodePools as before.

## Rights

Each verb is needed: the tests take every one away in turn, on a real API server, and see the operation that then fails.

| verb | resource | API group | why |
| --- | --- | --- | --- |
"""

_POLICY = """
There is no right to create, delete, update or evict anything, none on Secrets or ConfigMaps, none to write Nodes,
NodeClaims or pods, and none to change this role or this policy. Of pods only the list is read; logs and `exec` are
closed to it. To ask what it may do (`selfsubjectaccessreviews`, used by `driftgate doctor`) every authenticated user
of a cluster has the right already.

## Admission policy

RBAC cannot say what a patch may change. The policy does. Every opening, renewal and closing of the gate passes it, also
around entries that somebody else has added or taken meanwhile; everything else is refused with its reason, whatever
driftgate's code would do, and also where a wider role was granted by mistake.

| refused | what the caller reads |
| --- | --- |
"""

_TAIL = """
- A *zero* is spelled `0`, `00`, `0%` and so on. It is *always on* where it has no schedule.
- A *mark of driftgate* is `nodes: "01"` for exactly `[Drifted]` without a schedule (the open mark), or `nodes: "00"`
  for exactly `[Drifted]` with a schedule of four numbers and `*`, and duration `8736h` (the guard).
- Limits for Empty and Underutilized are compared as lists of number, schedule and duration, whatever their order: an
  entry for several reasons may be split, as an opening does.
- If the policy cannot be evaluated, the write is refused (`failurePolicy: Fail`). An opening then does not happen; an
  open gate is shut by the guard, which needs no write.

A person who runs `driftgate roll` or `driftgate close` with a kubeconfig of their own has their own rights, and the
policy does not bind them. `driftgate doctor` says so.
"""


def page() -> str:
    """The whole page."""
    rights = "".join(f"{line}\n" for line in _rights())
    rules = "".join(f"{line}\n" for line in _rules())
    return f"{_HEAD}{rights}{_POLICY}{rules}{_TAIL}"


def _rights() -> Iterator[str]:
    for right in RIGHTS:
        yield f"| {right.verb} | {right.resource} | {_group(right)} | {right.why} |"


def _group(right: Right) -> str:
    return right.group or "(core)"


def _rules() -> Iterator[str]:
    for rule in RULES:
        named = "" if rule.names is None else ": *its name*"
        yield f"| {rule.refuses} | {rule.message}{named} |"


if __name__ == "__main__":
    sys.stdout.write(page())
