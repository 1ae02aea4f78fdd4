"""What the client for asyncio and trio sends with."""

from __future__ import annotations

import inspect  # async only
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from typing import Any, Generic, TypeVar

import anyio
import httpx

from ._calls import Call, failure_of, refusal_of
from ._reader import ApprovalReader, Lines, RunReader
from ._settings import EVENTS, Settings
from .errors import ProblemError

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
            lines = Lines()
            async for text in response.aiter_text():
                for line in lines.read(text):
                    yield line

    async def _request(self, call: Call[Any], headers: Mapping[str, str] | None = None) -> dict[str, Any]:
        token = self._token() if callable(self._token) else self._token
        if inspect.isawaitable(token):  # async only
            token = await token  # async only
        return self.settings.request(call, token, headers)
