"""Answers as AWS gives them, in the protocol of the call; the shapes are the service's own."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from xml.sax.saxutils import escape

from botocore.validate import ParamValidator
from moto.core.serialize import get_serializer_class
from werkzeug.wrappers import Response

from infra.local.iam.calls import Call
from infra.local.iam.evaluation import Need

UNKNOWN_KEY = "The security token included in the request is invalid."
_DENIALS = {
    "ec2": ("UnauthorizedOperation", 403),
    "query": ("AccessDenied", 403),
    "json": ("AccessDeniedException", 400),
    "rest-json": ("AccessDeniedException", 403),
}
_DENIALS_OF_SERVICES = {"sns": ("AuthorizationError", 403)}


class WrongAnswerError(Exception):
    """The declared layer answers what the service's model does not know."""


class CallError(Exception):
    """An error of the service, by its code."""

    def __init__(self, code: str, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.status = status


def answer(call: Call, result: Mapping[str, Any]) -> Response:
    """The result of an operation. Raises WrongAnswerError where it has not the operation's shape."""
    shape = call.model.output_shape
    if shape is None:
        return _response(call, {})
    report = ParamValidator().validate(dict(result), shape)
    if report.has_errors():
        raise WrongAnswerError(f"{call.service}:{call.operation}: {report.generate_report()}")
    return _response(call, result)


def denial(call: Call, caller: str, need: Need, why: str) -> Response:
    """The refusal of a call that IAM does not allow."""
    code, status = _DENIALS_OF_SERVICES.get(call.service) or _DENIALS[call.protocol]
    message = f"User: {caller} is not authorized to perform: {need.action} on resource: {need.resource} because {why}"
    return error(call, CallError(code, message, status))


def error(call: Call, raised: CallError) -> Response:
    """moto's own writer warns of every code that a service's model leaves out, and AWS's models leave out denials."""
    headers = {"x-amzn-errortype": raised.code}
    if call.protocol in ("query", "ec2"):
        return Response(_xml(call, raised), status=raised.status, content_type="text/xml")
    body = json.dumps({"__type": raised.code, "message": raised.message})
    return Response(body, status=raised.status, headers=headers, content_type="application/x-amz-json-1.1")


def _xml(call: Call, raised: CallError) -> str:
    said = f"<Error><Type>Sender</Type><Code>{raised.code}</Code><Message>{escape(raised.message)}</Message></Error>"
    if call.protocol == "ec2":
        return f"<Response><Errors>{said}</Errors><RequestID>local</RequestID></Response>"
    return f"<ErrorResponse>{said}<RequestId>local</RequestId></ErrorResponse>"


def _response(call: Call, result: Mapping[str, Any]) -> Response:
    made = get_serializer_class(call.service, call.protocol)(operation_model=call.model).serialize(result)
    return Response(made["body"], status=_status(call, result) or made["status_code"], headers=made["headers"])


def _status(call: Call, result: Mapping[str, Any]) -> int | None:
    """Where the status is a part of the answer, which moto's writer leaves out."""
    members = call.model.output_shape.members if call.model.output_shape is not None else {}
    found = [name for name, member in members.items() if member.serialization.get("location") == "statusCode"]
    return int(result[found[0]]) if found else None
