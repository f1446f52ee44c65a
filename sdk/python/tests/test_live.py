"""Live sessions of both clients: against a service that the test plays, and against a running one with cuts."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import threading
import wave
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import httpx
import pytest
from conftest import KEY, Caller
from websockets.asyncio.server import serve

from verbatim_sdk import AsyncVerbatim, JobFailedError, NotFoundError, Verbatim, VerbatimError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Iterator

    from websockets.asyncio.server import ServerConnection

    from verbatim_sdk import LiveUpdate

CREATED = {
    "id": "job_1",
    "path": "/v1/live/job_1",
    "token": "lt_1",
    "limits": {"frame_bytes": 1_000, "resume_seconds": 60},
}
JOB = {
    "id": "job_1",
    "status": "completed",
    "text": "hello",
    "segments": None,
    "metadata": None,
    "error": None,
    "audio": {"duration_seconds": None},
}
SILENCE = bytes(32_000)
SPOKEN = "hello quiet world"


class Peer:
    """A connection of the client, as the service has it."""

    def __init__(self, socket: ServerConnection) -> None:
        self.socket = socket
        #: What came: the length of audio, or a message.
        self.received: list[Any] = []

    async def says(self, message: dict[str, Any]) -> None:
        await self.socket.send(json.dumps(message))

    async def takes(self, audio: int, *types: str) -> None:
        """Waits for so many bytes of audio and these messages."""
        while sum(each for each in self.received if isinstance(each, int)) < audio or not set(types) <= {
            each["type"] for each in self.received if isinstance(each, dict)
        }:
            data = await self.socket.recv()
            self.received.append(json.loads(data) if isinstance(data, str) else len(data))


class Script:
    """Plays the service: each connection is answered by the next step."""

    def __init__(self, *steps: Callable[[Peer], Awaitable[None]]) -> None:
        self.steps = list(steps)
        self.peers: list[Peer] = []
        self.paths: list[str] = []
        self.job: dict[str, Any] | int = {**JOB, "status": "processing"}
        self.bodies: list[Any] = []

    async def connected(self, socket: ServerConnection) -> None:
        peer = Peer(socket)
        self.peers.append(peer)
        self.paths.append(socket.request.path if socket.request else "")
        await self.steps.pop(0)(peer)

    def answer(self, request: httpx.Request) -> httpx.Response:
        if request.method == "POST":
            self.bodies.append(json.loads(request.content))
            return httpx.Response(201, json=CREATED)
        if isinstance(self.job, int):
            error = {"message": "No.", "code": self.job, "type": "not_found"}
            return httpx.Response(self.job, json={"error": error})
        return httpx.Response(200, json=self.job)


class Loop:
    """An event loop in a thread."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self._thread.start()

    def call(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(30)

    def close(self) -> None:
        async def cancel_all() -> None:
            others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
            for task in others:
                task.cancel()
            await asyncio.gather(*others, return_exceptions=True)

        self.call(cancel_all())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self.loop.close()


@contextmanager
def client_of(kind: str, script: Script) -> Iterator[Caller]:
    """A client of a service that the script plays."""
    loop = Loop()
    server = loop.call(listen(script))
    settings: dict[str, Any] = {"api_key": KEY, "base_url": f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"}
    transport = httpx.MockTransport(script.answer)
    caller = Caller(
        Verbatim(http_client=httpx.Client(transport=transport), **settings)
        if kind == "sync"
        else AsyncVerbatim(http_client=httpx.AsyncClient(transport=transport), **settings)
    )
    try:
        yield caller
    finally:
        caller.close()
        loop.call(end(server))
        loop.close()


async def listen(script: Script) -> Any:
    return await serve(script.connected, "127.0.0.1", 0, subprotocols=["verbatim.live.v1"], max_size=None)  # type: ignore[list-item]


async def end(server: Any) -> None:
    server.close()
    await server.wait_closed()


def run_live(caller: Caller, pieces: list[bytes | str], updates: list[LiveUpdate] | None = None, **params: Any) -> Any:
    """The job of a session to which the pieces are given; a text is the name of a method."""
    given = updates if updates is not None else []

    def run_sync(client: Verbatim) -> Any:
        with client.live(**params) as session:
            for piece in pieces:
                session.write(piece) if isinstance(piece, bytes) else getattr(session, piece)()
            if session.job is None:
                session.finish()
            given.extend(session)
            return session.job

    async def run_async(client: AsyncVerbatim) -> Any:
        async with client.live(**params) as session:
            for piece in pieces:
                await (session.write(piece) if isinstance(piece, bytes) else getattr(session, piece)())
            if session.job is None:
                await session.finish()
            given.extend([update async for update in session])
            return session.job

    return caller.call(run_sync if isinstance(caller.client, Verbatim) else run_async)


def segment(seq: int) -> dict[str, Any]:
    return {"type": "segment", "seq": seq, "index": seq - 1, "start": 0.0, "end": 1.0, "text": f"text {seq}"}


def test_a_cut_session_goes_on_where_the_service_is(kind: str) -> None:
    async def cut(peer: Peer) -> None:
        await peer.says({"type": "hello", "offset": 0})
        await peer.takes(2_500)
        await peer.says(segment(1))
        await peer.says({"type": "ack", "offset": 1_500})
        peer.socket.transport.abort()

    async def go_on(peer: Peer) -> None:
        await peer.says({"type": "hello", "offset": 2_000})
        await peer.says(segment(1))
        await peer.takes(500, "finish")
        await peer.says(segment(2))
        await peer.says({"type": "done", "seq": 3, "job": JOB})

    script = Script(cut, go_on)
    updates: list[LiveUpdate] = []
    states: list[bool] = []
    with client_of(kind, script) as caller:
        job = run_live(caller, [bytes(2_500)], updates, metadata={"n": 10**20}, on_connection=states.append)

    assert job["text"] == "hello"
    assert [each["seq"] for each in updates if each["type"] == "segment"] == [1, 2]
    assert [script.peers[1].received, script.paths[1]] == [[500, {"type": "finish"}], "/v1/live/job_1?after=1"]
    assert script.bodies == [{"metadata": f'{{"n":{10**20}}}'}]
    assert states == [True, False, True]


def test_what_is_said_keeps_its_place_until_it_is_answered(kind: str) -> None:
    async def restart(peer: Peer) -> None:
        await peer.says({"type": "hello", "offset": 0})
        await peer.takes(100, "finalize")
        await peer.says({"type": "going_away", "reconnect_after_ms": 1})
        await peer.socket.close(1012)

    async def answer(peer: Peer) -> None:
        await peer.says({"type": "hello", "offset": 0})
        await peer.takes(100, "finalize")
        await peer.says({"type": "finalized", "id": "1", "offset": 100})
        await peer.takes(300, "finish")
        await peer.says({"type": "done", "seq": 1, "job": JOB})

    script = Script(restart, answer)
    with client_of(kind, script) as caller:
        run_live(caller, [bytes(100), "finalize", bytes(200)])

    finalize = {"type": "finalize", "id": "1"}
    assert script.peers[1].received == [100, finalize, 200, {"type": "finish"}]


def test_a_job_that_has_ended_meanwhile_ends_the_session(kind: str) -> None:
    async def go(peer: Peer) -> None:
        await peer.says({"type": "hello", "offset": 0})
        await peer.says(segment(1))
        await peer.takes(100)
        await peer.socket.close(4002)

    script = Script(go)
    texts = [{"start": 0.0, "end": 1.0, "text": f"text {seq}", "confidence": None} for seq in (1, 2)]
    script.job = {**JOB, "status": "failed", "segments": texts, "error": {"type": "engine_error", "message": "No."}}
    updates: list[LiveUpdate] = []
    with client_of(kind, script) as caller, pytest.raises(JobFailedError, match="No"):
        run_live(caller, [bytes(100)], updates)


@pytest.mark.parametrize(("seconds", "lost_from"), [(0.5, 16_000), (1.0, None)])
def test_a_job_that_ended_without_the_last_audio_says_so(kind: str, seconds: float, lost_from: int | None) -> None:
    async def go(peer: Peer) -> None:
        await peer.says({"type": "hello", "offset": 0})
        await peer.takes(len(SILENCE))
        await peer.socket.close(4002)

    script = Script(go)
    script.job = {**JOB, "audio": {"duration_seconds": seconds}}
    updates: list[LiveUpdate] = []
    with client_of(kind, script) as caller:
        run_live(caller, [SILENCE], updates)

    lost = {"type": "audio_lost", "from_byte": lost_from, "to_byte": len(SILENCE)}
    assert updates == ([] if lost_from is None else [lost])


@pytest.mark.parametrize(("code", "error"), [(4001, VerbatimError), (4009, VerbatimError), (4002, NotFoundError)])
def test_some_ends_are_final(kind: str, code: int, error: type[Exception]) -> None:
    async def go(peer: Peer) -> None:
        await peer.says({"type": "hello", "offset": 0})
        await peer.socket.close(code, "why")

    script = Script(go)
    script.job = 404
    with client_of(kind, script) as caller, pytest.raises(error):
        run_live(caller, [bytes(100)])


def test_a_session_that_a_given_up_handshake_has_taken_is_taken_back_once(kind: str) -> None:
    async def give_up(peer: Peer) -> None:
        peer.socket.transport.abort()

    async def replace(peer: Peer) -> None:
        await peer.says({"type": "hello", "offset": 0})
        await peer.socket.close(4001)

    script = Script(give_up, replace, replace)
    with client_of(kind, script) as caller, pytest.raises(VerbatimError, match="Another connection has the session"):
        run_live(caller, [bytes(100)])

    assert script.steps == []


@pytest.mark.parametrize(("code", "error"), [(4009, "4009 why"), (4004, "No credits")])
def test_what_ended_the_session_is_raised_at_the_end_of_the_block(kind: str, code: int, error: str) -> None:
    async def go(peer: Peer) -> None:
        await peer.says({"type": "hello", "offset": 0})
        await peer.socket.close(code, "why")

    def run_sync(client: Verbatim) -> None:
        with client.live() as session:
            session.write(bytes(2**21))

    async def run_async(client: AsyncVerbatim) -> None:
        async with client.live() as session:
            await session.write(bytes(2**21))

    script = Script(go)
    script.job = {**JOB, "status": "failed", "error": {"type": "insufficient_balance", "message": "No credits."}}
    with client_of(kind, script) as caller, pytest.raises(VerbatimError, match=error):
        caller.call(run_sync if kind == "sync" else run_async)


def test_a_session_that_was_left_in_the_block_is_not_finished(kind: str) -> None:
    async def go(peer: Peer) -> None:
        await peer.socket.wait_closed()

    def run_sync(client: Verbatim) -> None:
        with client.live() as session:
            session.close()

    async def run_async(client: AsyncVerbatim) -> None:
        async with client.live() as session:
            await session.aclose()

    with client_of(kind, Script(go)) as caller:
        caller.call(run_sync if kind == "sync" else run_async)


def test_when_the_buffer_is_full_the_oldest_audio_is_given_up(kind: str) -> None:
    release = threading.Event()

    async def go(peer: Peer) -> None:
        await asyncio.to_thread(release.wait)
        await peer.says({"type": "hello", "offset": 0})
        await peer.takes(1_000, "finish")
        await peer.says({"type": "done", "seq": 1, "job": JOB})

    def run_sync(client: Verbatim) -> list[LiveUpdate]:
        with client.live(max_buffer_bytes=1_000) as session:
            for _ in range(4):
                session.write_nowait(bytes(500))
            session.unacknowledged_bytes  # noqa: B018 - can be read at any time
            release.set()
            session.finish()
            return list(session)

    async def run_async(client: AsyncVerbatim) -> list[LiveUpdate]:
        async with client.live(max_buffer_bytes=1_000) as session:
            for _ in range(4):
                session.write_nowait(bytes(500))
            release.set()
            await session.finish()
            return [update async for update in session]

    script = Script(go)
    with client_of(kind, script) as caller:
        updates = caller.call(run_sync if kind == "sync" else run_async)

    assert updates == [{"type": "audio_lost", "from_byte": 0, "to_byte": 1_000}]
    assert script.peers[0].received == [{"type": "gap", "to": 1_000}, 500, 500, {"type": "finish"}]


def test_without_websockets_the_error_says_what_to_install(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "websockets.asyncio.client", None)
    with client_of(kind, Script()) as caller, pytest.raises(VerbatimError, match="pip install 'websockets>=14'"):
        run_live(caller, [])


def test_an_error_in_the_block_leaves_the_session(kind: str) -> None:
    async def go(peer: Peer) -> None:
        await peer.says({"type": "hello", "offset": 0})
        await peer.socket.wait_closed()

    def run_sync(client: Verbatim) -> None:
        with client.live() as session:
            raise KeyError(session.id)

    async def run_async(client: AsyncVerbatim) -> None:
        async with client.live() as session:
            raise KeyError(session.id)

    with client_of(kind, Script(go)) as caller, pytest.raises(KeyError):
        caller.call(run_sync if kind == "sync" else run_async)


class CuttingProxy:
    """Passes connections to the running service, and cuts each after so many bytes of a WebSocket."""

    def __init__(self, most: int) -> None:
        self._most = most
        self.cuts = 0

    async def passes(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        parts = urlsplit(os.environ["VERBATIM_URL"])
        to_service = await asyncio.open_connection(parts.hostname, parts.port)
        back = asyncio.create_task(self._copy(to_service[0], writer, None))
        await self._copy(reader, to_service[1], self._most)
        back.cancel()
        for each in (writer, to_service[1]):
            each.transport.abort()

    async def _copy(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, most: int | None) -> None:
        passed, is_web_socket = 0, False
        while data := await reader.read(65_536):
            writer.write(data)
            is_web_socket = is_web_socket or b"upgrade: websocket" in data.lower()
            passed += len(data)
            # Four cuts, then the rest passes.
            if most is not None and is_web_socket and passed > most and self.cuts < 4:
                self.cuts += 1
                return


@pytest.fixture
def proxy() -> Iterator[tuple[CuttingProxy, str]]:
    loop = Loop()
    cutting = CuttingProxy(80_000)

    async def start() -> Any:
        return await asyncio.start_server(cutting.passes, "127.0.0.1", 0)

    server = loop.call(start())
    yield cutting, f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    loop.call(end(server))
    loop.close()


def test_cuts_lose_no_word_of_a_running_service(service: Caller, kind: str, proxy: tuple[CuttingProxy, str]) -> None:
    cutting, url = proxy
    with wave.open(str(Path(os.environ["VERBATIM_TEST_AUDIO"]))) as file:
        pcm = file.readframes(file.getnframes())
    audio = (pcm + SILENCE) * 4
    pieces: list[bytes | str] = [audio[at : at + 3_200] for at in range(0, len(audio), 3_200)]
    updates: list[LiveUpdate] = []
    caller = Caller(Verbatim(base_url=url) if kind == "sync" else AsyncVerbatim(base_url=url))

    job = run_live(caller, pieces, updates, sample_rate=16_000, timestamps="word")

    caller.close()
    segments = [each for each in updates if each["type"] == "segment"]
    assert cutting.cuts == 4
    assert [(each["seq"], each["text"]) for each in segments] == [(seq, SPOKEN) for seq in (1, 2, 3, 4)]
    assert all(len(each["words"]) == 3 for each in segments)
    assert (job["text"], job["audio"]["duration_seconds"]) == (" ".join([SPOKEN] * 4), len(audio) / 32_000)
