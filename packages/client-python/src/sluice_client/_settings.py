"""How a client is set up, whichever way it waits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import httpx

from ._calls import Call, Policy

EVENTS = {"accept": "text/event-stream"}


class Settings:
    def __init__(
        self,
        url: str,
        *,
        headers: Mapping[str, str] | None,
        retries: int,
        longest_retry_after: float,
        timeout: float,
        idle: float,
    ) -> None:
        if not url.startswith(("http://", "https://")):
            raise ValueError("url must begin with http:// or https://.")
        self.base = url.rstrip("/")
        self.policy = Policy(retries, longest_retry_after)
        self.idle = idle
        self._headers = dict(headers or {})
        self._timeout = timeout

    def request(self, call: Call[Any], token: str | None, headers: Mapping[str, str] | None = None) -> dict[str, Any]:
        """The arguments of httpx; a stream is silent for `idle` seconds at most."""
        sent = {"accept": "application/json"}
        if token is not None:
            sent["authorization"] = f"Bearer {token}"
        if call.wait > 0:
            sent["prefer"] = f"wait={call.wait}"
        sent |= {**self._headers, **call.headers, **(headers or {})}
        read = self.idle if headers is EVENTS else self._timeout + call.wait
        return {
            "method": call.method,
            "url": call.url(self.base),
            "headers": sent,
            "timeout": httpx.Timeout(self._timeout, read=read),
            **({} if call.body is None else {"json": call.body}),
            **({} if call.file is None else {"content": call.file}),
        }
