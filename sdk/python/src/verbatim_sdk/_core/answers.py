"""From an answer of the service to a value, or to the error that it stands for."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

import httpx

from ..errors import ERROR_CLASSES, ApiConnectionError, ApiError, ApiTimeoutError, UnreadableAnswerError
from .retry import is_retryable, read_retry_after

if TYPE_CHECKING:
    from collections.abc import Mapping

EVENT_STREAM = "text/event-stream"
_PHASES: tuple[tuple[type[httpx.TimeoutException], str], ...] = (
    (httpx.ConnectTimeout, "connect"),
    (httpx.ReadTimeout, "read"),
    (httpx.WriteTimeout, "write"),
    (httpx.PoolTimeout, "pool"),
)


def read_answer(response: httpx.Response) -> Any:
    """
    The JSON object in an answer; None for a 204. Integers of any length keep their digits. Raises
    UnreadableAnswerError.
    """
    if response.status_code == 204:
        return None
    try:
        return _load_object(response.content)
    except (ValueError, RecursionError) as cause:
        raise _unreadable(response, "JSON") from cause


def read_data(text: str) -> Any:
    """The JSON object in a frame of a stream or in a message. Raises ApiConnectionError."""
    try:
        return _load_object(text)
    except (ValueError, RecursionError) as cause:
        raise ApiConnectionError("What came from the service is not JSON: a proxy may have changed it.") from cause


def check_type(response: httpx.Response, accept: str) -> None:
    """Raises UnreadableAnswerError for a web page, and where a stream was asked for, for all but a stream."""
    found = response.headers.get("content-type", "").lower()
    if accept == EVENT_STREAM and not found.startswith(EVENT_STREAM):
        raise _unreadable(response, "a stream of events")
    if found.startswith("text/html"):
        raise _unreadable(response, "what was asked for")


def _unreadable(response: httpx.Response, expected: str) -> UnreadableAnswerError:
    return UnreadableAnswerError(expected, status=response.status_code, headers=response.headers)


def _load_object(text: bytes | str) -> dict[str, Any]:
    value = json.loads(text)
    if not isinstance(value, dict):
        raise ValueError("The JSON is not an object.")
    return value


def error_of_answer(status: int, headers: Mapping[str, str], body: bytes, *, url: str) -> ApiError | ApiConnectionError:
    """
    The error of an answer that is not 2xx. `url` is that of the request.

    A redirect is not followed: the key would go to another address.
    """
    if 300 <= status < 400:
        error = ApiConnectionError(
            f"The server redirects ({status}): use the address of the service itself as base_url."
        )
        error.is_retryable = False
        return error
    content = _object(body)
    described = content.get("error")
    described = described if isinstance(described, dict) else {}
    kind = described.get("type")
    error_class = ERROR_CLASSES.get(kind, ApiError) if isinstance(kind, str) else ApiError
    return error_class(
        str(described.get("message") or f"The server answered {status}."),
        status=status,
        type=kind,
        param=described.get("param"),
        docs=urljoin(url, docs) if isinstance(docs := described.get("docs"), str) else None,
        request_id=content.get("request_id") or headers.get("x-request-id"),
        retry_after=read_retry_after(headers),
        body=content,
        is_retryable=is_retryable(status, headers),
    )


def error_of_transport(error: httpx.RequestError) -> ApiConnectionError:
    """The error of a request without an answer. Its message names no address, which may hold what is private."""
    reason = str(error) or type(error).__name__
    if isinstance(error, httpx.TimeoutException):
        phase = next((name for kind, name in _PHASES if isinstance(error, kind)), "read")
        return ApiTimeoutError(f"No answer in time ({phase}): {reason}", phase=phase)
    return ApiConnectionError(f"No answer from the service: {reason}")


def _object(body: bytes) -> dict[str, Any]:
    try:
        return _load_object(body)
    except (ValueError, RecursionError):
        return {}
