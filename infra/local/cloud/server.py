"""The loopback server: moto behind its front, in threads of this process."""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping
from functools import cache
from types import TracebackType
from typing import Any

import boto3
from botocore.config import Config
from moto.core.models import DEFAULT_ACCOUNT_ID
from moto.moto_api._internal.models import moto_api_backend
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, MotoRequestHandler, create_backend_app
from werkzeug.serving import make_server

from infra.local.cloud.front import ADMINISTRATOR_KEY, Front

ACCOUNT = DEFAULT_ACCOUNT_ID
REGION = "eu-central-1"
SECRET = "local"
"""Of every access key: who calls is told by the key alone."""


@cache
def _moto() -> DomainDispatcherApplication:
    """Its routes are slow to make and the same for every account."""
    return DomainDispatcherApplication(create_backend_app)


class CloudServer:
    """An empty account on 127.0.0.1. moto keeps its state by process: two servers at a time would share it."""

    def __init__(self) -> None:
        moto_api_backend.reset()
        logging.getLogger("werkzeug").setLevel(logging.ERROR)
        self.front = Front(_moto(), ACCOUNT)
        self._clients: dict[str, Any] = {}
        self._http = make_server("127.0.0.1", 0, self.front, threaded=True, request_handler=MotoRequestHandler)
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    @property
    def administrator(self) -> Mapping[str, str]:
        """The environment of a process that may do everything here."""
        return {
            "AWS_ACCESS_KEY_ID": ADMINISTRATOR_KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_DEFAULT_REGION": REGION,
            "AWS_REGION": REGION,
            "AWS_ENDPOINT_URL": self.url,
            "AWS_EC2_METADATA_DISABLED": "true",
        }

    def client(self, service: str, key: str = ADMINISTRATOR_KEY) -> Any:
        """A client with this access key; the administrator's are made once."""
        if key != ADMINISTRATOR_KEY:
            return self._made(service, key)
        if service not in self._clients:
            self._clients[service] = self._made(service, key)
        return self._clients[service]

    def _made(self, service: str, key: str) -> Any:
        make: Any = boto3.client
        return make(service, **self._access(key))

    def _access(self, key: str) -> Mapping[str, Any]:
        return {
            "region_name": REGION,
            "endpoint_url": self.url,
            "aws_access_key_id": key,
            "aws_secret_access_key": SECRET,
            "config": Config(retries={"mode": "standard", "total_max_attempts": 2}, read_timeout=30),
        }

    def __enter__(self) -> CloudServer:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, raised: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()
