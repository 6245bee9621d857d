"""The one place where trouble with an API server becomes an error of ours.

Two doors: `refusal` for an answer that says no, `breakdown` for an answer that never came. Nothing of urllib3 or of
the Kubernetes client leaves the adapter but as a `__cause__`.
"""

from __future__ import annotations

import json
import ssl
from dataclasses import dataclass

from urllib3.exceptions import (
    ConnectTimeoutError,
    HTTPError,
    LocationValueError,
    NameResolutionError,
    NewConnectionError,
    ProxyError,
    ReadTimeoutError,
    SSLError,
)

from driftgate.adapters.kubernetes_resources import KARPENTER_GROUPS, Call
from driftgate.domain.errors import (
    AnswerLostError,
    ClusterForbiddenError,
    ClusterUnauthorizedError,
    ClusterUnavailableError,
    DriftgateError,
    KarpenterMissingError,
    NodePoolChangedError,
    NodePoolNotFoundError,
    PatchRejectedError,
    WatchExpiredError,
)
from driftgate.domain.jsonvalue import JsonObject, child, items, mapping, text

_SHOWN = 300
_NEVER_SENT = (NewConnectionError, ConnectTimeoutError, NameResolutionError, ProxyError, LocationValueError)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What came back, not yet looked into. `retry_after_s` is the server's own wish, None where it has none."""

    status: int
    body: bytes
    content_type: str = ""
    retry_after_s: float | None = None


def refusal(call: Call, answer: Answer) -> DriftgateError:
    """What an answer other than 2xx means.

    Source: k8s.io/apimachinery v0.36.3, pkg/api/errors; k8s.io/apiserver v0.36.3, pkg/admission.
    """
    status = _status_of(answer)
    match answer.status:
        case 401:
            return _unauthorized(call, answer, status)
        case 404:
            return _not_found(call, answer, status)
        case 410:
            return WatchExpiredError(f"{call}: the version asked for has expired ({_said(answer, status)})")
        case _ if call.verb == "patch":
            return _refused_patch(call, answer, status)
        case 403:
            return _forbidden(call, answer, status)
    return _unavailable(call, answer, status)


def breakdown(call: Call, error: HTTPError | OSError) -> DriftgateError:
    """What it means that no (whole) answer came. A write that may have reached the server is never called failed."""
    if call.writes and not _was_never_sent(error):
        return AnswerLostError(
            f"{call}: sent, but the answer never came ({_reason(error)}). It may have happened, or may still happen."
        )
    return ClusterUnavailableError(f"{call}: {_reason(error)}")


def nonsense(call: Call, answer: Answer, expected: str) -> DriftgateError:
    """What it means that the answer is not what an API server sends."""
    what = (
        f"{call}: expected {expected}, got {answer.content_type or 'an answer without a content type'}: "
        f"{_beginning(answer.body)!r}. Is a proxy or another service at this address?"
    )
    if call.writes:
        return AnswerLostError(f"{what} The change may have been made.")
    return ClusterUnavailableError(what, status=answer.status)


def _refused_patch(call: Call, answer: Answer, status: JsonObject) -> DriftgateError:
    said = _said(answer, status)
    match answer.status:
        case 409:
            return NodePoolChangedError(f"{call}: somebody else wrote first ({said})")
        case 422 if not _has_causes(status) and not _is_webhook(status):
            return NodePoolChangedError(f"{call}: the NodePool is not as it was read ({said})")
        case 403 if not _has_causes(status) and not _is_webhook(status):
            return _forbidden(call, answer, status)
        case 429:
            return _unavailable(call, answer, status)
        case code if 400 <= code < 500:
            return PatchRejectedError(f"{call}: the API server refused the change ({said})")
        case code if code >= 500 and call.writes:
            return AnswerLostError(f"{call}: the server failed ({said}). The change may have been made.")
    return _unavailable(call, answer, status)


