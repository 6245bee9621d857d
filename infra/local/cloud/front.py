"""What stands before moto: who calls is known by the key, every need is judged, and what succeeded is heard.

A call that cannot be judged (an unknown key, an operation whose needs nobody wrote down) is refused and kept in
`faults`: a hole in this layer must never look like a permission.
"""

from __future__ import annotations

import io
import threading
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from moto.core.request import Request
from werkzeug.exceptions import NotFound
from werkzeug.wrappers import Response

from infra.local.cloud.answering import UNKNOWN_KEY, CallError, answer, denial, error
from infra.local.iam.calls import Call, call_of
from infra.local.iam.evaluation import Authority, Principal, PrincipalKind
from infra.local.iam.needs import Keys, needs_of
from infra.local.iam.record import Record, reason_of

Environ = dict[str, Any]
Application = Callable[[Environ, Any], Iterable[bytes]]
Answer = Callable[[Call], Mapping[str, Any]]
Listener = Callable[[Call, Mapping[str, Any]], None]

ADMINISTRATOR_KEY = "AKIAADMINISTRATOR000"
"""Whoever deploys, watches and plays AWS itself: never judged."""


class Front:
    """The WSGI application. `answers` are given in moto's place; `listeners` hear every call that succeeded.

    `awaited` are paths that take one unsigned PUT, as a presigned address of S3 does.
    """

    def __init__(self, moto: Application, account: str) -> None:
        self._moto = moto
        self._account = account
        self._lock = threading.Lock()
        self.authority = Authority(account, {})
        self.keys: Keys = {}
        self.record = Record()
        self.answers: dict[tuple[str, str], Answer] = {}
        self.listeners: list[Listener] = []
        self.faults: list[str] = []
        self.awaited: dict[str, Callable[[bytes], None]] = {}
        self._roles: dict[str, tuple[str, str]] = {}

    def admit(self, key: str, role_arn: str, session: str) -> None:
        """From now on this key is a session of the role."""
        self._roles[key] = (role_arn, session)

    def __call__(self, environ: Environ, start_response: Any) -> Iterable[bytes]:
        body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        if environ["REQUEST_METHOD"] == "PUT" and environ["PATH_INFO"] in self.awaited:
            self.awaited.pop(environ["PATH_INFO"])(body)
            return Response(status=200)(environ, start_response)
        call = self._call(environ | {"wsgi.input": io.BytesIO(body)})
        if call is None:
            return self._moto(environ | {"wsgi.input": io.BytesIO(body)}, start_response)
        response = self._refusal(call) or self._answer(call, environ | {"wsgi.input": io.BytesIO(body)})
        return response(environ, start_response)

    def _call(self, environ: Environ) -> Call | None:
        try:
            return call_of(Request(environ))
        except NotFound:
            return None

    def _refusal(self, call: Call) -> Response | None:
        """Why not, as AWS says it; None where everything that the call needs is allowed."""
        if call.key == ADMINISTRATOR_KEY:
            return None
        if call.key not in self._roles:
            self._fault(f"{call.service}:{call.operation} with the unknown key {call.key}")
            return error(call, CallError("UnrecognizedClientException", UNKNOWN_KEY, 403))
        role, session = self._roles[call.key]
        try:
            return self._judged(call, Principal(kind=PrincipalKind.ROLE, name=role), session)
        except Exception as unjudged:
            self._fault(str(unjudged))
            return error(call, CallError("AccessDeniedException", str(unjudged)))

    def _judged(self, call: Call, principal: Principal, session: str) -> Response | None:
        for need in needs_of(call, self._account, self.keys):
            decision = self.authority.decide(principal, need)
            self.record.note(principal, need, decision)
            if not decision.is_allowed:
                caller = principal.name.replace(":iam:", ":sts:").replace(":role/", ":assumed-role/")
                return denial(call, f"{caller}/{session}", need, reason_of(decision))
        return None

    def _answer(self, call: Call, environ: Environ) -> Response:
        own = self.answers.get((call.service, call.operation))
        if own is None:
            return self._by_moto(call, environ)
        try:
            result = own(call)
            response = answer(call, result)
        except CallError as raised:
            return error(call, raised)
        self._tell(call, result)
        return response

    def _by_moto(self, call: Call, environ: Environ) -> Response:
        response = Response.from_app(self._moto, environ, buffered=True)
        if response.status_code < 300:
            self._tell(call, {} if not self.listeners else _json(response))
        return response

    def _tell(self, call: Call, result: Mapping[str, Any]) -> None:
        for listener in self.listeners:
            listener(call, result)

    def _fault(self, what: str) -> None:
        with self._lock:
            self.faults.append(what)


def _json(response: Response) -> Mapping[str, Any]:
    """What moto answered, where it answers JSON; listeners ask no others for what they answered."""
    found = response.get_json(force=True, silent=True)
    return found if isinstance(found, dict) else {}
