"""Follows streams over cuts of their connections."""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from .._core.following import (
    STREAM_SILENCE_SECONDS,
    KnownRows,
    KnownUpdates,
    StreamFrame,
    StreamPlace,
    has_ended,
    is_end,
    updates_of,
)
from .._core.request import get
from .._core.retry import reconnect_seconds
from .._core.waiting import CUT_PAUSE_SECONDS, MAX_STREAM_CUTS, poll_seconds
from ..errors import ApiError, VerbatimError
from .io import sleep

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from .._core.following import JobUpdate
    from .._core.request import Request
    from .._core.settings import RequestOptions
    from .._core.waiting import Wait
    from ..types import Job
    from .transport import AsyncTransport


async def follow_job(
    transport: AsyncTransport, job_id: str, wait: Wait, options: RequestOptions | None
) -> AsyncGenerator[JobUpdate, None]:
    """
    What becomes known about a job until it ends, each piece once: from its event stream, and after three cuts of it by
    asking for the job every 1 to 5 s. Raises WaitTimeoutError.
    """
    known = KnownUpdates()
    for _ in range(MAX_STREAM_CUTS):
        try:
            async with aclosing(_job_stream(transport, job_id, wait, options)) as updates:
                async for update in updates:
                    if known.add(update):
                        yield update
                    if is_end(update):
                        return
        except VerbatimError as error:
            if not error.is_retryable:
                raise
        await sleep(wait.at_most(CUT_PAUSE_SECONDS))
    polls = 0
    while True:
        job = await _job_if_answered(transport, job_id, options)
        for update in updates_of(job) if job else ():
            if known.add(update):
                yield update
        if job is not None and has_ended(job["status"]):
            return
        await sleep(wait.at_most(poll_seconds(polls)))
        polls += 1


async def follow_account(
    transport: AsyncTransport, query: dict[str, Any], after: str, options: RequestOptions | None
) -> AsyncGenerator[StreamFrame, None]:
    """
    The frames of the stream of the account, for ever: it is opened again after each cut, from where it was.

    They come at least once; what comes again is left out when it is one of the last 10,000. Raises what another attempt
    would not change, such as UnauthenticatedError when the key is revoked.
    """
    known = KnownRows()
    place = StreamPlace(after)
    failures = 0
    while True:
        failures += 1
        retry_after = 0.0
        request: Request[Any] = get("/v1/stream", **query, after=place.after)
        try:
            opened = transport.frames(request, options, on_open=lambda headers: place.pin(headers.get("date")))
            async with aclosing(opened) as frames:
                async for received in frames:
                    failures = 1
                    if received.event == "comment":
                        continue
                    frame = StreamFrame(received.event, received.data, received.id or place.after)
                    if known.add(frame):
                        yield frame
                    # The consumer has taken the frame.
                    place.after = frame.resume_id
        except VerbatimError as error:
            if not error.is_retryable:
                raise
            retry_after = (error.retry_after or 0.0) if isinstance(error, ApiError) else 0.0
        place.pin(None)
        await sleep(max(retry_after, reconnect_seconds(failures)))


async def _job_stream(
    transport: AsyncTransport, job_id: str, wait: Wait, options: RequestOptions | None
) -> AsyncGenerator[JobUpdate, None]:
    request: Request[Any] = get("/v1/jobs/{}/events", job_id)
    async with aclosing(transport.frames(request, options, silence=wait.at_most(STREAM_SILENCE_SECONDS))) as frames:
        async for frame in frames:
            # Comments too: they come when nothing else does.
            wait.check()
            if frame.event in ("status", "progress", "segment"):
                yield {"type": frame.event, "data": frame.data}  # type: ignore[misc]


async def _job_if_answered(transport: AsyncTransport, job_id: str, options: RequestOptions | None) -> Job | None:
    request: Request[Job] = get("/v1/jobs/{}", job_id)
    try:
        return await transport.json(request, options)
    except VerbatimError as error:
        if error.is_retryable:
            return None
        raise
