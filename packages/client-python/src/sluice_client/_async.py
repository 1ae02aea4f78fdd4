"""The client for asyncio and trio."""

from __future__ import annotations

import inspect  # async only
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import aclosing
from types import TracebackType
from typing import Any, Generic, Literal, Self, TypeVar, Unpack

import anyio
import httpx

from . import _calls, models
from ._calls import LONGEST_WAIT, Call, FinishedRun, Request, Run, RunRef, failure_of, refusal_of
from ._reader import ApprovalReader, EndOfStream, RunReader, chunk_in
from ._settings import EVENTS, Settings
from ._waiting import TimeLimit, too_long
from .errors import ConflictError, ConnectionFailedError, ProblemError
from .events import End, RunEvent

T = TypeVar("T")
Cursor = str | int | None
Token = str | Callable[[], str | Awaitable[str]] | None


class AsyncPages(Generic[T]):
    """A list that is read page by page as it is walked through."""

    def __init__(self, read: Callable[[Any], Awaitable[tuple[list[T], Cursor]]]) -> None:
        self._read = read

    async def pages(self) -> AsyncIterator[list[T]]:
        cursor: Cursor = None
        while True:
            items, cursor = await self._read(cursor)
            yield items
            if cursor is None:
                return

    async def __aiter__(self) -> AsyncIterator[T]:
        async for items in self.pages():
            for item in items:
                yield item

    async def take(self, most: int) -> list[T]:
        """The first so many."""
        taken: list[T] = []
        if most > 0:
            async for item in self:
                taken.append(item)
                if len(taken) >= most:
                    break
        return taken


class Transport:
    def __init__(self, settings: Settings, token: Token, http: httpx.AsyncClient) -> None:
        self.settings = settings
        self._token = token
        self._http = http

    async def run(self, call: Call[T]) -> T:
        attempt = 0
        while True:
            attempt += 1
            try:
                response = await self._http.request(**await self._request(call))
                if response.is_success:
                    return call.read(response)
                raise refusal_of(response)
            except ProblemError as refusal:
                error: Exception = refusal
            except httpx.TransportError as failure:
                error = failure_of(failure, f"{call.method} {call.path}")
            await anyio.sleep(self.settings.policy.delay(attempt, error, repeatable=call.repeatable))

    async def lines(self, call: Call[Any], reader: RunReader | ApprovalReader) -> AsyncGenerator[str]:
        """One attempt, line by line."""
        async with self._http.stream(**await self._request(call, EVENTS)) as response:
            if not response.is_success:
                await response.aread()
                raise refusal_of(response)
            reader.connected()
            async for line in response.aiter_lines():
                yield line

    async def _request(self, call: Call[Any], headers: Mapping[str, str] | None = None) -> dict[str, Any]:
        token = self._token() if callable(self._token) else self._token
        if inspect.isawaitable(token):  # async only
            token = await token  # async only
        return self.settings.request(call, token, headers)


class Runs:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

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


class Sessions:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self, *, limit: int | None = None) -> AsyncPages[models.Session]:
        """One’s own sessions, the latest first."""

        async def read(before: int | None) -> tuple[list[models.Session], Cursor]:
            page = await self._transport.run(_calls.list_sessions(limit, before))
            return page.sessions, page.next_before

        return AsyncPages(read)

    async def steps(self, session_id: str, *, limit: int | None = None) -> models.StepList:
        """The steps of one’s runs in a session."""
        return await self._transport.run(_calls.list_steps(session_id, limit))


class Approvals:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self, *, limit: int | None = None) -> AsyncPages[models.WaitingApproval]:
        """The calls that wait for one’s decision, the oldest first."""

        async def read(cursor: str | None) -> tuple[list[models.WaitingApproval], Cursor]:
            page = await self._transport.run(_calls.list_approvals(limit, cursor))
            return page.approvals, page.next_cursor

        return AsyncPages(read)

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
        decided_by: str | None = None,
    ) -> models.PublishedDecision:
        """Decides on a call of the list or of a run’s stream; `approval_outcome` on that stream says whether the decision counts."""
        return await self._transport.run(_calls.decide(approval, decision, reason, decided_by))


class Groups:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def list(self) -> models.GroupList:
        """The groups that one may ask for."""
        return await self._transport.run(_calls.list_groups())

    async def get(self, name: str) -> models.Group:
        return await self._transport.run(_calls.read_group(name))

    async def recommend(self, question: str) -> models.RecommendationList:
        """Which of these suit a question, best first."""
        return await self._transport.run(_calls.recommend_groups(question))


class States:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def list(self) -> models.StateList:
        return await self._transport.run(_calls.list_states())

    async def diagram(self) -> str:
        """As a Mermaid diagram."""
        return await self._transport.run(_calls.draw_states())


class Tools:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def list(self, **query: Unpack[models.ListToolsQuery]) -> models.ToolList:
        """What a run in this state with these groups is offered."""
        return await self._transport.run(_calls.list_tools(query))

    async def try_toolset(self, request: Request) -> models.TriedToolset:
        """What this request would be offered. Nothing is published, and no run begins."""
        return await self._transport.run(_calls.try_toolset(request))


class Audit:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self, **query: Unpack[models.ListAuditQuery]) -> AsyncPages[models.AuditEntry]:
        """The audit of one’s tenant, the newest first."""

        async def read(cursor: str | None) -> tuple[list[models.AuditEntry], Cursor]:
            page = await self._transport.run(_calls.list_audit(query, cursor))
            return page.entries, page.next_cursor

        return AsyncPages(read)

    async def csv(self, **query: Unpack[models.ListAuditQuery]) -> str:
        """A page of it as CSV."""
        return await self._transport.run(_calls.audit_csv(query))


class DeadLetters:
    """For operators: what could not be processed."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self, **query: Unpack[models.ListDeadLettersQuery]) -> AsyncPages[models.ListedDeadLetter]:
        async def read(cursor: str | None) -> tuple[list[models.ListedDeadLetter], Cursor]:
            page = await self._transport.run(_calls.list_dead_letters(query, cursor))
            return page.dead_letters, page.next_cursor

        return AsyncPages(read)

    async def get(self, letter: str) -> models.DeadLetter:
        """With what it holds, and what a redrive would do."""
        return await self._transport.run(_calls.read_dead_letter(letter))

    async def redrive(self, letter: str) -> models.Redriven:
        """Puts the record on the log again, once. Raises ConflictError where that cannot be done or was done before."""
        return await self._transport.run(_calls.redrive(letter))


class AsyncSluice:
    """A gateway of Sluice, asked over HTTP. `http` is a client of httpx in place of one of its own."""

    def __init__(
        self,
        url: str,
        *,
        token: Token = None,
        headers: Mapping[str, str] | None = None,
        retries: int = 4,
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
        self.runs = Runs(transport)
        self.sessions = Sessions(transport)
        self.approvals = Approvals(transport)
        self.groups = Groups(transport)
        self.states = States(transport)
        self.tools = Tools(transport)
        self.audit = Audit(transport)
        self.dead_letters = DeadLetters(transport)

    async def close(self) -> None:
        if self._own is not None:
            await self._own.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
