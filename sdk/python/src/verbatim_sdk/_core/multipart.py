"""The multipart form of an upload: its fields, then the audio, without the audio in memory."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any

from .._text import text_of, write_json
from ..errors import VerbatimError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from .audio import AudioSource, OpenAudio

CHUNK_BYTES = 256 * 1024


class Upload:
    """
    A form with one file. The fields go before the file, so that the service can refuse before it has read the audio.

    - `on_progress` gets the part of the audio that was handed over, 0 to 1; with audio of unknown size it is not called
    """

    def __init__(
        self,
        source: AudioSource,
        fields: Mapping[str, Any],
        on_progress: Callable[[float], None] | None = None,
    ) -> None:
        self.source = source
        self._boundary = secrets.token_hex(16)
        self._on_progress = on_progress
        parts = [self._field(name, text) for name, value in fields.items() for text in form_texts(value)]
        parts.append(
            f"--{self._boundary}\r\n"
            f'Content-Disposition: form-data; name="file"; filename="{_escape(source.name)}"\r\n'
            "Content-Type: application/octet-stream\r\n\r\n"
        )
        self.head = "".join(parts).encode("utf-8", "replace")
        self.tail = f"\r\n--{self._boundary}--\r\n".encode()

    @property
    def content_type(self) -> str:
        """The value of Content-Type."""
        return f"multipart/form-data; boundary={self._boundary}"

    def length(self, audio: OpenAudio) -> int | None:
        """The value of Content-Length; None when the size of the audio is not known."""
        return None if audio.size is None else len(self.head) + audio.size + len(self.tail)

    def report(self, audio: OpenAudio, sent: int) -> None:
        """Reports the progress after `sent` bytes of the audio."""
        if self._on_progress is not None and audio.size:
            self._on_progress(sent / audio.size)

    def _field(self, name: str, text: str) -> str:
        return f'--{self._boundary}\r\nContent-Disposition: form-data; name="{_escape(name)}"\r\n\r\n{text}\r\n'


def checked_chunk(chunk: object, audio: OpenAudio, sent: int) -> bytes:
    """
    The next bytes of the audio, empty at its end.

    Raises VerbatimError when the file gives text, or has another size than when it was opened.
    """
    if not isinstance(chunk, bytes):
        raise VerbatimError("The file gives text; open it in binary mode.")
    if audio.size is not None and (sent + len(chunk) > audio.size or (not chunk and sent < audio.size)):
        raise VerbatimError("The size of the file changed while it was sent.")
    return chunk


def form_texts(value: object) -> list[str]:
    """The texts of a form field: none for None, several for a list of words, JSON for objects and lists of objects."""
    if value is None:
        return []
    if isinstance(value, dict):
        return [write_json(value)]
    if isinstance(value, (list, tuple)):
        return (
            [write_json(value)] if any(isinstance(each, dict) for each in value) else [text_of(each) for each in value]
        )
    return [text_of(value)]


def _escape(name: str) -> str:
    """As browsers write names in a form."""
    return name.replace("\r", "%0D").replace("\n", "%0A").replace('"', "%22")
