"""Live sessions. Written by hand: that of the synchronous client runs this one in a thread."""

from __future__ import annotations

import asyncio
import random
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from .._core.following import has_ended
from .._core.live import (
    BUFFER_BYTES,
    ENDED_CODES,
    FINAL_CODES,
    REPLACED,
    SPACE_BYTES,
    SUBPROTOCOL,
    LiveState,
    bytes_per_second,
    pause_seconds,
)
from .._core.request import Request, get, post
from .._text import write_json
from ..errors import ApiConnectionError, JobFailedError, NotFoundError, UnauthenticatedError, VerbatimError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
    from types import TracebackType

    from typing_extensions import Self
    from websockets.asyncio.client import ClientConnection

    from .._core.live import CreatedSession, LiveSettings, LiveUpdate
    from .._core.settings import RequestOptions
    from ..types import Job
    from .transport import AsyncTransport

# The service sends something every 15 s.
_SILENCE_SECONDS = 38.0
_FIRST_MESSAGE_SECONDS = 10.0
# Beyond the time for which the service keeps the session.
_GIVE_UP_SECONDS = 600.0
_READ_JOB_OPTIONS: RequestOptions = {"max_retries": 0, "timeout": 5.0}
_NO_CLOSE_FRAME = (1006, "")


def session_request(params: Mapping[str, Any], metadata: Any) -> Request[CreatedSession]:
    """The request that begins a session. Raises VerbatimError without the package for WebSockets."""
    try:
        import websockets.asyncio.client  # noqa: F401
    except ImportError as cause:
        raise VerbatimError("Live sessions need the package websockets: pip install 'websockets>=14'") from cause
    return post("/v1/live", body={**params, **({} if metadata is None else {"metadata": write_json(metadata)})})


async def begin_live(
    transport: AsyncTransport,
    params: Mapping[str, Any],
    metadata: Any,
    settings: LiveSettings,
    options: RequestOptions | None,
) -> AsyncLiveSession:
    """A new session."""
    created = await transport.json(session_request(params, metadata), options)
    request: Request[Job] = get("/v1/jobs/{}", created["id"])
    return AsyncLiveSession(
        created,
        transport.settings.base_url,
        settings,
        lambda: transport.json(request, _READ_JOB_OPTIONS),
        bytes_per_second(params),
    )


