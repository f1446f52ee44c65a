from __future__ import annotations

import email.parser
import email.policy
import io
import os
import subprocess
import sys
from functools import partial
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from conftest import answers, error, run_python

from verbatim_sdk import Progress, UnavailableError, VerbatimError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import Either

    MakeEither = Callable[..., Either]

JOB = httpx.Response(202, json={"id": "job_1", "status": "queued"})
BUSY = error(503, "unavailable")
CONTENT = os.urandom(700_001)


class OneWay(io.RawIOBase):
    """A file that cannot seek, as a pipe is."""

    def __init__(self, content: bytes) -> None:
        self._content = io.BytesIO(content)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        return self._content.readinto(buffer)


def parts_of(request: httpx.Request, body: bytes) -> list[tuple[str, str | None, Any]]:
    """The parts of a form: name, file name, content."""
    head = f"Content-Type: {request.headers['content-type']}\r\n\r\n".encode()
    message = email.parser.BytesParser(policy=email.policy.HTTP).parsebytes(head + body)
    return [
        (
            str(part.get_param("name", header="content-disposition")),
            part.get_filename(),
            part.get_payload(decode=True),
        )
        for part in message.iter_parts()
    ]


def create(client: Any, **arguments: Any) -> Any:
    return client.jobs.create(**arguments)


@pytest.fixture
def audio(tmp_path: Path) -> Path:
    file = tmp_path / "call.mp3"
    file.write_bytes(CONTENT)
    return file


@pytest.mark.parametrize("form", ["path", "str", "bytes", "file", "read to the middle"])
def test_audio_is_sent_with_its_length_and_again_after_a_failure(
    either: MakeEither, delays: list[float], audio: Path, form: str
) -> None:
    one = either(answers(BUSY, httpx.WriteError("cut"), JOB))
    with audio.open("rb") as file:
        offset = file.seek(1000) if form == "read to the middle" else 0
        given: Any = {"path": audio, "str": str(audio), "bytes": CONTENT}.get(form, file)

        job = one.call(lambda client: client.jobs.create(given))

        assert not file.closed
    assert job["id"] == "job_1"
    assert len(delays) == 2
    for request, body in zip(one.requests, one.bodies, strict=True):
        assert request.headers["content-length"] == str(len(body))
        assert "transfer-encoding" not in request.headers
        name = "audio" if form == "bytes" else "call.mp3"
        assert parts_of(request, body)[-1] == ("file", name, CONTENT[offset:])


def test_a_stream_is_sent_in_chunks_and_once(either: MakeEither, delays: list[float]) -> None:
    one = either(answers(BUSY))

    with pytest.raises(UnavailableError, match="read only once"):
        one.call(lambda client: client.jobs.create(OneWay(CONTENT), filename="live.wav"))

    assert delays == []
    assert one.requests[0].headers["transfer-encoding"] == "chunked"
    assert parts_of(one.requests[0], one.bodies[0])[-1] == ("file", "live.wav", CONTENT)


def test_fields_go_before_the_file_in_the_form_of_the_api(either: MakeEither) -> None:
    one = either(answers(JOB))

    one.call(
        lambda client: client.jobs.create(
            b"audio",
            filename='a"b\r\nc.mp3',
            metadata={"order": 12345678901234567890, "name": "Grüße"},
            plan="pro",
            timestamps="word",
            diarize=True,
            speakers=2,
            keywords=["Verbatim", "SRT"],
            replacements=[{"from": "a", "to": "b"}],
        )
    )

    assert parts_of(one.requests[0], one.bodies[0]) == [
        ("plan", None, b"pro"),
        ("timestamps", None, b"word"),
        ("diarize", None, b"true"),
        ("speakers", None, b"2"),
        ("keywords", None, b"Verbatim"),
        ("keywords", None, b"SRT"),
        ("replacements", None, b'[{"from":"a","to":"b"}]'),
        ("async", None, b"true"),
        ("metadata", None, b'{"order":12345678901234567890,"name":"Gr\\u00fc\\u00dfe"}'),
        ("file", "a%22b%0D%0Ac.mp3", b"audio"),
    ]


def test_audio_by_url_is_asked_for_with_json(either: MakeEither) -> None:
    one = either(answers(JOB))

    one.call(
        lambda client: client.jobs.create(
            audio_url="https://example.com/a.mp3", audio_url_headers={"Authorization": "x"}, metadata=[1]
        )
    )

    assert one.requests[0].headers["content-type"] == "application/json"
    assert one.bodies[0] == (
        b'{"audio_url":"https://example.com/a.mp3","audio_url_headers":{"Authorization":"x"},'
        b'"async":true,"metadata":"[1]"}'
    )


