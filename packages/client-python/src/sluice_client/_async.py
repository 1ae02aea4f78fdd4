"""The client for asyncio and trio."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from types import TracebackType
from typing import Any, Literal, Self, Unpack

import anyio
import httpx

from . import _calls, models
from ._calls import LONGEST_WAIT, Call, FinishedRun, Request, Run, RunRef, failure_of
from ._reader import ApprovalReader, EndOfStream, RunReader, chunk_in
from ._resources import ApprovalsCalls, AuditCalls, GroupsCalls, Resources, RunsCalls, StatesCalls
from ._settings import Settings
from ._transport import AsyncPages, Cursor, Token, Transport
from ._waiting import TimeLimit, too_long
from .errors import ConflictError, ConnectionFailedError, ProblemError
from .events import End, RunEvent


class Runs(RunsCalls):
    async def create(self, request: Request, *, idempotency_key: str | None = None) -> Run:
        """Starts a run and returns at once."""
        return await self._transport.run(_calls.start(request, idempotency_key))

    async def ask(
        self, request: Request, *, idempotency_key: str | None = None, timeout: float | None = None
    ) -> FinishedRun:
        """Starts a run and waits for its end."""
        limit = TimeLimit(timeout)
        run = await self._transport.run(_calls.start(request, idempotency_key).waiting(limit.seconds()))
        return run if isinstance(run, FinishedRun) else await self._end(run, limit)

    async def get(self, run: RunRef) -> Run:
        """The run as it is now."""
        return await self._transport.run(_calls.read_run(run))

    async def wait(self, run: RunRef, *, timeout: float | None = None) -> FinishedRun:
        """Waits for the run’s end. Raises WaitTimeoutError where that takes longer than `timeout` seconds; the run goes on."""
        return await self._end(run, TimeLimit(timeout))

    async def cancel(self, run: RunRef, *, reason: str | None = None, timeout: float = 0) -> Run:
        """Cancels a run of one’s own, by its place or its request_id alone, and returns it as it is then.

        A run that has ended keeps its end. With `timeout` it waits so many seconds for the end.
        """
        limit = TimeLimit(timeout)
        cancelled = await self._transport.run(_calls.cancel_run(run, reason).waiting(limit.seconds()))
        if isinstance(cancelled, FinishedRun) or timeout <= LONGEST_WAIT:
            return cancelled
        return await self._end(cancelled, limit)

    async def upload(self, file: bytes, *, name: str | None = None, type_: str | None = None) -> models.Upload:
        """Keeps an image or a file for a day, so that a request can name it: put `content` of the result into that of the request.

        Its type is found by its bytes; of text it is `type_`, or what the name ends in.
        """
        return await self._transport.run(_calls.upload(file, name, type_))

    async def content(self, request_id: str, hash_: str, **query: Unpack[models.ReadContentQuery]) -> bytes:
        """What the question or a step of the run names by this hash: an image, a file, a long result."""
        return await self._transport.run(_calls.read_content(request_id, hash_, query))

    def list(self, **query: Unpack[models.ListRunsQuery]) -> AsyncPages[models.ListedRun]:
        """The runs of one’s tenant, the newest first."""

        async def read(cursor: str | None) -> tuple[list[models.ListedRun], Cursor]:
            page = await self._transport.run(_calls.list_runs(query, cursor))
            return page.runs, page.next_cursor

        return AsyncPages(read)

    def stream(self, request: Request, *, idempotency_key: str | None = None) -> AsyncGenerator[RunEvent]:
        """Starts a run and reports it as it happens.

        Where the connection is cut, the run is read again and goes on behind what was reported, each thing once. Leaving the loop leaves
        the run as it is.
        """
        return self._events(_calls.start(request, idempotency_key), None)

    def follow(self, run: RunRef) -> AsyncGenerator[RunEvent]:
        """A run that was started before, from its beginning to its end."""
        call = _calls.read_run(run)
        return self._events(call, call.path)

    async def _events(self, call: Call[Run], location: str | None) -> AsyncGenerator[RunEvent]:
        reader = RunReader()
        attempt = 0
        while True:
            attempt += 1
            problem: Exception = ConnectionFailedError("The stream ended before the run did.", location)
            try:
                async with aclosing(self._transport.lines(call, reader)) as lines:
                    async for line in lines:
                        chunk = chunk_in(line)
                        for event in reader.take(chunk) if chunk is not None else []:
                            if reader.place is not None:
                                call = _calls.read_run(reader.place)
                                location = call.path
                            # A cut is tried again so often until something new comes.
                            attempt = 0
                            if isinstance(event, End):
                                _calls.refuse_conflict(event)
                            yield event
                        if reader.ended:
                            return
            except ConflictError:
                raise
            except ProblemError as refusal:
                problem = refusal
            except EndOfStream:
                pass
            except (httpx.TransportError, ValueError) as failure:
                problem = failure_of(failure, f"{call.method} {call.path}", location)
            await anyio.sleep(self._transport.settings.policy.delay(max(1, attempt), problem))

    async def _end(self, run: RunRef, limit: TimeLimit) -> FinishedRun:
        while True:
            now = await self._transport.run(_calls.read_run(run).waiting(limit.seconds()))
            if isinstance(now, FinishedRun):
                return now
            if limit.seconds() == 0:
                raise too_long(now)


class Approvals(ApprovalsCalls):
    async def stream(self) -> AsyncGenerator[models.WaitingApproval]:
        """The calls that wait now, then those that come, each once. A connection that is cut is opened again."""
        call = _calls.follow_approvals()
        reader = ApprovalReader()
        attempt = 0
        while True:
            attempt += 1
            problem: Exception = ConnectionFailedError("The stream ended.", None)
            try:
                async with aclosing(self._transport.lines(call, reader)) as lines:
                    async for line in lines:
                        chunk = chunk_in(line)
                        for waiting in reader.take(chunk) if chunk is not None else []:
                            # A cut is tried again so often until something new comes.
                            attempt = 0
                            yield waiting
            except ProblemError as refusal:
                problem = refusal
            except EndOfStream:
                pass
            except (httpx.TransportError, ValueError) as failure:
                problem = failure_of(failure, f"{call.method} {call.path}")
            await anyio.sleep(self._transport.settings.policy.delay(max(1, attempt), problem))

    async def decide(
        self,
        approval: models.AskedApproval,
        decision: Literal["approve", "refuse"],
        *,
        reason: str | None = None,
        arguments: dict[str, Any] | None = None,
        decided_by: str | None = None,
        decided_for: str | None = None,
        wait: int = 0,
    ) -> models.PublishedDecision:
        """Decides on a call of the list or of a run’s stream, and waits so many seconds until that is taken.

        `arguments` are what the call is made with in place of its own; secrets that are left out are kept.
        `decided_for` is the person for whom a service decides. Raises DecisionNotTakenError where it cannot count.
        """
        call = _calls.decide(approval, decision, reason, decided_by, arguments, decided_for)
        return await self._transport.run(call.waiting(wait))


class Groups(GroupsCalls):
    async def get(self, name: str) -> models.Group:
        return await self._transport.run(_calls.read_group(name))


class States(StatesCalls):
    async def diagram(self) -> str:
        """As a Mermaid diagram."""
        return await self._transport.run(_calls.draw_states())


class Audit(AuditCalls):
    async def csv(self, **query: Unpack[models.ListAuditQuery]) -> str:
        """A page of it as CSV."""
        return await self._transport.run(_calls.audit_csv(query))


class AsyncSluice(Resources):
    """A gateway of Sluice, asked over HTTP. `http` is a client of httpx in place of one of its own."""

    def __init__(
        self,
        url: str,
        *,
        token: Token = None,
        headers: Mapping[str, str] | None = None,
        retries: int = 12,
        longest_retry_after: float = 60,
        timeout: float = 30,
        idle: float = 45,
        http: httpx.AsyncClient | None = None,
    ) -> None:
        settings = Settings(
            url,
            headers=headers,
            retries=retries,
            longest_retry_after=longest_retry_after,
            timeout=timeout,
            idle=idle,
        )
        self._own = httpx.AsyncClient() if http is None else None
        transport = Transport(settings, token, self._own or http or httpx.AsyncClient())
        super().__init__(transport)
        self.runs = Runs(transport)
        self.approvals = Approvals(transport)
        self.groups = Groups(transport)
        self.states = States(transport)
        self.audit = Audit(transport)

    async def close(self) -> None:
        if self._own is not None:
            await self._own.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