def _unauthorized(call: Call, answer: Answer, status: JsonObject) -> DriftgateError:
    return ClusterUnauthorizedError(
        f"{call}: the API server does not know who we are ({_said(answer, status)}). "
        "Check the user of the kubeconfig context, or the access entry of the role in EKS."
    )


def _forbidden(call: Call, answer: Answer, status: JsonObject) -> DriftgateError:
    resource = call.resource.plural
    return ClusterForbiddenError(
        f"{call}: not allowed ({_said(answer, status)}). "
        f"Grant the verb {call.verb} on {resource}; `driftgate cluster-manifests` prints the ClusterRole.",
        verb=call.verb,
        resource=resource,
    )


def _not_found(call: Call, answer: Answer, status: JsonObject) -> DriftgateError:
    """A missing object is named in the answer's details; a path that is not served has none."""
    if call.name and text(child(status, "details").get("name")) == call.name:
        return NodePoolNotFoundError(f"there is no NodePool {call.name!r} in this cluster")
    api = call.resource.api_version
    if call.resource.group in KARPENTER_GROUPS:
        return KarpenterMissingError(
            f"{call}: the cluster does not serve {api}. Is Karpenter 1.0 or later installed here, "
            "and is this the right cluster?"
        )
    return ClusterUnavailableError(f"{call}: the server does not serve {api} ({_said(answer, status)})", status=404)


def _unavailable(call: Call, answer: Answer, status: JsonObject) -> DriftgateError:
    return ClusterUnavailableError(
        f"{call}: the API server could not answer ({_said(answer, status)})",
        status=answer.status,
        retry_after_s=answer.retry_after_s,
    )


def _status_of(answer: Answer) -> JsonObject:
    """The `Status` object of the answer, empty where the body is none (a proxy's page, for one)."""
    try:
        found = mapping(json.loads(answer.body))
    except ValueError:
        return {}
    return found if found.get("kind") == "Status" else {}


def _said(answer: Answer, status: JsonObject) -> str:
    words = text(status.get("message")) or _beginning(answer.body)
    return f"{answer.status}: {words}" if words else str(answer.status)


def _beginning(body: bytes) -> str:
    shown = " ".join(body[:_SHOWN].decode("utf-8", "replace").split())
    return shown + ("…" if len(body) > _SHOWN else "")


def _has_causes(status: JsonObject) -> bool:
    """Whether the answer says what is wrong: validation and admission policies do, a failed `test` does not."""
    return bool(items(child(status, "details").get("causes")))


def _is_webhook(status: JsonObject) -> bool:
    """Source: k8s.io/apiserver v0.36.3, pkg/admission/plugin/webhook/errors/statuserror.go."""
    return (text(status.get("message")) or "").startswith("admission webhook ")


def _was_never_sent(error: HTTPError | OSError) -> bool:
    """Whether the connection was not even made, or failed before the request: in the TLS handshake."""
    if isinstance(error, SSLError):
        return isinstance(_root_of(error), ssl.SSLCertVerificationError)
    return isinstance(error, _NEVER_SENT)


def _root_of(error: BaseException) -> BaseException:
    inner = error.args[0] if error.args else None
    return _root_of(inner) if isinstance(inner, BaseException) else error


def _reason(error: HTTPError | OSError) -> str:
    root = _root_of(error)
    if isinstance(root, ssl.SSLCertVerificationError):
        return (
            f"the server's certificate is not trusted ({root.verify_message}). "
            "Check certificate-authority-data: is this the CA of this cluster?"
        )
    if isinstance(error, NameResolutionError):
        return f"the server's name cannot be found ({error})"
    if isinstance(error, ConnectTimeoutError) and not isinstance(error, NewConnectionError):
        return "no connection within the time allowed. Is the endpoint private, or blocked from here?"
    if isinstance(error, ReadTimeoutError):
        return "no answer within the time allowed"
    if isinstance(error, NewConnectionError):
        return f"nothing answers at this address ({error})"
    return f"the connection broke ({error})"
