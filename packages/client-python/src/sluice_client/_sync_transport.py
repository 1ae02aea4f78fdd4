"""What the client that blocks sends with, written from _transport.py by `npm run generate`. Do not edit."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Callable, Mapping
from typing import Any, Generic, TypeVar

import time
import httpx

from ._calls import Call, failure_of, refusal_of
from ._reader import ApprovalReader, Lines, RunReader
from ._settings import EVENTS, Settings
from .errors import ProblemError

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
            lines = Lines()
            for text in response.iter_text():
                for line in lines.read(text):
                    yield line

    def _request(self, call: Call[Any], headers: Mapping[str, str] | None = None) -> dict[str, Any]:
        token = self._token() if callable(self._token) else self._token
        return self.settings.request(call, token, headers)
