"""The one place where boto3's clients are made: lazily, with explicit timeouts and bounded retries.

They are made by botocore, which boto3 wraps: the same clients, without the transfer of S3 objects that a cold start
would load with it. Even that comes with the first client, so that what needs no AWS never pays for it. Must not call
AWS by itself, but to assume a role that somebody asked for.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from threading import RLock
from typing import TYPE_CHECKING, Any

from driftgate.adapters.aws_errors import aws_call
from driftgate.ports import Clock

if TYPE_CHECKING:
    from botocore.session import Session

CONNECT_TIMEOUT_S = 2
READ_TIMEOUT_S = 5
ATTEMPTS = 3
# A client of a role is replaced this long before its credentials end: longer than any call may last.
RENEW_BEFORE = timedelta(minutes=5)


class AwsSession:
    """Clients by service, region and role, each made once. Safe to use from several threads.

    Without a region the environment or the profile says it.
    """

    def __init__(self, clock: Clock, region: str | None = None) -> None:
        self._clock = clock
        self._region = region
        self._lock = RLock()
        self._session: Session | None = None
        self._clients: dict[tuple[str, str | None, str | None, int], tuple[Any, datetime | None]] = {}

    def client(
        self, service: str, *, region: str | None = None, role: str | None = None, attempts: int = ATTEMPTS
    ) -> Any:
        """The client; `role` is an ARN to assume first.

        Raises AwsForbiddenError, AwsUnavailableError: no credentials, or the role cannot be assumed.
        """
        key = (service, region or self._region, role, attempts)
        with self._lock:
            found, ends = self._clients.get(key, (None, None))
            if found is None or (ends is not None and self._clock.now() >= ends - RENEW_BEFORE):
                found, ends = self._made(*key)
                self._clients[key] = (found, ends)
        return found

    def _made(self, service: str, region: str | None, role: str | None, attempts: int) -> tuple[Any, datetime | None]:
        if role is None:
            return self._plain(service, region, attempts), None
        sts = self.client("sts", region=region)
        with aws_call("sts:AssumeRole", role):
            answer = sts.assume_role(RoleArn=role, RoleSessionName="driftgate")["Credentials"]
        credentials = {
            "aws_access_key_id": answer["AccessKeyId"],
            "aws_secret_access_key": answer["SecretAccessKey"],
            "aws_session_token": answer["SessionToken"],
        }
        return self._plain(service, region, attempts, **credentials), answer["Expiration"]

    def _plain(self, service: str, region: str | None, attempts: int, **credentials: str) -> Any:
        from botocore.config import Config
        from botocore.session import get_session

        config = Config(
            connect_timeout=CONNECT_TIMEOUT_S,
            read_timeout=READ_TIMEOUT_S,
            retries={"mode": "standard", "total_max_attempts": attempts},
            user_agent_extra="driftgate",
        )
        with aws_call(f"{service}:*"):
            self._session = self._session or get_session()
            make: Any = self._session.create_client
            return make(service, region_name=region, config=config, **credentials)
