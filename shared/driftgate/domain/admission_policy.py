"""What the API server itself refuses to driftgate: every change of a NodePool but an opening, a renewal, a closing.

RBAC can only say that driftgate may patch NodePools. This policy says what such a patch may change. It binds no one
but driftgate's own group, and it holds whatever driftgate's code does: it is written as text for the server, from the
rules of `gate` and `marks` but not with their code. `tests/gate_policy.py` says the same once more, as a predicate.

The expressions need Kubernetes 1.30 or later. Entries are compared as lists and maps, whose cost does not grow with
the length of a schedule, so that nothing that fits into a NodePool makes the policy too expensive for the server.

Source: k8s.io/api v0.36.3, admissionregistration/v1 (ValidatingAdmissionPolicy); cost limits in k8s.io/apiserver
v0.36.3, pkg/apis/cel/config.go.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from driftgate.domain.marks import GUARD_DURATION, GUARD_NODES, OPEN_MARK
from driftgate.domain.nodepool import ROLL_ANNOTATION
from driftgate.domain.rights import NAME

API_VERSION = "admissionregistration.k8s.io/v1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One validation. `refuses` says in a few words what it keeps out.

    `message` is what the refused caller reads; `names` is an expression whose value is put after it.
    """

    refuses: str
    expression: str
    message: str
    names: str | None = None

    def to_object(self) -> dict[str, object]:
        shown: dict[str, object] = {"expression": self.expression, "message": self.message, "reason": "Forbidden"}
        if self.names is not None:
            shown["messageExpression"] = f"'{self.message}: ' + {self.names}"
        return shown


_ZERO = "b.nodes.matches('^0+%?$')"
_ALWAYS_ON_ZERO = f"({_ZERO} && !has(b.schedule))"
_OPEN_MARK = f"(b.nodes == '{OPEN_MARK.nodes}' && b.?reasons.orValue([]) == ['Drifted'] && !has(b.schedule))"
_GUARD_MARK = (
    f"(b.nodes == '{GUARD_NODES}' && b.?reasons.orValue([]) == ['Drifted'] && "
    f"b.?duration.orValue('') == '{GUARD_DURATION}'\n"
    "  && b.?schedule.orValue('').matches('^[0-9]+ [0-9]+ [0-9]+ [0-9]+ [*]$'))"
)


def _applying_to(reason: str, budgets: str) -> str:
    return f"variables.{budgets}.filter(b, !has(b.reasons) || '{reason}' in b.reasons)"


def _limits(reason: str, budgets: str) -> str:
    """What the entries allow the reason and when, as a list."""
    return f"{_applying_to(reason, budgets)}\n  .map(b, [b.nodes, b.?schedule.orValue(''), b.?duration.orValue('')])"


def _changed_keys(after: str, before: str) -> str:
    """The keys of one map whose value another map does not have too, and the keys that are gone."""
    return (
        f"({after}.filter(key, !(key in {before}) || {after}[key] != {before}[key])\n"
        f"  + {before}.filter(key, !(key in {after})))\n"
    )


def _count(budgets: str) -> str:
    """How often the entry `b` stands in the list."""
    return f"variables.{budgets}.filter(c, c == b).size()"


def _same_count(one: str, other: str) -> str:
    """Whether both lists hold the same entries, each as often."""
    return (
        f"variables.{one}.size() == variables.{other}.size()\n"
        f"&& variables.{one}.all(b, {_count(one)} == {_count(other)})"
    )


def _naming_no_reason(budgets: str) -> str:
    return f"variables.{budgets}.filter(b, has(b.reasons) && b.reasons.size() == 0).size()"


_VARIABLES = {
    # Where nothing is created or deleted both exist; where something is, both are the one object there is.
    "old": "oldObject != null ? oldObject : object",
    "new": "object != null ? object : oldObject",
    "before": "variables.old.spec.?disruption.?budgets.orValue([])",
    "after": "variables.new.spec.?disruption.?budgets.orValue([])",
    "emptyBefore": _limits("Empty", "before"),
    "emptyAfter": _limits("Empty", "after"),
    "underutilizedBefore": _limits("Underutilized", "before"),
    "underutilizedAfter": _limits("Underutilized", "after"),
    "driftedBefore": _applying_to("Drifted", "before"),
    "driftedAfter": _applying_to("Drifted", "after"),
    "specBefore": "dyn(variables.old.spec)",
    "specAfter": "dyn(variables.new.spec)",
    "changedInSpec": _changed_keys("variables.specAfter", "variables.specBefore")
    + "  .filter(key, key != 'disruption')",
    "disruptionBefore": "dyn(variables.old.spec.?disruption.orValue({}))",
    "disruptionAfter": "dyn(variables.new.spec.?disruption.orValue({}))",
    "changedInDisruption": _changed_keys("variables.disruptionAfter", "variables.disruptionBefore")
    + "  .filter(key, key != 'budgets')",
    "metadataBefore": "dyn(variables.old.metadata)",
    "metadataAfter": "dyn(variables.new.metadata)",
    # The server itself moves these three with every write.
    "changedInMetadata": _changed_keys("variables.metadataAfter", "variables.metadataBefore")
    + "  .filter(key, !(key in ['annotations', 'generation', 'managedFields', 'resourceVersion']))",
    "annotationsBefore": "dyn(variables.old.metadata.?annotations.orValue({}))",
    "annotationsAfter": "dyn(variables.new.metadata.?annotations.orValue({}))",
    "changedAnnotations": _changed_keys("variables.annotationsAfter", "variables.annotationsBefore")
    + f"  .filter(key, key != '{ROLL_ANNOTATION}')",
}
"""Named values of the policy, in the order in which they build on each other."""

