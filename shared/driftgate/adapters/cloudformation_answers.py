"""Answers CloudFormation where it waits: at a presigned address of S3, which takes one PUT.

Source: aws docs, AWSCloudFormation/latest/UserGuide/crpg-ref-responses (2026): 4 KB for the whole answer, and no
content type, because none was signed.
"""

from __future__ import annotations

import json

from urllib3 import PoolManager, Retry, Timeout
from urllib3.exceptions import HTTPError

from driftgate.domain.errors import AwsUnavailableError
from driftgate.ports import StackRequest

PHYSICAL_ID = "driftgate-fleet"
"""Never another: CloudFormation takes a new name for a replacement, and asks the old one to be deleted."""

MOST_CHARACTERS = 500
_RETRIES = Retry(total=3, backoff_factor=0.5, status_forcelist=(500, 503), allowed_methods=("PUT",), redirect=False)


class CloudFormationAnswers:
    """`ports.StackAnswers` over HTTP."""

    def __init__(self) -> None:
        self._http = PoolManager(num_pools=1, timeout=Timeout(connect=5, read=10), retries=_RETRIES)

    def answer(self, request: StackRequest, problem: str = "") -> None:
        """Raises AwsUnavailableError; the address, which is a secret, stands in no message."""
        body = json.dumps(_answer(request, problem)).encode()
        try:
            response = self._http.request("PUT", request.answer_to, body=body, headers={"content-type": ""})
        except HTTPError as error:
            raise AwsUnavailableError(f"CloudFormation was not answered ({type(error).__name__})") from None
        if response.status != 200:
            raise AwsUnavailableError(f"CloudFormation was not answered: S3 said {response.status}")


def _answer(request: StackRequest, problem: str) -> dict[str, str]:
    return {
        "Status": "FAILED" if problem else "SUCCESS",
        "Reason": problem[:MOST_CHARACTERS] or "Done.",
        "PhysicalResourceId": request.physical_id or PHYSICAL_ID,
        "StackId": request.stack,
        "RequestId": request.request,
        "LogicalResourceId": request.resource,
    }
