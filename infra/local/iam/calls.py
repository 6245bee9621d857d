"""A request to AWS as a call: which operation of which service, with which parameters, by whose key.

Routing and parsing are moto's, by the services' own models.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from moto.core.model import OperationModel
from moto.core.parse import PROTOCOL_PARSERS
from moto.core.request import Request, determine_request_protocol
from moto.core.routing import get_service_router
from moto.core.utils import get_service_model

_SIGNED = re.compile(r"Credential=([^/]+)/[0-9]{8}/([^/]+)/([^/]+)/aws4_request")
_BY_SIGNING_NAME = {"monitoring": "cloudwatch"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call. `service` is as IAM and the client spell it, `operation` as in the service's model."""

    key: str
    region: str
    service: str
    operation: str
    params: Mapping[str, Any]
    model: OperationModel
    protocol: str


def call_of(request: Request) -> Call | None:
    """The call in a signed request; None where nothing is signed, or the service has no such operation."""
    signed = _SIGNED.search(request.headers.get("Authorization", ""))
    if signed is None:
        return None
    key, region, signing_name = signed.groups()
    service = _BY_SIGNING_NAME.get(signing_name, signing_name)
    model, in_path = get_service_router(service).match(request)
    protocol = determine_request_protocol(get_service_model(service), request.content_type)
    return Call(
        key=key,
        region=region,
        service=service,
        operation=model.name,
        params=_parsed(request, model, protocol, in_path),
        model=model,
        protocol=protocol,
    )


def _parsed(request: Request, model: OperationModel, protocol: str, in_path: dict[str, Any]) -> Mapping[str, Any]:
    found: Mapping[str, Any] = PROTOCOL_PARSERS[protocol](model).parse(
        {
            "method": request.method,
            "values": request.values,
            "headers": request.headers,
            "body": request.data,
            "url_path": request.path,
            "url_params": in_path,
        }
    )
    return found
