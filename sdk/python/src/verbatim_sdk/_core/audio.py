"""Where the audio of an upload comes from: a path, bytes, or an open file."""

from __future__ import annotations

import io
import os
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Union

if TYPE_CHECKING:
    from collections.abc import Callable

#: Audio to send: a path, the bytes, or a file open for reading in binary mode.
AudioInput = Union[str, "os.PathLike[str]", bytes, bytearray, memoryview, IO[bytes]]

_DEFAULT_NAME = "audio"


@dataclass
class OpenAudio:
    """Audio opened for one attempt: where it is read from, and its size in bytes where it is known."""

    file: IO[bytes]
    size: int | None
    #: Whether the file is closed after the attempt: those that the caller opened are not.
    is_own: bool

    def close(self) -> None:
        """Closes the file if it was opened for this attempt."""
        if self.is_own:
            self.file.close()


@dataclass(frozen=True)
class AudioSource:
    """Audio that can be opened for each attempt of an upload."""

    name: str
    open: Callable[[], OpenAudio]
    #: Whether a second attempt can read the same bytes again.
    is_replayable: bool


def audio_source(audio: AudioInput, filename: str | None = None) -> AudioSource:
    """
    The source of an upload. A path is opened anew for each attempt; an open file is read from its current position, and
    again from there if it can seek.

    Raises TypeError for what is none of these, and for files open in text mode; OSError for a path that cannot be read.
    """
    if isinstance(audio, str) and audio.startswith(("http://", "https://")):
        raise TypeError("A str is the path of a file. Pass audio_url=… for audio that the service fetches.")
    if isinstance(audio, (str, os.PathLike)):
        file = Path(audio)
        # A mistake in the path is an error of this call, not of the connection.
        _open_path(file).close()
        return AudioSource(filename or file.name, lambda: _open_path(file), is_replayable=True)
    if isinstance(audio, (bytes, bytearray, memoryview)):
        content = bytes(audio)
        return AudioSource(filename or _DEFAULT_NAME, lambda: _open_bytes(content), is_replayable=True)
    if not hasattr(audio, "read"):
        raise TypeError(f"Audio is a path, bytes, or a file open in binary mode, not {type(audio).__name__}.")
    if isinstance(audio, io.TextIOBase):
        raise TypeError("The file is open in text mode; open it with 'rb'.")
    return _file_source(audio, filename)


def _open_path(path: Path) -> OpenAudio:
    file = path.open("rb")
    return OpenAudio(file, os.fstat(file.fileno()).st_size, is_own=True)


def _open_bytes(content: bytes) -> OpenAudio:
    return OpenAudio(io.BytesIO(content), len(content), is_own=True)


def _file_source(file: IO[bytes], filename: str | None) -> AudioSource:
    given = getattr(file, "name", None)
    name = filename or (os.path.basename(given) if isinstance(given, str) else "") or _DEFAULT_NAME  # noqa: PTH119
    if not _can_seek(file):
        return AudioSource(name, lambda: OpenAudio(file, None, is_own=False), is_replayable=False)
    start = file.tell()

    def reopen() -> OpenAudio:
        size = file.seek(0, os.SEEK_END) - start
        file.seek(start)
        return OpenAudio(file, size, is_own=False)

    return AudioSource(name, reopen, is_replayable=True)


def _can_seek(file: IO[bytes]) -> bool:
    try:
        return file.seekable()
    except AttributeError:
        return False
