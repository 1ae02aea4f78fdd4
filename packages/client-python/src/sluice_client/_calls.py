"""The requests that both clients send, without the sending."""

from __future__ import annotations

import random
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from email.utils import parsedate_to_datetime
from typing import Any, Generic, TypeVar
from urllib.parse import quote, urlencode

import httpx
from pydantic import BaseModel, TypeAdapter

from . import models
from .errors import ConnectionFailedError, ProblemError, error_of
from .events import End, RunBegun

T = TypeVar("T")
M = TypeVar("M", bound=BaseModel)

REFUSED_FOR_NOW = (429, 502, 503, 504)
#: Seconds of one request; connections are often cut at a minute.
LONGEST_WAIT = 30
_FIRST_DELAY = 0.25
_LONGEST_DELAY = 8.0


class FinishedRun(models.EndedRun):
    """A run that has ended, and where it is read again."""

    location: str


class OngoingRun(models.RunningRun):
    """A run that has not ended, and where it is read again."""

    location: str


Run = FinishedRun | OngoingRun
#: Where a run is: its location or href, a run that this client gave, or the first event of its stream.
RunRef = str | FinishedRun | OngoingRun | models.ListedRun | RunBegun
Request = models.AgentRequest | Mapping[str, Any]


@dataclass(frozen=True)
class Call(Generic[T]):
    """A request, and what its answer becomes."""

    path: str
    read: Callable[[httpx.Response], T]
    method: str = "GET"
    query: Mapping[str, Any] = field(default_factory=dict)
    body: Any = None
    #: The body as it is, where that is no JSON; a header says its type.
    file: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    #: Seconds that the gateway is asked to wait before it answers.
    wait: int = 0
    #: Whether it does no harm twice, so that it may be sent again where no answer came. Without it only refusals are tried again.
    repeatable: bool = True

    def url(self, base: str) -> str:
        # A parameter that Python takes the name of has an underscore behind it.
        given = {name.removesuffix("_"): _text(value) for name, value in self.query.items() if value is not None}
        return base + self.path + (f"?{urlencode(given, quote_via=quote)}" if given else "")

    def waiting(self, seconds: int) -> Call[T]:
        return replace(self, wait=seconds)


@dataclass(frozen=True)
class Policy:
    """When a request is tried again."""

    retries: int
    longest_retry_after: float

    def delay(self, attempt: int, error: Exception, *, repeatable: bool = True) -> float:
        """Seconds before attempt `attempt` (from 1) after this error; raises the error where there is no use in it."""
        asked: float | None = None
        if isinstance(error, ProblemError):
            asked = error.retry_after
            if error.status not in REFUSED_FOR_NOW:
                raise error
        elif not repeatable:
            raise error
        if attempt > self.retries or (asked or 0) > self.longest_retry_after:
            raise error
        if asked is not None:
            return asked
        return min(_LONGEST_DELAY, _FIRST_DELAY * 2.0 ** (attempt - 1)) * random.uniform(0.5, 1)


def retry_after_of(text: str | None, now: float | None = None) -> float | None:
    """RFC 9110: seconds, or a date."""
    if text is None:
        return None
    if text.isdigit():
        return float(text)
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - (time.time() if now is None else now))
    except ValueError:
        return None


def refusal_of(response: httpx.Response) -> ProblemError:
    """The error of an answer that was read whole."""
    try:
        body = response.json()
    except ValueError:
        body = None
    return error_of(body, response.status_code, retry_after_of(response.headers.get("retry-after")))


def failure_of(error: Exception, what: str, location: str | None = None) -> ConnectionFailedError:
    return ConnectionFailedError(f"{what} got no answer: {error or type(error).__name__}", location)


def refuse_conflict(end: End) -> None:
    """The id is another request’s: on a stream that has begun, only its end can say so."""
    if end.error is not None and end.error.code == "conflict":
        problem = {"code": end.error.code, "detail": end.error.message, "title": "Conflict"}
        raise error_of(problem, 409, None)


