"""Puts the functions' code and the template where CloudFormation takes them from."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import Any

from botocore.exceptions import ClientError

from infra.packaging.bundle import Bundle

S3 = Any


def upload(s3: S3, bundle: Bundle, bucket: str, prefix: str) -> str:
    """The address of the template. Archives are named by their content: what is there already is not sent again."""
    for archive in bundle.archives:
        if not _is_there(s3, bucket, f"{prefix}{archive.name}"):
            s3.upload_file(str(archive), bucket, f"{prefix}{archive.name}")
    key = f"{prefix}{_named_by_content(bundle.template)}"
    s3.upload_file(str(bundle.template), bucket, key)
    suffix = "amazonaws.com.cn" if s3.meta.region_name.startswith("cn-") else "amazonaws.com"
    return f"https://{bucket}.s3.{s3.meta.region_name}.{suffix}/{key}"


def _is_there(s3: S3, bucket: str, key: str) -> bool:
    """Who may not list a bucket is refused what is not there: then it is sent, and that says what is wrong."""
    try:
        s3.head_object(Bucket=bucket, Key=key)
    except ClientError:
        return False
    return True


def _named_by_content(template: Path) -> str:
    digest = sha256(template.read_bytes()).hexdigest()[:16]
    return template.name.replace(".template.json", f"-{digest}.template.json")
