"""The messages of a live session, and what its client has to remember; without I/O."""

from __future__ import annotations

import json
from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypedDict, cast

from .answers import read_data

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Mapping

    from typing_extensions import NotRequired

    from ..types import Job, Word

#: Audio that is kept while the service is away: half an hour at 16 kHz.
BUFFER_BYTES = 64 * 2**20
#: A writer waits while more than this is not acknowledged.
SPACE_BYTES = 2**20
SUBPROTOCOL = "verbatim.live.v1"
# So much is sent ahead of the acknowledgements, which come after a commit.
_AHEAD_BYTES = 2**20
_FIRST_PAUSE_SECONDS = 0.25
_LONGEST_PAUSE_SECONDS = 4.0
#: Close codes after which the job is asked for: it has ended, or will not be continued.
ENDED_CODES = frozenset({1000, 4002, 4004, 4005, 4006, 4010})
#: Another connection has the session: it may be a handshake that this client gave up, and that came late.
REPLACED = 4001
#: Close codes after which another connection would end the same way.
FINAL_CODES: Mapping[int, str] = {
    1002: "The service did not understand the connection.",
    1003: "The service did not understand the audio.",
    1007: "The service did not understand a message.",
    1009: "A frame was too large.",
    REPLACED: "Another connection has the session.",
    4007: "The service did not understand the messages.",
    4009: "The key that began the session has ended.",
}


class LivePartial(TypedDict):
    """The words of the open segment so far; the first `stable` characters do not change any more."""

    type: Literal["partial"]
    index: int
    start: float
    end: float
    text: str
    stable: int


class LiveSegment(TypedDict):
    """A final segment; `seq` counts them from 1. `reason` is `unknown` where only the job tells of it."""

    type: Literal["segment"]
    seq: int
    index: int
    start: float
    end: float
    text: str
    confidence: float | None
    reason: str
    words: NotRequired[list[Word]]


class LiveWarning(TypedDict):
    """`balance_low`, `session_ending`, `segment_failed`, or a code of a later version."""

    type: Literal["warning"]
    code: str
    message: str
    seconds_left: NotRequired[float]
    start: NotRequired[float]
    end: NotRequired[float]


class SpeechStarted(TypedDict):
    """Somebody speaks, from this second of the audio."""

    type: Literal["speech_started"]
    start: float


class AudioLost(TypedDict):
    """
    Bytes that did not fit into the buffer while the service was away, which count as silence; or the last ones, when
    the job ended without them.
    """

    type: Literal["audio_lost"]
    from_byte: int
    to_byte: int


class LiveLimits(TypedDict):
    """Limits of a session, of which the client uses these."""

    frame_bytes: int
    resume_seconds: int


class CreatedSession(TypedDict):
    """The answer to `POST /v1/live`, as far as it is used."""

    id: str
    path: str
    token: str
    limits: LiveLimits


def bytes_per_second(params: Mapping[str, Any]) -> int:
    """Of the audio that a session with these parameters takes."""
    rate: int = params.get("sample_rate", 16_000)
    return rate * (2 if params.get("encoding", "pcm_s16le") == "pcm_s16le" else 1)


class LiveSettings(TypedDict, total=False):
    """How a session connects."""

    on_connection: Callable[[bool], None] | None
    max_buffer_bytes: int
    ssl_context: ssl.SSLContext | None


#: What becomes known about a live session.
LiveUpdate = LivePartial | LiveSegment | LiveWarning | SpeechStarted | AudioLost


def pause_seconds(failures: int, chance: float) -> float:
    """Seconds before the next connection: 0.25, 0.5, 1, 2, 4 s, less up to a quarter. `chance` lies in [0, 1)."""
    longest: float = min(_LONGEST_PAUSE_SECONDS, _FIRST_PAUSE_SECONDS * 2 ** min(failures, 5))
    return longest * (1 - chance / 4)


