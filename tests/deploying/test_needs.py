"""What is missing is told, all of it, with what to do; and nothing was done by then."""

from __future__ import annotations

from typing import Any

import pytest
from botocore.exceptions import ProfileNotFound
from botocore.stub import Stubber

from infra.deploying.needs import find_place
from infra.packaging.wheels import PackagingError
from tests.deploying.conftest import BOOTSTRAP, REGION

HEAD = "Not deployed; nothing was changed:\n"


class Nobody:
    """A session of a machine that knows nothing of AWS."""

    def __init__(self, region: str | None = None) -> None:
        self.region_name = region

    def get_credentials(self) -> None:
        return None


def told(account, *more: str) -> str:
    """What is missing; in the account stands what stood there before."""
    before = account.status()
    account.answers = []
    code, out, err = account.deploy(*more)
    assert (code, out, account.status()) == (2, "", before)
    return str(err)


def test_without_a_file_there_is_nothing_to_deploy(account):
    (account.folder / "driftgate.yaml").unlink()

    said = told(account)

    assert said.startswith(f"{HEAD}- {account.folder}/driftgate.yaml: cannot be read")
    assert "docs/deploy.md says how to begin" in said


def test_a_wrong_file_is_told_with_its_line(account):
    (account.folder / "driftgate.yaml").write_text("cluster: demo\nmode: acts\n", encoding="utf-8")

    assert "driftgate.yaml:2:7: mode" in told(account)


def test_region_and_credentials_that_are_missing_are_told_together(account):
    account.session = Nobody()
    code, _, err = account.deploy()

    assert (code, err) == (
        2,
        f"{HEAD}"
        "- No AWS region is chosen.\n"
        "  make deploy REGION=eu-central-1, or set AWS_REGION.\n"
        "- There are no AWS credentials.\n"
        "  Sign in (aws sso login), set AWS_PROFILE, or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.\n",
    )


def test_a_profile_that_is_not_there_is_told():
    def unknown() -> Any:
        raise ProfileNotFound(profile="prod")

    missing = find_place(unknown, None)

    assert isinstance(missing, list)
    assert str(missing[0]) == (
        "The config profile (prod) could not be found\n  Set AWS_PROFILE to a profile of ~/.aws/config, or unset it."
    )


def test_a_session_that_ended_is_told_in_the_words_of_aws(account):
    sts = account.session.client("sts")
    stub = Stubber(sts)
    stub.add_client_error("get_caller_identity", "ExpiredToken", "The security token is expired", 403)

    class Ended:
        region_name = REGION

        def get_credentials(self) -> str:
            return "old"

        def client(self, _: str) -> Any:
            return sts

    account.session = Ended()
    with stub:
        code, _, err = account.deploy()

    assert code == 2
    assert "AWS refuses these credentials: ExpiredToken: The security token is expired\n  Sign in again" in err


def test_without_a_bucket_and_a_bootstrap_both_ways_are_named(account):
    assert told(account) == (
        f"{HEAD}- There is no bucket for the functions' code in eu-central-1: none was named, and CDK was never "
        "bootstrapped.\n  make deploy BUCKET=NAME with any bucket in eu-central-1; a new one: aws s3 mb "
        "s3://driftgate-code-123456789012-eu-central-1 --region eu-central-1\n"
    )


def test_a_bucket_that_does_not_exist_is_told(account):
    account.bucket(BOOTSTRAP)

    assert told(account, "--bucket", "nobodys") == (
        f"{HEAD}- There is no bucket nobodys.\n  aws s3 mb s3://nobodys --region eu-central-1\n"
    )


def test_a_bucket_of_another_region_is_told(account):
    account.bucket("elsewhere", "eu-west-1")

    assert "The bucket elsewhere is in eu-west-1, and the stack goes to eu-central-1." in told(
        account, "--bucket", "elsewhere"
    )


def test_a_bucket_that_was_named_is_used(account):
    account.bucket("ours")
    account.answers = ["y"]

    code, _, _ = account.deploy("--bucket", "ours")

    assert code == 0
    assert len(account.session.client("s3").list_objects_v2(Bucket="ours")["Contents"]) == 2


def test_the_bootstrap_s_bucket_is_taken_only_from_this_account(account):
    account.bucket()
    asked: list[Any] = []
    account.session.events.register(
        "before-parameter-build.s3.HeadBucket", lambda params, **_: asked.append(dict(params))
    )

    account.deploy("--yes")

    assert asked == [{"Bucket": BOOTSTRAP, "ExpectedBucketOwner": "123456789012"}]


@pytest.mark.parametrize(
    ("status", "remedy"),
    [
        ("ROLLBACK_COMPLETE", "aws cloudformation delete-stack --stack-name driftgate-prod"),
        ("DELETE_FAILED", "see its events, then aws cloudformation delete-stack --stack-name driftgate-prod"),
        ("UPDATE_ROLLBACK_FAILED", "aws cloudformation continue-update-rollback --stack-name driftgate-prod"),
        ("UPDATE_IN_PROGRESS", "Wait until that is over, and run this again."),
    ],
)
def test_a_stack_that_cannot_be_changed_is_told_with_the_way_out(account, status, remedy):
    account.bucket()
    account.deploy("--yes")
    account.set_status(status)

    said = told(account)

    assert f"- The stack driftgate-prod is in {status}.\n  " in said
    assert remedy in said


def test_code_that_cannot_be_built_is_told(account):
    account.bucket()
    account.unbuildable = PackagingError("uv is neither beside this Python nor on the PATH; run `make setup`.")

    code, _, err = account.deploy("--yes")

    assert (code, account.status()) == (2, None)
    assert "run `make setup`" in err
