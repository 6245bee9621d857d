"""Builds what is uploaded: the functions' code as one archive, and a template that needs no CDK to deploy."""

from infra.packaging.asset import build_asset
from infra.packaging.runtime import LAMBDA, Target
from infra.packaging.wheels import PackagingError

__all__ = ["LAMBDA", "PackagingError", "Target", "build_asset"]