def test_what_is_no_audio_is_refused_before_anything_is_sent(either: MakeEither, audio: Path) -> None:
    one = either(answers(JOB))

    with audio.open("r", encoding="latin-1") as text:
        for given, params in [
            (text, {}),
            (7, {}),
            ("https://example.com/a.mp3", {}),
            (None, {}),
            (b"a", {"audio_url": "https://example.com/a.mp3"}),
        ]:
            with pytest.raises(TypeError):
                one.call(partial(create, audio=given, **params))
    with pytest.raises(FileNotFoundError):
        one.call(lambda client: client.jobs.create(audio.with_name("missing.mp3")))
    with pytest.raises(ValueError, match="JSON"):
        one.call(lambda client: client.jobs.create(b"a", metadata=float("nan")))

    assert one.requests == []


def test_a_file_that_changes_its_size_while_it_is_sent_is_an_error(either: MakeEither, audio: Path) -> None:
    class Growing(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            return super().read(size) or b"more"

    class Shrinking(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            return super().read(size)[:-1]

    one = either(answers(JOB))

    for file in (Growing(b"abc"), Shrinking(b"abc")):
        with pytest.raises(VerbatimError, match="size of the file changed"):
            one.call(partial(create, audio=file))


def test_progress_of_an_upload_is_reported(either: MakeEither, audio: Path) -> None:
    seen: list[Progress] = []

    either(answers(JOB)).call(lambda client: client.jobs.create(audio, on_progress=seen.append))

    assert {progress.phase for progress in seen} == {"upload"}
    assert [progress.part for progress in seen] == sorted(progress.part for progress in seen)
    assert (len(seen), seen[-1].part) == (3, 1.0)


def test_a_refusal_that_comes_before_the_end_of_the_upload_is_read(audio: Path) -> None:
    code = """
import socket, sys, threading
from verbatim_sdk import InsufficientBalanceError, Verbatim

listener = socket.create_server(("127.0.0.1", 0))

def refuse():
    connection, _ = listener.accept()
    connection.recv(65536)
    body = b'{"error": {"message": "No credits.", "code": 402, "type": "insufficient_balance"}}'
    head = f"HTTP/1.1 402 Payment Required\\r\\nContent-Length: {len(body)}\\r\\nConnection: close\\r\\n\\r\\n"
    connection.sendall(head.encode() + body)
    connection.shutdown(socket.SHUT_WR)
    # Takes the rest, as a server does that does not want to reset the connection.
    while connection.recv(65536):
        pass
    connection.close()

threading.Thread(target=refuse, daemon=True).start()
client = Verbatim(api_key="k", base_url=f"http://127.0.0.1:{listener.getsockname()[1]}", max_retries=0)
try:
    client.jobs.create(sys.argv[1])
except InsufficientBalanceError as error:
    print(error)
"""
    assert run_python(code, str(audio)) == "No credits. (402, insufficient_balance)\n"


UPLOAD = """
import asyncio, resource, sys
from verbatim_sdk import AsyncVerbatim, Verbatim

kind, url, path = sys.argv[1:]
settings = {"api_key": "k", "base_url": url, "max_retries": 0}

def rss():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

async def upload_async():
    async with AsyncVerbatim(**settings) as client:
        await client.jobs.create(b"warm up")
        before = rss()
        await client.jobs.create(path)
        return rss() - before

def upload_sync():
    with Verbatim(**settings) as client:
        client.jobs.create(b"warm up")
        before = rss()
        client.jobs.create(path)
        return rss() - before

print(upload_sync() if kind == "sync" else asyncio.run(upload_async()))
"""

SINK = """
import http.server

class Sink(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        left = int(self.headers["content-length"])
        while left > 0:
            left -= len(self.rfile.read(min(left, 1 << 20)))
        self.send_response(202)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *args):
        pass

server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Sink)
print(server.server_port, flush=True)
server.serve_forever()
"""


def test_a_large_upload_needs_little_memory(kind: str, tmp_path: Path) -> None:
    # A file of holes: it takes no space on the disk.
    file = tmp_path / "large.wav"
    with file.open("wb") as made:
        made.truncate(256 << 20)
    with subprocess.Popen([sys.executable, "-c", SINK], stdout=subprocess.PIPE, text=True) as sink:
        assert sink.stdout is not None
        url = f"http://127.0.0.1:{sink.stdout.readline().strip()}"
        try:
            more_kib = int(run_python(UPLOAD, kind, url, str(file)))
        finally:
            sink.terminate()

    assert more_kib < 32 * 1024


def test_a_connection_that_is_refused_is_a_connection_error() -> None:
    code = """
from verbatim_sdk import ApiConnectionError, Verbatim
try:
    Verbatim(api_key="k", base_url="http://127.0.0.1:1", max_retries=0).balance()
except ApiConnectionError as error:
    print(error.is_retryable)
"""
    assert run_python(code) == "True\n"