class LiveAudio:
    """The audio that is not acknowledged, by its offset in bytes; of more than `max_bytes` the oldest is dropped."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._chunks: list[bytes] = []
        self._offsets: list[int] = []
        self.start = 0
        self.end = 0

    def __len__(self) -> int:
        return self.end - self.start

    def push(self, data: bytes) -> bool:
        """Whether older bytes were dropped."""
        if not data:
            return False
        self._chunks.append(data)
        self._offsets.append(self.end)
        self.end += len(data)
        if len(self) <= self._max_bytes:
            return False
        self.drop_to(self.end - self._max_bytes)
        return True

    def drop_to(self, offset: int) -> None:
        """Forgets the bytes before an offset."""
        self.start = max(self.start, min(offset, self.end))
        first = len(self._offsets) if self.start == self.end else bisect_right(self._offsets, self.start) - 1
        del self._chunks[:first], self._offsets[:first]

    def read(self, offset: int, most: int) -> bytes:
        """Bytes from an offset that is kept: at least one where there are any."""
        at = bisect_right(self._offsets, offset) - 1
        if at < 0 or offset >= self.end:
            return b""
        skipped = offset - self._offsets[at]
        return self._chunks[at][skipped : skipped + most]


@dataclass
class Control:
    """Something to say behind the audio before it. `sent_on` is the connection on which it was said last."""

    at: int
    message: dict[str, str]
    answered: Callable[[], None]
    sent_on: int = 0


class LiveState:
    """What is to be sent, and what has come: the same over all connections of a session."""

    def __init__(
        self, max_buffer_bytes: int, frame_bytes: int, bytes_per_second: int, give: Callable[[LiveUpdate], None]
    ) -> None:
        self.audio = LiveAudio(max_buffer_bytes)
        self.last_seq = 0
        #: The service has said where it is, on this connection.
        self.is_greeted = False
        #: Seconds that the service asks to wait before the next connection.
        self.pause = 0.0
        self._give = give
        self._frame_bytes = frame_bytes
        self._bytes_per_second = bytes_per_second
        #: Bytes that were given up, and that the service was told of: they are no part of the job's duration.
        self._gap_bytes = 0
        self._controls: list[Control] = []
        self._connections = 0
        self._sent = 0

    def connecting(self) -> None:
        """Another connection begins."""
        self._connections += 1
        self.is_greeted = False

    def write(self, data: bytes) -> None:
        """Adds audio; after the end of it was said it is ignored."""
        if any(control.message["type"] != "finalize" for control in self._controls):
            return
        before = self.audio.start
        if self.audio.push(data):
            self._give({"type": "audio_lost", "from_byte": before, "to_byte": self.audio.start})

    def send_control(self, message: dict[str, str], answered: Callable[[], None]) -> None:
        """Sends it after the audio that was written before, on each connection until it is answered."""
        self._controls.append(Control(self.audio.end, message, answered))

    def next_frame(self) -> str | bytes | None:
        """What to send now; None when there is nothing, or the service has to acknowledge first."""
        if not self.is_greeted:
            return None
        if self._sent < self.audio.start:
            self._gap_bytes += self.audio.start - self._sent
            self._sent = self.audio.start
            return json.dumps({"type": "gap", "to": self._sent})
        control = next((each for each in self._controls if each.sent_on < self._connections), None)
        if control is not None and control.at <= self._sent:
            control.sent_on = self._connections
            return json.dumps(control.message)
        end = min(self.audio.end if control is None else control.at, self.audio.start + _AHEAD_BYTES)
        data = self.audio.read(self._sent, min(end - self._sent, self._frame_bytes)) if end > self._sent else b""
        self._sent += len(data)
        return data or None

    def received(self, text: str) -> Job | None:
        """Takes a message of the service; the job, when it is the last one."""
        message: Any = read_data(text)
        match message["type"]:
            case "hello":
                self._sent = message["offset"]
                self.is_greeted = True
                self.audio.drop_to(message["offset"])
            case "ack":
                self.audio.drop_to(message["offset"])
            case "segment":
                if message["seq"] > self.last_seq:
                    self.last_seq = message["seq"]
                    self._give(message)
            case "partial" | "speech_started" | "warning":
                self._give(message)
            case "finalized":
                self._answer(lambda each: each.get("id") == message["id"])
            case "going_away":
                self.pause = message["reconnect_after_ms"] / 1000
            case "error":
                self._give({"type": "warning", "code": "invalid_message", "message": message["error"]["message"]})
            case "done":
                job: Job = message["job"]
                return job
        return None

    def end(self, job: Job | None) -> None:
        """Nothing more is said; of the job, what was not received is given."""
        for index, segment in enumerate((job["segments"] or []) if job else []):
            if index >= self.last_seq:
                given = {"type": "segment", "seq": index + 1, "index": index, "reason": "unknown", **segment}
                self._give(cast("LiveSegment", given))
        seconds = job["audio"]["duration_seconds"] if job and job["status"] != "canceled" else None
        if seconds is not None:
            self._give_lost(seconds)
        self._answer(lambda _each: True)

    def _give_lost(self, seconds: float) -> None:
        """The audio that is no part of the job: it ended while the service was away, or with the balance."""
        heard = round(seconds * self._bytes_per_second) + self._gap_bytes
        lost_from = max(self.audio.start, heard)
        # Durations are whole milliseconds.
        if self.audio.end - lost_from > self._bytes_per_second / 1000:
            self._give({"type": "audio_lost", "from_byte": lost_from, "to_byte": self.audio.end})

    def _answer(self, is_answered: Callable[[dict[str, str]], bool]) -> None:
        answered = [control for control in self._controls if is_answered(control.message)]
        self._controls = [control for control in self._controls if control not in answered]
        for control in answered:
            control.answered()
