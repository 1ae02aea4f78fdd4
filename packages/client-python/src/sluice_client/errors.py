"""What this client raises."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .models import Problem


class SluiceError(Exception):
    """What this client raises."""


class ProblemError(SluiceError):
    """A refusal: the gateway’s problem of RFC 9457. `code` is one of docs/errors.md, the text says what to change."""

    def __init__(self, problem: Problem, status: int, retry_after: float | None) -> None:
        super().__init__(problem.detail)
        self.problem = problem
        self.status = status
        self.code = problem.code
        #: Seconds that the gateway asks to wait; None where it says nothing.
        self.retry_after = retry_after


class InvalidRequestError(ProblemError):
    """400, 413, 415: the request cannot be read, or is too large."""


class UnauthorizedError(ProblemError):
    """401: the credential is missing or does not hold."""


class ForbiddenError(ProblemError):
    """403: the caller may not ask for this."""


class NotFoundError(ProblemError):
    """404: there is no such thing for this caller."""


class ConflictError(ProblemError):
    """409: the request_id was taken before."""


class DecisionNotTakenError(ProblemError):
    """A decision on an approval that cannot count; `not_taken` says why (docs/approvals.md)."""

    def __init__(self, problem: Problem, status: int, retry_after: float | None) -> None:
        super().__init__(problem, status, retry_after)
        self.not_taken = str(problem.not_taken or "")


class RateLimitedError(ProblemError):
    """429: the caller has made all the requests of a minute, or its tenant has all the open runs that it may (`too_many_runs`)."""


class UnavailableError(ProblemError):
    """502, 503, 504: the gateway is busy, or something that it needs cannot be reached."""


class ConnectionFailedError(SluiceError):
    """The gateway cannot be reached, or the connection was cut. `location` says where the run is, if it has begun."""

    def __init__(self, message: str, location: str | None = None) -> None:
        super().__init__(message)
        self.location = location


class WaitTimeoutError(SluiceError):
    """The run did not end in the time that the caller gave it. It goes on; `location` says where it is."""

    def __init__(self, message: str, location: str) -> None:
        super().__init__(message)
        self.location = location


_BY_STATUS: Mapping[int, type[ProblemError]] = {
    400: InvalidRequestError,
    401: UnauthorizedError,
    403: ForbiddenError,
    404: NotFoundError,
    409: ConflictError,
    413: InvalidRequestError,
    415: InvalidRequestError,
    429: RateLimitedError,
    502: UnavailableError,
    503: UnavailableError,
    504: UnavailableError,
}


def error_of(body: Any, status: int, retry_after: float | None) -> ProblemError:
    """The error of a refusal. A proxy on the way may answer with something that is no problem."""
    given = body if isinstance(body, dict) else {}
    code = str(given.get("code", f"http_{status}"))
    detail = str(given.get("detail", f"The answer had the status {status}."))
    problem = Problem.model_validate(
        {
            "type": "about:blank",
            "title": "Error",
            "status": status,
            "detail": detail,
            "code": code,
            "error": {"code": code, "message": detail},
            **given,
        }
    )
    if code == "decision_not_taken":
        return DecisionNotTakenError(problem, status, retry_after)
    return _BY_STATUS.get(status, ProblemError)(problem, status, retry_after)