def _text(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


def model(kind: type[M]) -> Callable[[httpx.Response], M]:
    return lambda response: kind.model_validate(response.json())


_RUNS: TypeAdapter[Run] = TypeAdapter(FinishedRun | OngoingRun)


def _run(path: str) -> Callable[[httpx.Response], Run]:
    def read(response: httpx.Response) -> Run:
        return _RUNS.validate_python({**response.json(), "location": response.headers.get("location", path)})

    return read


def body_of(request: Request) -> dict[str, Any]:
    """What was given of a request, and nothing else."""
    if isinstance(request, BaseModel):
        return request.model_dump(mode="json", exclude_unset=True)
    content = [one.model_dump(mode="json") if isinstance(one, BaseModel) else one for one in request.get("content") or []]
    return {**request, **({"content": content} if content else {})}


def start(request: Request, key: str | None) -> Call[Run]:
    body = body_of(request)
    if key is None and not body.get("request_id"):
        key = secrets.token_hex(16)
    headers = {} if key is None else {"idempotency-key": key}
    return Call("/v1/runs", _run("/v1/runs"), method="POST", body=body, headers=headers)


def path_of(run: RunRef) -> str:
    """The path of a run from the gateway’s address."""
    match run:
        case FinishedRun() | OngoingRun():
            return run.location
        case models.ListedRun():
            if run.href is None:
                raise ValueError("The run is another caller’s, so it has no href.")
            return run.href
        case RunBegun():
            token = {} if run.token is None else {"token": run.token}
            place = urlencode({"session_id": run.session_id, "since": run.since, **token}, quote_via=quote)
            return f"/v1/runs/{quote(run.request_id, safe='')}?{place}"
        case _ if run.startswith("/"):
            return run
    return f"/v1/runs/{quote(run, safe='')}"


def read_run(run: RunRef) -> Call[Run]:
    path = path_of(run)
    return Call(path, _run(path))


def cancel_run(run: RunRef, reason: str | None) -> Call[Run]:
    path, _, query = path_of(run).partition("?")
    cancel = f"{path}/cancel" + (f"?{query}" if query else "")
    return Call(cancel, _run(path), method="POST", body=None if reason is None else {"reason": reason})


def upload(file: bytes, name: str | None, type_: str | None) -> Call[models.Upload]:
    headers = {"content-type": type_ or "application/octet-stream"}
    return Call("/v1/uploads", model(models.Upload), method="POST", query={"name": name or None}, file=file, headers=headers)


def read_content(request_id: str, hash_: str, query: models.ReadContentQuery) -> Call[bytes]:
    path = f"/v1/runs/{quote(request_id, safe='')}/content/{quote(hash_, safe='')}"
    return Call(path, lambda response: response.content, query={**query}, headers={"accept": "*/*"})


def list_runs(query: models.ListRunsQuery, cursor: str | None) -> Call[models.RunList]:
    return Call("/v1/runs", model(models.RunList), query={**query, "cursor": cursor})


def follow_approvals() -> Call[models.ApprovalList]:
    return Call("/v1/approvals", model(models.ApprovalList))


def decide(
    approval: models.AskedApproval,
    decision: str,
    reason: str | None,
    decided_by: str | None,
    arguments: dict[str, Any] | None,
    decided_for: str | None = None,
) -> Call[models.PublishedDecision]:
    names = ("approval_id", "request_id", "session_id", "arguments_hash", "requested_partition", "requested_offset")
    body = {name: getattr(approval, name) for name in names}
    given = {"reason": reason, "decided_by": decided_by, "decided_for": decided_for, "arguments": arguments}
    body |= {"decision": decision, **{name: value for name, value in given.items() if value is not None}}
    return Call("/v1/approvals", model(models.PublishedDecision), method="POST", body=body)


def read_group(name: str) -> Call[models.Group]:
    return Call(f"/v1/groups/{quote(name)}", model(models.Group))


def draw_states() -> Call[str]:
    return Call("/v1/states", lambda response: response.text, headers={"accept": "text/vnd.mermaid"})


def audit_csv(query: models.ListAuditQuery) -> Call[str]:
    given = {**query, "format": "csv"}
    return Call("/v1/audit", lambda response: response.text, query=given, headers={"accept": "text/csv"})
