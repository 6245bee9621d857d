"""`make deploy` in an account: what it shows, what it asks, what it does, and what it leaves alone."""

from __future__ import annotations

from infra.packaging.plain import PARAMETERS
from tests.deploying.conftest import BOOTSTRAP, FAILED, STACK, template


def deployed(account):
    account.bucket()
    account.answers = ["y"]
    return account.deploy()


def test_the_first_deployment_shows_what_it_makes_asks_and_says_what_is_left(account):
    code, out, err = deployed(account)

    assert (code, err, account.status()) == (0, "", "CREATE_COMPLETE")
    assert account.asked == ["Go ahead? [y/N] "]
    assert out.splitlines() == [
        f"The stack driftgate-prod, account 123456789012, eu-central-1; code in {BOOTSTRAP}.",
        "+ AWS::SQS::Queue Queue",
        "Done: CREATE_COMPLETE.",
        "",
        "What is left to do (docs/deploy.md):",
        "- in each cluster, the rights of driftgate:",
        "    driftgate cluster-manifests | kubectl apply -f -",
        "- confirm the subscription in the mail to ops@example.org",
        "- the first looks, and who works, some minutes from now:",
        "    driftgate status --ledger dynamodb:driftgate-ledger --cluster demo",
    ]


def test_the_template_and_the_code_lie_in_the_bucket_that_the_stack_is_told(account):
    deployed(account)

    found = account.session.client("s3").list_objects_v2(Bucket=BOOTSTRAP)["Contents"]
    keys = sorted(entry["Key"] for entry in found)
    stack = account.session.client("cloudformation").describe_stacks(StackName=STACK)["Stacks"][0]
    given = {each["ParameterKey"]: each["ParameterValue"] for each in stack["Parameters"]}
    assert keys[0] == "driftgate/driftgate-0123456789abcdef.zip"
    assert keys[1].startswith("driftgate/driftgate-prod-")
    assert len(keys) == 2
    assert given == {"CodeBucket": BOOTSTRAP, "CodePrefix": "driftgate/"}
    assert set(given) == set(PARAMETERS)


def test_who_says_no_has_changed_nothing(account):
    account.bucket()
    account.answers = [""]

    code, out, _ = account.deploy()

    assert (code, account.status()) == (0, None)
    assert out.splitlines()[-1] == "Nothing was changed."


def test_where_nobody_can_be_asked_nothing_is_changed(account):
    account.bucket()

    code, _, err = account.deploy()

    assert (code, account.status()) == (2, None)
    assert err == "Nobody is here to be asked: YES=1 goes ahead where nothing is lost.\n"


def test_who_agreed_beforehand_is_not_asked(account):
    account.bucket()

    code, _, _ = account.deploy("--yes")

    assert (code, account.status(), account.asked) == (0, "CREATE_COMPLETE", [])


def test_an_upgrade_names_what_comes_and_goes(account):
    deployed(account)
    account.template, account.answers = template("Other"), ["yes"]

    code, out, _ = account.deploy()

    assert (code, account.status()) == (0, "UPDATE_COMPLETE")
    assert out.splitlines()[1:3] == ["+ AWS::SQS::Queue Other", "- AWS::SQS::Queue Queue"]


def test_the_same_again_changes_nothing_and_asks_nobody(account):
    deployed(account)
    account.asked.clear()

    code, out, _ = account.deploy()

    assert (code, account.asked, account.status()) == (0, [], "CREATE_COMPLETE")
    assert out.splitlines()[-1] == "Nothing would change."


def test_code_that_is_there_is_not_sent_again(account):
    deployed(account)
    sent = []
    account.session.events.register("before-call.s3.PutObject", lambda params, **_: sent.append(params["url_path"]))

    account.deploy()

    assert [path for path in sent if path.endswith(".zip")] == []
    assert len(sent) == 1


def test_a_change_that_fails_is_told_with_the_resource_that_failed(account):
    deployed(account)
    account.template, account.answers = template("Queue", "Other"), ["y"]
    account.fail_when_executed("UPDATE_ROLLBACK_COMPLETE")

    code, out, err = account.deploy()

    assert code == 4
    assert err.splitlines() == [
        f"UPDATE_FAILED Queue: {FAILED}",
        "The change failed and was taken back: the stack is in UPDATE_ROLLBACK_COMPLETE.",
    ]
    assert "Done" not in out


def test_a_template_that_cloudformation_refuses_leaves_no_stack(account):
    account.bucket()
    account.refuse("Template format error: unresolved resource dependencies [Nobody]")

    code, _, err = account.deploy("--yes")

    assert (code, account.status()) == (4, None)
    assert err == (
        "CloudFormation refuses the change: Template format error: unresolved resource dependencies [Nobody]\n"
    )


def test_a_change_set_in_which_nothing_stands_is_no_failure(account):
    deployed(account)
    account.template = template("Queue", "Other")
    account.refuse("The submitted information didn't contain changes. Submit different information.")

    code, out, err = account.deploy("--yes")

    assert (code, err, account.status()) == (0, "", "CREATE_COMPLETE")
    assert out.splitlines()[-1] == "Nothing would change."
