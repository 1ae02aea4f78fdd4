"""Asks Sluice over HTTP: `Sluice` blocks, `AsyncSluice` is for asyncio and trio. Over Kafka: `sluice_client.kafka`."""

from . import events, models
from ._async import AsyncSluice
from ._calls import FinishedRun, OngoingRun, Run, RunRef
from ._sync import Sluice
from ._sync_transport import Pages
from ._transport import AsyncPages
from .errors import (
    ConflictError,
    ConnectionFailedError,
    DecisionNotTakenError,
    ForbiddenError,
    InvalidRequestError,
    NotFoundError,
    ProblemError,
    RateLimitedError,
    SluiceError,
    UnauthorizedError,
    UnavailableError,
    WaitTimeoutError,
)
from .events import RunEvent
from .models import AgentRequest

__all__ = [
    "AgentRequest",
    "AsyncPages",
    "AsyncSluice",
    "ConflictError",
    "ConnectionFailedError",
    "DecisionNotTakenError",
    "FinishedRun",
    "ForbiddenError",
    "InvalidRequestError",
    "NotFoundError",
    "OngoingRun",
    "Pages",
    "ProblemError",
    "RateLimitedError",
    "Run",
    "RunEvent",
    "RunRef",
    "Sluice",
    "SluiceError",
    "UnauthorizedError",
    "UnavailableError",
    "WaitTimeoutError",
    "events",
    "models",
]
