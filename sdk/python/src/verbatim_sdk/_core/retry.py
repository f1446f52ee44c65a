"""Which failures are worth another request, and how long to wait before it."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_RETRYABLE_STATUS = frozenset({408, 429, 500, 502, 503, 504})
_FIRST_DELAY_SECONDS = 0.5
_LONGEST_DELAY_SECONDS = 8.0
_JITTER = 0.25
#: A server that asks for more than this is not waited for: the caller can do so.
LONGEST_RETRY_AFTER_SECONDS = 60.0


def is_retryable(status: int, headers: Mapping[str, str]) -> bool:
    """
    Whether the same request may succeed later.

    Of the conflicts only one does: a request with the same idempotency key is still in progress, which the service
    marks with Retry-After.
    """
    return status in _RETRYABLE_STATUS or (status == 409 and read_retry_after(headers) is not None)


def read_retry_after(headers: Mapping[str, str]) -> float | None:
    """The seconds of Retry-After; None when it is absent, or a date."""
    text = headers.get("retry-after", "")
    return float(text) if text.isascii() and text.isdigit() and len(text) < 10 else None


def delay_seconds(failures: int, retry_after: float | None = None) -> float:
    """
    Seconds before the next request: what the server asks for, else 0.5 s, 1 s, 2 s … 8 s, less up to a quarter of it.

    - `failures` counts those of this call so far, from 1
    """
    if retry_after is not None:
        return retry_after
    longest: float = min(_LONGEST_DELAY_SECONDS, _FIRST_DELAY_SECONDS * 2 ** (failures - 1))
    return longest * (1 - _JITTER * random.random())  # noqa: S311 - no secret


def reconnect_seconds(failures: int) -> float:
    """Seconds before a stream is opened again: 1, 2, 4 … 30 s, less up to a quarter of it."""
    return float(min(30, 2 ** (min(failures, 6) - 1))) * (1 - _JITTER * random.random())  # noqa: S311 - no secret
