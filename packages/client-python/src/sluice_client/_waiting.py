"""How long a caller waits for a run."""

from __future__ import annotations

import math
import time

from ._calls import LONGEST_WAIT, Run
from .errors import WaitTimeoutError


class TimeLimit:
    def __init__(self, timeout: float | None) -> None:
        self._until = math.inf if timeout is None else time.monotonic() + timeout

    def seconds(self) -> int:
        """To wait in the next request."""
        left = self._until - time.monotonic()
        return LONGEST_WAIT if left >= LONGEST_WAIT else max(0, math.ceil(left))


def too_long(run: Run) -> WaitTimeoutError:
    return WaitTimeoutError("The run has not ended in the time that was given. It goes on.", run.location)
