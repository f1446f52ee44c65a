"""How long to wait for the end of a job, and how."""

from __future__ import annotations

import time

from ..errors import WaitTimeoutError

DEFAULT_WAIT_SECONDS = 4 * 3600.0
#: A stream that was cut so often is given up for asking.
MAX_STREAM_CUTS = 3
CUT_PAUSE_SECONDS = 0.5


class Wait:
    """The time that is left for the end of a job; without end when `seconds` is None."""

    def __init__(self, job_id: str, seconds: float | None) -> None:
        self._job_id = job_id
        self._seconds = seconds
        self._begun_at = time.monotonic()

    def check(self) -> None:
        """Raises WaitTimeoutError when no time is left."""
        if self._seconds is not None and self._left(self._seconds) <= 0:
            raise WaitTimeoutError(self._job_id, self._seconds)

    def at_most(self, seconds: float) -> float:
        """So many seconds, or what is left. Raises WaitTimeoutError."""
        self.check()
        return seconds if self._seconds is None else min(seconds, self._left(self._seconds))

    def _left(self, seconds: float) -> float:
        return self._begun_at + seconds - time.monotonic()


def poll_seconds(polls: int) -> float:
    """Seconds before a job is asked for again: 1 s, growing to 5 s."""
    return min(5.0, 1.5 ** min(polls, 8))
