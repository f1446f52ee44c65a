# Made from ../_async by `node scripts/docs.ts`; do not edit.
"""Sends requests, again where a failure may pass, and gives answers or errors."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar, cast

import httpx

from .._core.answers import EVENT_STREAM, check_type, error_of_answer, error_of_transport, read_answer
from .._core.call import Call
from .._core.following import STREAM_SILENCE_SECONDS
from .._core.multipart import CHUNK_BYTES, checked_chunk
from .._core.sse import SseParser
from ..errors import VerbatimError
from .io import run_blocking, sleep

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Callable

    from .._core.audio import OpenAudio
    from .._core.multipart import Upload
    from .._core.request import Request
    from .._core.settings import RequestOptions, Settings
    from .._core.sse import Frame

Answer = TypeVar("Answer")
Result = TypeVar("Result")


class Transport:
    """The connections of a client, and the rules by which its requests are sent."""

    def __init__(self, settings: Settings, http: httpx.Client) -> None:
        self.settings = settings
        self.http = http

    def json(self, request: Request[Answer], options: RequestOptions | None = None) -> Answer:
        """The JSON of the answer; None for a 204."""
        call = Call(self.settings, request, options)
        return cast("Answer", self._run(call, read_answer))

    def fetch_bytes(self, request: Request[Any], options: RequestOptions | None = None) -> bytes:
        """The body of the answer."""
        with self.stream(request, options) as response:
            return response.content

    @contextmanager
    def stream(
        self, request: Request[Any], options: RequestOptions | None = None, *, is_read: bool = True
    ) -> Iterator[httpx.Response]:
        """
        An answer of 2xx, closed at the end of the block.

        - `is_read`: its body is read here, under the rules of retries; else by the caller
        """
        response = self._run(Call(self.settings, request, options), lambda answer: answer, is_read=is_read)
        try:
            yield response
        finally:
            response.close()

    def frames(
        self,
        request: Request[Any],
        options: RequestOptions | None = None,
        *,
        silence: float = STREAM_SILENCE_SECONDS,
        on_open: Callable[[httpx.Headers], None] = lambda _headers: None,
    ) -> Generator[Frame, None, None]:
        """
        The server-sent events of one connection, comments included, until it ends or is cut.

        The opening is not repeated here: those who follow a stream open it again under rules of their own.

        - `on_open`: called with the headers of the answer, before its first frame
        - `silence`: seconds without a byte after which the connection counts as dead
        """
        opening: RequestOptions = {**(options or {}), "timeout": silence, "max_retries": 0}
        parser = SseParser()
        with self.stream(replace(request, accept=EVENT_STREAM), opening, is_read=False) as response:
            on_open(response.headers)
            try:
                for chunk in response.iter_bytes():
                    for frame in parser.feed(chunk):
                        yield frame
            except httpx.RequestError as error:
                raise error_of_transport(error) from error

    def _run(self, call: Call, read: Callable[[httpx.Response], Result], *, is_read: bool = True) -> Result:
        """What `read` makes of the 2xx that answers one of the attempts. Raises VerbatimError."""
        while True:
            try:
                return read(self._attempt(call, is_read))
            except VerbatimError as error:
                if call.was_done_before(error):
                    return read(httpx.Response(204))
                delay = call.delay_after(error)
            sleep(delay)

    def _attempt(self, call: Call, is_read: bool) -> httpx.Response:
        upload = call.request.upload
        if upload is None:
            return self._send(call, call.request.json_bytes(), {"Content-Type": "application/json"}, is_read)
        audio = run_blocking(upload.source.open)
        try:
            length = upload.length(audio)
            headers = {"Content-Type": upload.content_type} | (
                {} if length is None else {"Content-Length": str(length)}
            )
            return self._send(call, _form(upload, audio), headers, is_read)
        finally:
            audio.close()

    def _send(
        self, call: Call, content: bytes | Iterator[bytes] | None, headers: dict[str, str], is_read: bool
    ) -> httpx.Response:
        request = self.http.build_request(
            call.request.method,
            call.url,
            content=content,
            headers=call.headers() | (headers if content is not None else {}),
            timeout=call.settings.timeout,
        )
        try:
            response = self.http.send(request, stream=True, follow_redirects=False)
            try:
                if is_read or not response.is_success:
                    response.read()
            except BaseException:
                response.close()
                raise
        except httpx.RequestError as error:
            raise error_of_transport(error) from error
        if not response.is_success:
            response.close()
            raise error_of_answer(response.status_code, response.headers, response.content, url=str(response.url))
        try:
            check_type(response, call.request.accept)
        except VerbatimError:
            response.close()
            raise
        return response


def _form(upload: Upload, audio: OpenAudio) -> Iterator[bytes]:
    """The bytes of the form, with one chunk of the audio in memory at a time."""
    yield upload.head
    sent = 0
    while chunk := checked_chunk(run_blocking(audio.file.read, CHUNK_BYTES), audio, sent):
        sent += len(chunk)
        yield chunk
        upload.report(audio, sent)
    yield upload.tail
