"""Server-sent events, from bytes to frames."""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from typing import Any

from ..errors import ApiConnectionError
from .answers import read_data

#: The largest frame holds the body of an event, of at most 256 KiB, as a JSON string.
MAX_FRAME_CHARS = 16 * 1024 * 1024


@dataclass(frozen=True)
class Frame:
    """A server-sent event. `event` is `comment` for a comment, which says that the connection lives."""

    event: str
    data: Any
    id: str | None


class SseParser:
    """
    Collects the chunks of one connection.

    Line ends are LF or CRLF, as servers send them; a frame ends with an empty line.
    """

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._text = ""

    def feed(self, chunk: bytes) -> list[Frame]:
        """The frames that this chunk completes. Raises ApiConnectionError for what is not a stream of JSON."""
        try:
            self._text += self._decoder.decode(chunk)
        except ValueError as cause:
            raise ApiConnectionError("The stream is not UTF-8: a proxy may have changed it.") from cause
        *blocks, self._text = self._text.replace("\r\n", "\n").split("\n\n")
        frames = [_read_frame(block) for block in blocks]
        if len(self._text) > MAX_FRAME_CHARS:
            raise ApiConnectionError(f"An event of the stream is longer than {MAX_FRAME_CHARS} characters.")
        return [frame for frame in frames if frame is not None]


def _read_frame(block: str) -> Frame | None:
    event, data, frame_id = "message", [], None
    for line in block.split("\n"):
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "event":
            event = value
        elif name == "data":
            data.append(value)
        elif name == "id":
            frame_id = value
    if data:
        return Frame(event, read_data("\n".join(data)), frame_id)
    return Frame("comment", None, None) if block.startswith(":") else None
