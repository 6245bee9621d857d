"""What a deployment needs of this machine and of AWS. All that is missing is told at once, each with its remedy.

Nothing here writes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError, ProfileNotFound

CDK_BUCKET = "cdk-hnb659fds-assets-{account}-{region}"
"""The bucket of `cdk bootstrap`, where nobody chose another name. Source: aws docs, cdk/v2/guide/bootstrapping-env."""

Session = Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """Something that is not there, and what to do about it."""

    what: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.what}\n  {self.remedy}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where the stack goes, and the bucket from which CloudFormation takes the functions' code."""

    account: str
    region: str
    bucket: str


def find_place(new_session: Callable[[], Session], bucket: str | None) -> Place | list[Missing]:
    """The place, or everything that keeps it from being known. `bucket` None: that of `cdk bootstrap`, if there is."""
    try:
        session = new_session()
        region, credentials = session.region_name, session.get_credentials()
    except (ProfileNotFound, BotoCoreError) as error:
        return [Missing(what=str(error), remedy="Set AWS_PROFILE to a profile of ~/.aws/config, or unset it.")]
    missing = [need for need, found in ((NO_REGION, region), (NO_CREDENTIALS, credentials)) if not found]
    if missing:
        return missing
    try:
        account = str(session.client("sts").get_caller_identity()["Account"])
    except (ClientError, BotoCoreError) as error:
        return [_refused(error)]
    return _with_bucket(session, account, region, bucket)


NO_REGION = Missing(what="No AWS region is chosen.", remedy="make deploy REGION=eu-central-1, or set AWS_REGION.")
NO_CREDENTIALS = Missing(
    what="There are no AWS credentials.",
    remedy="Sign in (aws sso login), set AWS_PROFILE, or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.",
)


def _refused(error: Exception) -> Missing:
    if isinstance(error, ClientError):
        said = f"{error.response['Error']['Code']}: {error.response['Error']['Message']}"
        return Missing(what=f"AWS refuses these credentials: {said}", remedy="Sign in again; a session may have ended.")
    return Missing(what=f"AWS does not answer: {error}", remedy="Check the network, and AWS_ENDPOINT_URL if it is set.")


def _with_bucket(session: Session, account: str, region: str, named: str | None) -> Place | list[Missing]:
    """A bucket that somebody named may be of another account; the bootstrap's is ours or is not taken."""
    bucket = named or CDK_BUCKET.format(account=account, region=region)
    owner = {} if named else {"ExpectedBucketOwner": account}
    try:
        found = session.client("s3").head_bucket(Bucket=bucket, **owner)
    except ClientError as error:
        return [_no_bucket(bucket, region, error.response) if named else _no_place_for_code(account, region)]
    where = _region_of(found) or region
    if where != region:
        return [_elsewhere(bucket, region, where)]
    return Place(account=account, region=region, bucket=bucket)


def _region_of(answer: Mapping[str, Any]) -> str | None:
    headers = answer.get("ResponseMetadata", {}).get("HTTPHeaders", {})
    found: str | None = answer.get("BucketRegion") or headers.get("x-amz-bucket-region")
    return found


def _no_bucket(bucket: str, region: str, answer: Mapping[str, Any]) -> Missing:
    where = _region_of(answer) or region
    if where != region:
        return _elsewhere(bucket, region, where)
    if answer["ResponseMetadata"]["HTTPStatusCode"] == 403:
        return Missing(
            what=f"The bucket {bucket} may not be used.", remedy="Ask its owner for s3:PutObject, GetObject."
        )
    return Missing(what=f"There is no bucket {bucket}.", remedy=f"aws s3 mb s3://{bucket} --region {region}")


def _elsewhere(bucket: str, region: str, where: str) -> Missing:
    remedy = f"Lambda takes code from its own region alone: name a bucket in {region}."
    return Missing(what=f"The bucket {bucket} is in {where}, and the stack goes to {region}.", remedy=remedy)


def _no_place_for_code(account: str, region: str) -> Missing:
    return Missing(
        what=f"There is no bucket for the functions' code in {region}: none was named, and CDK was never bootstrapped.",
        remedy=f"make deploy BUCKET=NAME with any bucket in {region}; a new one: "
        f"aws s3 mb s3://driftgate-code-{account}-{region} --region {region}",
    )
