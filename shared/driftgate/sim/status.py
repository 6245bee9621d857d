"""What the API server answers when it says no, in the real server's words.

Source: k8s.io/apimachinery v0.36.3, pkg/api/errors; k8s.io/apiserver v0.36.3, responsewriters and storage errors.
"""

from __future__ import annotations

from driftgate.sim.kinds import Kind
from driftgate.sim.objects import JsonDict

EXPIRED_CONTINUE = (
    "The provided continue parameter is too old to display a consistent list result. You can start a new "
    "list without the continue parameter, or use the continue token in this response to retrieve the "
    "remainder of the results. Continuing with the provided token results in an inconsistent list - objects "
    "that were created, modified, or deleted between the time the first chunk was returned and now may show "
    "up in the list."
)


class ApiError(Exception):
    """An answer of 400 or more."""

    def __init__(self, code: int, reason: str, message: str, details: JsonDict | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason
        self.message = message
        self.details = details

    def to_status(self) -> JsonDict:
        """The body: a `Status` of `v1`."""
        body: JsonDict = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure"}
        body["message"] = self.message
        if self.reason:
            body["reason"] = self.reason
        if self.details is not None:
            body["details"] = self.details
        return body | {"code": self.code}


def _about(kind: Kind, name: str) -> JsonDict:
    details: JsonDict = {"name": name} if name else {}
    if kind.group:
        details["group"] = kind.group
    return details | {"kind": kind.plural}


def unauthorized() -> ApiError:
    return ApiError(401, "Unauthorized", "Unauthorized")


def not_found(kind: Kind, name: str) -> ApiError:
    return ApiError(404, "NotFound", f'{kind.resource} "{name}" not found', _about(kind, name))


def already_exists(kind: Kind, name: str) -> ApiError:
    return ApiError(409, "AlreadyExists", f'{kind.resource} "{name}" already exists', _about(kind, name))


def conflict(kind: Kind, name: str) -> ApiError:
    message = (
        f'Operation cannot be fulfilled on {kind.resource} "{name}": the object has been modified; '
        "please apply your changes to the latest version and try again"
    )
    return ApiError(409, "Conflict", message, _about(kind, name))


def precondition_failed() -> ApiError:
    """A `test` of a JSON patch did not hold, or an operation found no place: it does not say which."""
    return ApiError(422, "Invalid", "the server rejected our request due to an error in our request", {})


def bad_request(message: str) -> ApiError:
    return ApiError(400, "BadRequest", message)


def expired(message: str) -> ApiError:
    return ApiError(410, "Expired", message)


def watch_expired(version: int, oldest: int) -> ApiError:
    return expired(f"too old resource version: {version} ({oldest})")


def method_not_allowed() -> ApiError:
    message = "the server does not allow this method on the requested resource"
    return ApiError(405, "MethodNotAllowed", message, {})


def unsupported_media_type(accepted: tuple[str, ...]) -> ApiError:
    message = "the body of the request was in an unknown format - accepted media types include: "
    return ApiError(415, "UnsupportedMediaType", message + ", ".join(accepted))


def forbidden(kind: Kind, name: str, denial: str) -> ApiError:
    subject = f'{kind.resource} "{name}"' if name else kind.resource
    return ApiError(403, "Forbidden", f"{subject} is forbidden: {denial}", _about(kind, name))


def invalid(kind: Kind, name: str, causes: list[JsonDict]) -> ApiError:
    """Validation said no. Each cause has reason, message and field, as the real server's."""
    shown = [f"{cause['field']}: {cause['message']}" for cause in causes]
    text = shown[0] if len(shown) == 1 else "[" + ", ".join(shown) + "]"
    details: JsonDict = {"name": name, "group": kind.group, "kind": kind.kind, "causes": causes}
    return ApiError(422, "Invalid", f'{kind.kind}.{kind.group} "{name}" is invalid: {text}', details)


def fault(code: int, words: str = "") -> ApiError:
    """An answer a test asked for: 429 and 5xx as the server in trouble gives them, or with words of its own."""
    reason, message = _TROUBLE.get(code, ("InternalError", "Internal error occurred: asked for by a test"))
    details: JsonDict | None = {"retryAfterSeconds": 1} if code in (429, 503) else None
    return ApiError(code, reason, words or message, details)


_TROUBLE = {
    400: ("BadRequest", "the server rejected our request for an unknown reason"),
    401: ("Unauthorized", "Unauthorized"),
    403: ("Forbidden", "forbidden: asked for by a test"),
    404: ("NotFound", "the server could not find the requested resource"),
    409: ("Conflict", "the server reported a conflict"),
    410: ("Expired", EXPIRED_CONTINUE),
    422: ("Invalid", "the server rejected our request due to an error in our request"),
    429: ("TooManyRequests", "storage is (re)initializing"),
    503: ("ServiceUnavailable", "the server is currently unable to handle the request"),
    504: ("Timeout", "Timeout: request did not complete within the allotted timeout"),
}


def too_large_version(asked: int, current: int) -> ApiError:
    cause: JsonDict = {"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}
    details: JsonDict = {"causes": [cause], "retryAfterSeconds": 1}
    message = f"Timeout: Too large resource version: {asked}, current: {current}"
    return ApiError(504, "Timeout", message, details)


def invalid_dry_run(asked: str, options: str) -> ApiError:
    said = f'Unsupported value: ["{asked}"]: supported values: "All"'
    cause: JsonDict = {"reason": "FieldValueNotSupported", "message": said, "field": "dryRun"}
    details: JsonDict = {"group": "meta.k8s.io", "kind": options, "causes": [cause]}
    return ApiError(422, "Invalid", f'{options}.meta.k8s.io "" is invalid: dryRun: {said}', details)