RULES = (
    Rule(
        refuses="creating and deleting a NodePool, and writing its status",
        expression="request.operation == 'UPDATE' && request.?subResource.orValue('') == ''",
        message="driftgate only patches the budgets of a NodePool: it never creates or deletes one, nor writes its "
        "status",
    ),
    Rule(
        refuses="a change of `spec` outside `disruption`: template, limits, weight, replicas",
        expression="variables.changedInSpec.size() == 0",
        message="driftgate may change nothing in spec but disruption.budgets, and this would change spec",
        names="variables.changedInSpec[0]",
    ),
    Rule(
        refuses="a change of `spec.disruption` outside `budgets`",
        expression="variables.changedInDisruption.size() == 0",
        message="driftgate may change nothing in spec.disruption but budgets, and this would change",
        names="variables.changedInDisruption[0]",
    ),
    Rule(
        refuses="a change of labels, finalizers or owner references",
        expression="variables.changedInMetadata.size() == 0",
        message=f"driftgate may change nothing in metadata but the annotation {ROLL_ANNOTATION}, and this would change",
        names="variables.changedInMetadata[0]",
    ),
    Rule(
        refuses=f"a change of an annotation other than `{ROLL_ANNOTATION}`",
        expression="variables.changedAnnotations.size() == 0",
        message=f"driftgate may change no annotation but {ROLL_ANNOTATION}, and this would change",
        names="variables.changedAnnotations[0]",
    ),
    Rule(
        refuses="an empty list",
        expression="variables.after.size() > 0 || variables.before.size() == 0",
        message="budgets: [] means no limit at all, and driftgate must not write it",
    ),
    Rule(
        refuses="more entries with `reasons: []`",
        expression=f"{_naming_no_reason('after')} <= {_naming_no_reason('before')}",
        message="an entry with reasons: [] limits nothing, and driftgate must not add one",
    ),
    Rule(
        refuses="another limit for Empty",
        expression=_same_count("emptyBefore", "emptyAfter"),
        message="the budgets that apply to Empty must stay the same in number, schedule and duration: driftgate opens "
        "and closes the gate for Drifted alone",
    ),
    Rule(
        refuses="another limit for Underutilized",
        expression=_same_count("underutilizedBefore", "underutilizedAfter"),
        message="the budgets that apply to Underutilized must stay the same in number, schedule and duration: "
        "driftgate opens and closes the gate for Drifted alone",
    ),
    Rule(
        refuses="adding an entry on Drifted that is neither a zero nor a mark of driftgate",
        expression=f"variables.driftedAfter.all(b,\n  {_ZERO} || {_OPEN_MARK}\n"
        f"  || {_count('driftedAfter')} <= {_count('driftedBefore')})",
        message="an entry that is added for Drifted must be a zero, or the open mark of driftgate: nodes 01 for "
        "exactly [Drifted] without a schedule",
    ),
    Rule(
        refuses="removing an entry on Drifted that is neither an always-on zero nor a mark of driftgate",
        expression=f"variables.driftedBefore.all(b,\n  {_ALWAYS_ON_ZERO} || {_OPEN_MARK}\n  || {_GUARD_MARK}\n"
        f"  || {_count('driftedAfter')} >= {_count('driftedBefore')})",
        message="an entry that is removed for Drifted must be a zero without a schedule, or a mark of driftgate: "
        "scheduled entries and other limits are the owner's",
    ),
    Rule(
        refuses="a list on which no always-on entry holds the gate for Drifted",
        expression=f"variables.before == variables.after\n|| variables.driftedAfter.exists(b,\n"
        f"  {_ALWAYS_ON_ZERO} || {_OPEN_MARK})",
        message="an entry without a schedule must hold Drifted at zero, or at the one node of driftgate (nodes 01): "
        "this list would leave the gate without either",
    ),
)
"""What is refused, in the order in which the server asks: of several reasons it tells the first."""


def admission_policy(group: str) -> dict[str, object]:
    """The policy. It binds whoever is in `group`, and no one else."""
    return {
        "apiVersion": API_VERSION,
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": NAME},
        "spec": {
            "failurePolicy": "Fail",
            "matchConstraints": {"resourceRules": [_NODEPOOL_WRITES]},
            "matchConditions": [{"name": "is-driftgate", "expression": _is_member_of(group)}],
            "variables": [{"name": name, "expression": expression} for name, expression in _VARIABLES.items()],
            "validations": [rule.to_object() for rule in RULES],
        },
    }


def admission_policy_binding() -> dict[str, object]:
    """Puts the policy in force."""
    return {
        "apiVersion": API_VERSION,
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": NAME},
        "spec": {"policyName": NAME, "validationActions": ["Deny"]},
    }


_NODEPOOL_WRITES = {
    "apiGroups": ["karpenter.sh"],
    "apiVersions": ["*"],
    "operations": ["CREATE", "UPDATE", "DELETE"],
    "resources": ["nodepools", "nodepools/*"],
}


def _is_member_of(group: str) -> str:
    """Must never fail, whoever asks: a condition that fails would refuse other people's writes of NodePools."""
    return f"has(request.userInfo.groups) && {json.dumps(group)} in request.userInfo.groups"
