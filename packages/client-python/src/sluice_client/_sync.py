"""The client that blocks, written from _async.py by `npm run generate`. Do not edit."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Callable, Mapping
from contextlib import closing
from types import TracebackType
from typing import Any, Generic, Literal, Self, TypeVar, Unpack

import time
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
Token = str | Callable[[], str] | None


class Pages(Generic[T]):
    """A list that is read page by page as it is walked through."""

    def __init__(self, read: Callable[[Any], tuple[list[T], Cursor]]) -> None:
        self._read = read

    def pages(self) -> Iterator[list[T]]:
        cursor: Cursor = None
        while True:
            items, cursor = self._read(cursor)
            yield items
            if cursor is None:
                return

    def __iter__(self) -> Iterator[T]:
        for items in self.pages():
            for item in items:
                yield item

    def take(self, most: int) -> list[T]:
        """The first so many."""
        taken: list[T] = []
        if most > 0:
            for item in self:
                taken.append(item)
                if len(taken) >= most:
                    break
        return taken


class Transport:
    def __init__(self, settings: Settings, token: Token, http: httpx.Client) -> None:
        self.settings = settings
        self._token = token
        self._http = http

    def run(self, call: Call[T]) -> T:
        attempt = 0
        while True:
            attempt += 1
            try:
                response = self._http.request(**self._request(call))
                if response.is_success:
                    return call.read(response)
                raise refusal_of(response)
            except ProblemError as refusal:
                error: Exception = refusal
            except httpx.TransportError as failure:
                error = failure_of(failure, f"{call.method} {call.path}")
            time.sleep(self.settings.policy.delay(attempt, error, repeatable=call.repeatable))

    def lines(self, call: Call[Any], reader: RunReader | ApprovalReader) -> Generator[str]:
        """One attempt, line by line."""
        with self._http.stream(**self._request(call, EVENTS)) as response:
            if not response.is_success:
                response.read()
                raise refusal_of(response)
            reader.connected()
            for line in response.iter_lines():
                yield line

    def _request(self, call: Call[Any], headers: Mapping[str, str] | None = None) -> dict[str, Any]:
        token = self._token() if callable(self._token) else self._token
        return self.settings.request(call, token, headers)


class Runs:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def create(self, request: Request, *, idempotency_key: str | None = None) -> Run:
        """Starts a run and returns at once."""
        return self._transport.run(_calls.start(request, idempotency_key))

    def ask(
        self, request: Request, *, idempotency_key: str | None = None, timeout: float | None = None
    ) -> FinishedRun:
        """Starts a run and waits for its end."""
        limit = TimeLimit(timeout)
        run = self._transport.run(_calls.start(request, idempotency_key).waiting(limit.seconds()))
        return run if isinstance(run, FinishedRun) else self._end(run, limit)

    def get(self, run: RunRef) -> Run:
        """The run as it is now."""
        return self._transport.run(_calls.read_run(run))

    def wait(self, run: RunRef, *, timeout: float | None = None) -> FinishedRun:
        """Waits for the run’s end. Raises WaitTimeoutError where that takes longer than `timeout` seconds; the run goes on."""
        return self._end(run, TimeLimit(timeout))

    def cancel(self, run: RunRef, *, reason: str | None = None, timeout: float = 0) -> Run:
        """Cancels a run of one’s own, by its place or its request_id alone, and returns it as it is then.

        A run that has ended keeps its end. With `timeout` it waits so many seconds for the end.
        """
        limit = TimeLimit(timeout)
        cancelled = self._transport.run(_calls.cancel_run(run, reason).waiting(limit.seconds()))
        if isinstance(cancelled, FinishedRun) or timeout <= LONGEST_WAIT:
            return cancelled
        return self._end(cancelled, limit)

    def list(self, **query: Unpack[models.ListRunsQuery]) -> Pages[models.ListedRun]:
        """The runs of one’s tenant, the newest first."""

        def read(cursor: str | None) -> tuple[list[models.ListedRun], Cursor]:
            page = self._transport.run(_calls.list_runs(query, cursor))
            return page.runs, page.next_cursor

        return Pages(read)

    def stream(self, request: Request, *, idempotency_key: str | None = None) -> Generator[RunEvent]:
        """Starts a run and reports it as it happens.

        Where the connection is cut, the run is read again and goes on behind what was reported, each thing once. Leaving the loop leaves
        the run as it is.
        """
        return self._events(_calls.start(request, idempotency_key), None)

    def follow(self, run: RunRef) -> Generator[RunEvent]:
        """A run that was started before, from its beginning to its end."""
        call = _calls.read_run(run)
        return self._events(call, call.path)

    def _events(self, call: Call[Run], location: str | None) -> Generator[RunEvent]:
        reader = RunReader()
        attempt = 0
        while True:
            attempt += 1
            problem: Exception = ConnectionFailedError("The stream ended before the run did.", location)
            try:
                with closing(self._transport.lines(call, reader)) as lines:
                    for line in lines:
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
            time.sleep(self._transport.settings.policy.delay(max(1, attempt), problem))

    def _end(self, run: RunRef, limit: TimeLimit) -> FinishedRun:
        while True:
            now = self._transport.run(_calls.read_run(run).waiting(limit.seconds()))
            if isinstance(now, FinishedRun):
                return now
            if limit.seconds() == 0:
                raise too_long(now)


class Sessions:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self, *, limit: int | None = None) -> Pages[models.Session]:
        """One’s own sessions, the latest first."""

        def read(before: int | None) -> tuple[list[models.Session], Cursor]:
            page = self._transport.run(_calls.list_sessions(limit, before))
            return page.sessions, page.next_before

        return Pages(read)

    def steps(self, session_id: str, *, limit: int | None = None) -> models.StepList:
        """The steps of one’s runs in a session."""
        return self._transport.run(_calls.list_steps(session_id, limit))


class Approvals:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self, *, limit: int | None = None) -> Pages[models.WaitingApproval]:
        """The calls that wait for one’s decision, the oldest first."""

        def read(cursor: str | None) -> tuple[list[models.WaitingApproval], Cursor]:
            page = self._transport.run(_calls.list_approvals(limit, cursor))
            return page.approvals, page.next_cursor

        return Pages(read)

    def stream(self) -> Generator[models.WaitingApproval]:
        """The calls that wait now, then those that come, each once. A connection that is cut is opened again."""
        call = _calls.follow_approvals()
        reader = ApprovalReader()
        attempt = 0
        while True:
            attempt += 1
            problem: Exception = ConnectionFailedError("The stream ended.", None)
            try:
                with closing(self._transport.lines(call, reader)) as lines:
                    for line in lines:
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
            time.sleep(self._transport.settings.policy.delay(max(1, attempt), problem))

    def decide(
        self,
        approval: models.AskedApproval,
        decision: Literal["approve", "refuse"],
        *,
        reason: str | None = None,
        decided_by: str | None = None,
    ) -> models.PublishedDecision:
        """Decides on a call of the list or of a run’s stream; `approval_outcome` on that stream says whether the decision counts."""
        return self._transport.run(_calls.decide(approval, decision, reason, decided_by))


class Groups:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self) -> models.GroupList:
        """The groups that one may ask for."""
        return self._transport.run(_calls.list_groups())

    def get(self, name: str) -> models.Group:
        return self._transport.run(_calls.read_group(name))

    def recommend(self, question: str) -> models.RecommendationList:
        """Which of these suit a question, best first."""
        return self._transport.run(_calls.recommend_groups(question))


class States:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self) -> models.StateList:
        return self._transport.run(_calls.list_states())

    def diagram(self) -> str:
        """As a Mermaid diagram."""
        return self._transport.run(_calls.draw_states())


class Tools:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self, **query: Unpack[models.ListToolsQuery]) -> models.ToolList:
        """What a run in this state with these groups is offered."""
        return self._transport.run(_calls.list_tools(query))

    def try_toolset(self, request: Request) -> models.TriedToolset:
        """What this request would be offered. Nothing is published, and no run begins."""
        return self._transport.run(_calls.try_toolset(request))


class Audit:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self, **query: Unpack[models.ListAuditQuery]) -> Pages[models.AuditEntry]:
        """The audit of one’s tenant, the newest first."""

        def read(cursor: str | None) -> tuple[list[models.AuditEntry], Cursor]:
            page = self._transport.run(_calls.list_audit(query, cursor))
            return page.entries, page.next_cursor

        return Pages(read)

    def csv(self, **query: Unpack[models.ListAuditQuery]) -> str:
        """A page of it as CSV."""
        return self._transport.run(_calls.audit_csv(query))


class DeadLetters:
    """For operators: what could not be processed."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self, **query: Unpack[models.ListDeadLettersQuery]) -> Pages[models.ListedDeadLetter]:
        def read(cursor: str | None) -> tuple[list[models.ListedDeadLetter], Cursor]:
            page = self._transport.run(_calls.list_dead_letters(query, cursor))
            return page.dead_letters, page.next_cursor

        return Pages(read)

    def get(self, letter: str) -> models.DeadLetter:
        """With what it holds, and what a redrive would do."""
        return self._transport.run(_calls.read_dead_letter(letter))

    def redrive(self, letter: str) -> models.Redriven:
        """Puts the record on the log again, once. Raises ConflictError where that cannot be done or was done before."""
        return self._transport.run(_calls.redrive(letter))


class Sluice:
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
        http: httpx.Client | None = None,
    ) -> None:
        settings = Settings(
            url,
            headers=headers,
            retries=retries,
            longest_retry_after=longest_retry_after,
            timeout=timeout,
            idle=idle,
        )
        self._own = httpx.Client() if http is None else None
        transport = Transport(settings, token, self._own or http or httpx.Client())
        self.runs = Runs(transport)
        self.sessions = Sessions(transport)
        self.approvals = Approvals(transport)
        self.groups = Groups(transport)
        self.states = States(transport)
        self.tools = Tools(transport)
        self.audit = Audit(transport)
        self.dead_letters = DeadLetters(transport)

    def close(self) -> None:
        if self._own is not None:
            self._own.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
