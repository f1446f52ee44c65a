"""What the streams of the service say: of a job, and of the account."""

from __future__ import annotations

import json
import time
from collections import OrderedDict
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, Literal, TypedDict, cast

from .answers import read_data
from .transcribing import Progress

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .. import types

#: The service sends a comment every 15 s: a stream that is silent for longer than two and a half of them is dead.
STREAM_SILENCE_SECONDS = 38.0
_REMEMBERED_ROWS = 10_000
_ENDS = frozenset({"completed", "failed", "canceled"})


class StatusUpdate(TypedDict):
    """A job has another status, or another place in the queue."""

    type: Literal["status"]
    data: types.JobStreamEventsStatus


class ProgressUpdate(TypedDict):
    """More of a job is transcribed."""

    type: Literal["progress"]
    data: types.JobStreamEventsProgress


class SegmentUpdate(TypedDict):
    """A segment is transcribed; an index that came before replaces the earlier segment."""

    type: Literal["segment"]
    data: types.JobStreamEventsSegment


#: What is new about a job.
JobUpdate = StatusUpdate | ProgressUpdate | SegmentUpdate


def has_ended(status: str) -> bool:
    """Whether a job with this status changes no more."""
    return status in _ENDS


def is_end(update: JobUpdate) -> bool:
    """Whether this is the last update of a job."""
    return update["type"] == "status" and has_ended(update["data"]["status"])


def progress_of(update: JobUpdate) -> Progress | None:
    """The progress that an update reports."""
    if update["type"] == "progress":
        return Progress("work", update["data"]["progress"])
    if update["type"] != "status":
        return None
    status = update["data"]["status"]
    if status == "queued":
        return Progress("queue", 0.0, update["data"].get("queue_position"))
    return Progress("work", 1.0) if status == "completed" else None


def updates_of(job: types.Job) -> Iterator[JobUpdate]:
    """A job that was asked for, as its stream would report it; its status last."""
    if job["progress"] > 0:
        yield {"type": "progress", "data": {"progress": job["progress"]}}
    for index, segment in enumerate(job["segments"] or []):
        yield {"type": "segment", "data": cast("types.JobStreamEventsSegment", {"index": index, **segment})}
    status: types.JobStreamEventsStatus = {"id": job["id"], "status": job["status"], "error": job["error"]}
    if "queue_position" in job:
        status["queue_position"] = job["queue_position"]
    yield {"type": "status", "data": status}


class KnownUpdates:
    """What was reported of a job, because each connection begins with all that is known."""

    def __init__(self) -> None:
        self._last: dict[str, str] = {}
        self._progress = -1.0

    def add(self, update: JobUpdate) -> bool:
        """False when the same was reported before, or when the progress is no larger."""
        if update["type"] == "progress":
            is_more = update["data"]["progress"] > self._progress
            self._progress = max(self._progress, update["data"]["progress"])
            return is_more
        name = f"segment {update['data']['index']}" if update["type"] == "segment" else "status"
        text = json.dumps(update["data"], sort_keys=True)
        if self._last.get(name) == text:
            return False
        self._last[name] = text
        return True


@dataclass(frozen=True)
class StreamFrame:
    """
    A frame of the stream of the account.

    - `type`: `hello`, `event`, `resend`, `job`, `delivery`, `gap` or `bye`; later versions may add some
    - `data`: see `AccountStreamEvents` in `verbatim_sdk.types`
    - `resume_id`: where to go on, as `after`, once this frame is handled
    """

    type: str
    data: Any
    resume_id: str


@dataclass(frozen=True)
class StreamedEvent:
    """
    An event as the stream brings it.

    - `body` has the bytes that webhooks are sent, as text; `event` is their content, as `verify_webhook` returns it
    - `resume_id`: where to go on, as `after`, once this event is handled
    - `resent_to`: id of the webhook for which the event was redelivered or recovered; None when it is new
    """

    id: str
    type: types.EventType
    created_at: str
    sha256: str
    body: str
    event: types.AnyEvent
    resume_id: str
    resent_to: str | None


def streamed_event(frame: StreamFrame) -> StreamedEvent | None:
    """The event of a frame; None for a frame without one."""
    if frame.type not in ("event", "resend"):
        return None
    data = frame.data
    return StreamedEvent(
        id=data["id"],
        type=data["type"],
        created_at=data["created_at"],
        sha256=data["sha256"],
        body=data["body"],
        event=read_data(data["body"]),
        resume_id=frame.resume_id,
        resent_to=data.get("webhook_id"),
    )


class StreamPlace:
    """
    Where a stream goes on after a cut. `now` is the start of the call, also when the first connections bring no frame.
    """

    def __init__(self, after: str) -> None:
        #: As `after` of the next connection.
        self.after = after
        self._started = time.monotonic()

    def pin(self, date: str | None) -> None:
        """The service has answered, with this `Date`, or has not answered: from now on `now` is a time."""
        if self.after != "now":
            return
        try:
            now = parsedate_to_datetime(date or "")
        except ValueError:
            now = datetime.now(timezone.utc)
        start = now - timedelta(seconds=time.monotonic() - self._started)
        self.after = start.astimezone(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class KnownRows:
    """
    The rows that the stream of an account has brought: after a cut the service sends those of the last 10 s again.
    """

    def __init__(self) -> None:
        self._seen: OrderedDict[tuple[str, ...], None] = OrderedDict()

    def add(self, frame: StreamFrame) -> bool:
        """False when the frame is one of the last 10,000."""
        key = _row_key(frame.type, frame.data)
        if key is None:
            return True
        if key in self._seen:
            return False
        self._seen[key] = None
        if len(self._seen) > _REMEMBERED_ROWS:
            self._seen.popitem(last=False)
        return True


def _row_key(type: str, data: Any) -> tuple[str, ...] | None:
    """What tells a frame from others; None for those that never come twice."""
    if type in ("event", "delivery"):
        return type, str(data["id"])
    if type == "resend" and "delivery_id" in data:
        return type, str(data["delivery_id"])
    # A job comes each time that its status changes.
    return (type, str(data["id"]), str(data["status"])) if type == "job" else None
