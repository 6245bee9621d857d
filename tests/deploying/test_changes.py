"""What a change set would do, in words."""

from __future__ import annotations

from infra.deploying.changes import as_lines, is_harmless


def change(action, kind, name, replacement=None):
    found = {"Action": action, "ResourceType": kind, "LogicalResourceId": name}
    return {"Type": "Resource", "ResourceChange": found | ({"Replacement": replacement} if replacement else {})}


def test_changes_are_sorted_by_what_becomes_of_the_resource():
    lines = as_lines(
        [
            change("Remove", "AWS::Events::Rule", "Old"),
            change("Modify", "AWS::Lambda::Function", "Worker", "False"),
            change("Modify", "AWS::Events::Rule", "Rule", "Conditional"),
            change("Add", "AWS::SQS::Queue", "Queue"),
        ]
    )

    assert lines == [
        "+ AWS::SQS::Queue Queue",
        "~ AWS::Events::Rule Rule (may be replaced)",
        "~ AWS::Lambda::Function Worker",
        "- AWS::Events::Rule Old",
    ]
    assert is_harmless(lines)


def test_a_ledger_that_would_be_replaced_is_no_harmless_change():
    lines = as_lines([change("Modify", "AWS::DynamoDB::GlobalTable", "Ledger", "True")])

    assert lines[0] == "~ AWS::DynamoDB::GlobalTable Ledger (is replaced)"
    assert lines[1].startswith("! The ledger is replaced: ")
    assert not is_harmless(lines)


def test_a_warning_stands_once_however_many_roles_are_replaced():
    lines = as_lines([change("Modify", "AWS::IAM::Role", name, "True") for name in ("Worker", "Closer")])

    assert [line for line in lines if line.startswith("!")] == [
        "! A role is replaced: EKS access entries that name it stop working, and must be made anew."
    ]


def test_what_may_be_replaced_is_not_yet_a_loss():
    assert is_harmless(as_lines([change("Modify", "AWS::IAM::Role", "Worker", "Conditional")]))


def test_no_changes_are_no_lines():
    assert as_lines([]) == []