class AsyncLiveSession:
    """
    A live session that outlives its connections: audio is kept until the service has it durably, and after a cut the
    next connection continues where the service is. Iterate over it, once, for what becomes known; segments come once
    each, in order.
    """

    def __init__(
        self,
        created: CreatedSession,
        base_url: str,
        settings: LiveSettings,
        read_job: Callable[[], Awaitable[Job]],
        bytes_per_second: int,
    ) -> None:
        #: Of the job.
        self.id = created["id"]
        #: The job as it ended; None until then.
        self.job: Job | None = None
        self._created = created
        self._url = base_url.replace("http", "ws", 1) + created["path"]
        self._settings = settings
        self._ssl = (settings.get("ssl_context") or True) if self._url.startswith("wss:") else None
        self._read_job = read_job
        self._updates: list[LiveUpdate] = []
        self._state = LiveState(
            settings.get("max_buffer_bytes", BUFFER_BYTES),
            created["limits"]["frame_bytes"],
            bytes_per_second,
            self._give,
        )
        self._error: BaseException | None = None
        self._is_over = False
        self._is_left = False
        self._finalizes = 0
        self._socket: ClientConnection | None = None
        #: Something has changed: for the one who sends, the one who reads, those who write, those who wait for the end.
        self._changed = asyncio.Condition()
        self._tasks: set[asyncio.Task[None]] = set()
        self._runner = asyncio.create_task(self._run())

    @property
    def unacknowledged_bytes(self) -> int:
        """Bytes that the service does not have durably."""
        return len(self._state.audio)

    async def write(self, audio: bytes | bytearray | memoryview) -> None:
        """
        Adds audio in the session's encoding, in pieces of any size. Returns when there is space for more; audio that
        does not wait can be given to `write_nowait`. After the end of the session it is ignored.
        """
        self.write_nowait(audio)
        async with self._changed:
            await self._changed.wait_for(lambda: self._is_over or len(self._state.audio) <= SPACE_BYTES)

    def write_nowait(self, audio: bytes | bytearray | memoryview) -> None:
        """Adds audio without waiting for space: beyond `max_buffer_bytes` the oldest is given up."""
        if not self._is_over:
            self._state.write(bytes(audio))
            self._notify()

    async def finalize(self) -> None:
        """Ends the open segment now. Returns when its final text has come."""
        self._finalizes += 1
        answered = self._send_control({"type": "finalize", "id": str(self._finalizes)})
        async with self._changed:
            await self._changed.wait_for(lambda: self._is_over or answered.done())

    async def finish(self) -> Job:
        """No more audio comes: the rest is transcribed, and the job ends. Raises JobFailedError."""
        self._send_control({"type": "finish"})
        job = await self.wait()
        if job["status"] != "completed":
            raise JobFailedError(job)
        return job

    async def cancel(self) -> Job:
        """Cancels the job; what was received is charged. The job may have ended before."""
        self._send_control({"type": "cancel"})
        return await self.wait()

    async def wait(self) -> Job:
        """The job, once it has ended in whichever way. Raises what ended the session without it."""
        async with self._changed:
            await self._changed.wait_for(lambda: self._is_over)
        if self._error is not None:
            raise self._error
        assert self.job is not None  # noqa: S101 - a session is over with one of both
        return self.job

    async def aclose(self) -> None:
        """Leaves the session. Without another connection the service completes its job after `resume_seconds`."""
        self._is_left = True
        self._end(VerbatimError("The session was left."))
        if self._socket is not None:
            await self._socket.close()
        else:
            self._runner.cancel()
        with suppress(asyncio.CancelledError):
            await self._runner
        await asyncio.gather(*self._tasks)
        # A connection that was aborted is closed in the next turn of the loop.
        await asyncio.sleep(0)

    def __aiter__(self) -> AsyncIterator[LiveUpdate]:
        return self._read()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Finishes the session, and raises what ended it without its job; after an error it is left."""
        is_settled = self._is_left or (self.job is not None and self.job["status"] != "failed")
        try:
            if error is None and not is_settled:
                await self.finish()
        finally:
            await self.aclose()

    async def _read(self) -> AsyncIterator[LiveUpdate]:
        while True:
            async with self._changed:
                await self._changed.wait_for(lambda: self._is_over or bool(self._updates))
            if self._updates:
                yield self._updates.pop(0)
            elif self._error is not None:
                raise self._error
            else:
                return

    def _send_control(self, message: dict[str, str]) -> asyncio.Future[None]:
        answered: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if not self._is_over:
            self._state.send_control(message, lambda: None if answered.done() else answered.set_result(None))
            self._notify()
        return answered

    def _give(self, update: LiveUpdate) -> None:
        last = self._updates[-1] if self._updates else None
        if update["type"] == "audio_lost" and last is not None and last["type"] == "audio_lost":
            last["to_byte"] = update["to_byte"]
            return
        # Of the words of an open segment only the last ones are kept.
        if update["type"] == "partial" and last is not None and last["type"] == "partial":
            self._updates.pop()
        self._updates.append(update)

    def _notify(self) -> None:
        async def notify() -> None:
            async with self._changed:
                self._changed.notify_all()

        task = asyncio.get_running_loop().create_task(notify())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _end(self, result: Job | BaseException) -> None:
        if self._is_over:
            return
        self._is_over = True
        if isinstance(result, BaseException):
            self._error = result
        else:
            self.job = result
        self._state.end(self.job)
        self._notify()

    async def _run(self) -> None:
        try:
            await self._connect_until_over()
        except Exception as error:
            self._end(error)

    async def _connect_until_over(self) -> None:
        lost_at = time.monotonic()
        failures = 0
        has_given_up = False
        while not self._is_over:
            code, reason = await self._connect()
            if self._is_over:
                return
            was_greeted = self._state.is_greeted
            if was_greeted:
                failures, lost_at = 0, time.monotonic()
            may_be_replaced_by_itself = has_given_up and code == REPLACED
            has_given_up = not was_greeted
            if code in FINAL_CODES and not may_be_replaced_by_itself:
                raise VerbatimError(f"{FINAL_CODES[code]} The connection was closed with {code} {reason}.")
            # A refused connection may mean that the job has ended; it tells itself.
            if not was_greeted or code in ENDED_CODES:
                await self._end_if_job_ended()
            if self._is_over:
                return
            if time.monotonic() - lost_at > self._created["limits"]["resume_seconds"] + _GIVE_UP_SECONDS:
                raise ApiConnectionError(f"{self.id} could not be continued: the service did not come back.")
            self._tell(is_connected=False)
            await asyncio.sleep(max(pause_seconds(failures, random.random()), self._state.pause))  # noqa: S311
            self._state.pause = 0.0
            failures += 1

    async def _connect(self) -> tuple[int, str]:
        """One connection, until it ends: its close code and reason."""
        from websockets.asyncio.client import connect
        from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidURI

        self._state.connecting()
        try:
            async with connect(
                f"{self._url}?after={self._state.last_seq}",
                subprotocols=[SUBPROTOCOL, f"token.{self._created['token']}"],  # type: ignore[list-item]
                compression=None,
                max_size=None,
                open_timeout=_FIRST_MESSAGE_SECONDS,
                close_timeout=1,
                # A service that lets its client wait does not read pings.
                ping_interval=None,
                ssl=self._ssl,
            ) as socket:
                self._socket = socket
                sender = asyncio.create_task(self._send(socket))
                try:
                    await self._receive(socket)
                finally:
                    sender.cancel()
                return 1000, ""
        except ConnectionClosed as closed:
            frame = closed.rcvd
            return _NO_CLOSE_FRAME if frame is None else (frame.code, frame.reason)
        except InvalidURI as cause:
            raise VerbatimError(str(cause)) from cause
        except (OSError, TimeoutError, asyncio.TimeoutError, InvalidHandshake, ApiConnectionError):
            return _NO_CLOSE_FRAME
        finally:
            self._socket = None

    async def _receive(self, socket: ClientConnection) -> None:
        while not self._is_over:
            seconds = _SILENCE_SECONDS if self._state.is_greeted else _FIRST_MESSAGE_SECONDS
            text = await asyncio.wait_for(socket.recv(), seconds)
            if isinstance(text, bytes):
                continue
            was_greeted = self._state.is_greeted
            job = self._state.received(text)
            if job is not None:
                self._end(job)
            if self._state.is_greeted and not was_greeted:
                self._tell(is_connected=True)
            self._notify()

    async def _send(self, socket: ClientConnection) -> None:
        """Sends what there is, until the connection ends: who receives reports that."""
        from websockets.exceptions import ConnectionClosed

        with suppress(ConnectionClosed):
            while True:
                frame = self._state.next_frame()
                if frame is not None:
                    await socket.send(frame)
                    continue
                async with self._changed:
                    await self._changed.wait()

    async def _end_if_job_ended(self) -> None:
        """Ends the session when its job has ended and this client was not told."""
        try:
            job = await self._read_job()
        except (NotFoundError, UnauthenticatedError):
            raise
        except VerbatimError:
            # The key may be one that cannot read jobs, and everything else may pass.
            return
        if has_ended(job["status"]):
            self._end(job)

    def _tell(self, *, is_connected: bool) -> None:
        on_connection = self._settings.get("on_connection")
        if on_connection is not None:
            on_connection(is_connected)
