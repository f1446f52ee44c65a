"""Live sessions of the synchronous client: those of the asynchronous one, in a thread. Written by hand."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, Any, TypeVar

from .._async.live import AsyncLiveSession, session_request
from .._core.live import bytes_per_second
from .._core.request import Request, get
from ..errors import VerbatimError

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterator, Mapping
    from types import TracebackType

    from typing_extensions import Self

    from .._core.live import CreatedSession, LiveSettings, LiveUpdate
    from .._core.settings import RequestOptions
    from ..types import Job
    from .transport import Transport

T = TypeVar("T")
_READ_JOB_OPTIONS: RequestOptions = {"max_retries": 0, "timeout": 5.0}


def begin_live(
    transport: Transport,
    params: Mapping[str, Any],
    metadata: Any,
    settings: LiveSettings,
    options: RequestOptions | None,
) -> LiveSession:
    """A new session."""
    created = transport.json(session_request(params, metadata), options)
    return LiveSession(created, transport, settings, bytes_per_second(params))


class LiveSession:
    """
    A live session that outlives its connections: audio is kept until the service has it durably, and after a cut the
    next connection continues where the service is. Iterate over it, once, for what becomes known; segments come once
    each, in order. One thread may write while another iterates.
    """

    def __init__(
        self, created: CreatedSession, transport: Transport, settings: LiveSettings, bytes_per_second: int
    ) -> None:
        #: Of the job.
        self.id = created["id"]
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name=f"live {self.id}", daemon=True)
        self._thread.start()
        request: Request[Job] = get("/v1/jobs/{}", self.id)

        async def read_job() -> Job:
            return await asyncio.to_thread(transport.json, request, _READ_JOB_OPTIONS)

        async def open_session() -> AsyncLiveSession:
            return AsyncLiveSession(created, transport.settings.base_url, settings, read_job, bytes_per_second)

        self._session = self._call(open_session())
        self._updates = self._session.__aiter__()

    @property
    def job(self) -> Job | None:
        """The job as it ended; None until then."""
        return self._session.job

    @property
    def unacknowledged_bytes(self) -> int:
        """Bytes that the service does not have durably."""
        return self._session.unacknowledged_bytes

    def write(self, audio: bytes | bytearray | memoryview) -> None:
        """
        Adds audio in the session's encoding, in pieces of any size. Returns when there is space for more; audio that
        does not wait can be given to `write_nowait`. After the end of the session it is ignored.
        """
        self._call(self._session.write(bytes(audio)))

    def write_nowait(self, audio: bytes | bytearray | memoryview) -> None:
        """Adds audio without waiting for space: beyond `max_buffer_bytes` the oldest is given up."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._session.write_nowait, bytes(audio))

    def finalize(self) -> None:
        """Ends the open segment now. Returns when its final text has come."""
        self._call(self._session.finalize())

    def finish(self) -> Job:
        """No more audio comes: the rest is transcribed, and the job ends. Raises JobFailedError."""
        return self._call(self._session.finish())

    def cancel(self) -> Job:
        """Cancels the job; what was received is charged. The job may have ended before."""
        return self._call(self._session.cancel())

    def wait(self) -> Job:
        """The job, once it has ended in whichever way. Raises what ended the session without it."""
        return self.job or self._call(self._session.wait())

    def close(self) -> None:
        """Leaves the session. Without another connection the service completes its job after `resume_seconds`."""
        if self._loop.is_closed():
            return
        self._call(self._session.aclose())
        self._call(self._loop.shutdown_asyncgens())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def __iter__(self) -> Iterator[LiveUpdate]:
        return self

    def __next__(self) -> LiveUpdate:
        async def next_update() -> LiveUpdate | None:
            return await anext(self._updates, None)

        update = self._call(next_update())
        if update is None:
            raise StopIteration
        return update

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Finishes the session, and raises what ended it without its job; after an error it is left."""
        try:
            if not self._loop.is_closed():
                self._call(self._session.__aexit__(kind, error, traceback))
        finally:
            self.close()

    def _call(self, coroutine: Coroutine[Any, Any, T]) -> T:
        if self._loop.is_closed():
            coroutine.close()
            raise VerbatimError("The session was left.")
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result()
