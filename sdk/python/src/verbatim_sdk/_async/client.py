"""The client."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Literal

import httpx

from .._core.live import BUFFER_BYTES
from .._core.request import Request, get, path
from .._core.settings import CONNECTION_LIMITS, DEFAULT_MAX_RETRIES, DEFAULT_TIMEOUT_SECONDS, read_settings
from .._core.waiting import DEFAULT_WAIT_SECONDS
from .events import AsyncEvents
from .following import follow_account
from .jobs import AsyncJobs
from .keys import AsyncKeys, AsyncModels
from .live import begin_live
from .pages import AsyncCsvPages, AsyncPages
from .transport import AsyncTransport
from .webhooks import AsyncDeliveries, AsyncWebhooks

if TYPE_CHECKING:
    import ssl
    from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
    from types import TracebackType

    from typing_extensions import Self, Unpack

    from .._core.audio import AudioInput
    from .._core.following import StreamFrame
    from .._core.live import LiveSettings
    from .._core.settings import RequestOptions
    from .._core.transcribing import Progress
    from ..types import (
        Balance,
        EventType,
        GetSearchQuery,
        GetUsageQuery,
        Job,
        LedgerEntry,
        LiveParams,
        OwnAccount,
        SearchResult,
        TranscribeParams,
        Usage,
    )
    from .live import AsyncLiveSession


class AsyncVerbatim:
    """
    A client of the service.

        async with AsyncVerbatim(api_key="vb_…", base_url="https://speech.example.com") as client:
            job = await client.transcribe("call.mp3")
            print(job["text"])

    - `api_key`: the key, or a function that returns it for each request; default: VERBATIM_API_KEY
    - `base_url`: default: VERBATIM_URL, or http://127.0.0.1:8080
    - `timeout`: seconds without a byte after which a request fails
    - `max_retries`: how often a request is sent again after a failure that may pass: a connection that fails, 408, 429,
      500, 502, 503, 504, and 409 while the same request is in progress
    - `http_client`: connections of your own, with a proxy or other certificates; you close it

    Every method raises VerbatimError: ApiError when the service refuses, ApiConnectionError when no answer arrives. A
    client can be shared by tasks; close it at the end.
    """

    def __init__(
        self,
        *,
        api_key: str | Callable[[], str] | None = None,
        base_url: str | None = None,
        timeout: float = DEFAULT_TIMEOUT_SECONDS,
        max_retries: int = DEFAULT_MAX_RETRIES,
        http_client: httpx.AsyncClient | None = None,
    ) -> None:
        settings = read_settings(api_key=api_key, base_url=base_url, timeout=timeout, max_retries=max_retries)
        self._is_own_http = http_client is None
        self._connect(AsyncTransport(settings, http_client or httpx.AsyncClient(limits=CONNECTION_LIMITS)))

    def _connect(self, transport: AsyncTransport) -> None:
        self._transport = transport
        #: Create, read, follow and change jobs.
        self.jobs = AsyncJobs(transport)
        #: Where events are delivered.
        self.webhooks = AsyncWebhooks(transport)
        #: The delivery log over all webhooks.
        self.deliveries = AsyncDeliveries(transport)
        #: What was emitted.
        self.events = AsyncEvents(transport)
        #: API keys of the account.
        self.keys = AsyncKeys(transport)
        #: The plans, each with its engine.
        self.models = AsyncModels(transport)

    def with_options(self, **options: Unpack[RequestOptions]) -> Self:
        """A client with other options that shares the connections of this one. Closing it leaves them open."""
        if "idempotency_key" in options:
            raise TypeError("An idempotency key belongs to one call: pass it in the options of that call.")
        client = object.__new__(type(self))
        client._is_own_http = False
        client._connect(AsyncTransport(self._transport.settings.with_options(options), self._transport.http))
        return client

    async def transcribe(
        self,
        audio: AudioInput | None = None,
        *,
        filename: str | None = None,
        metadata: Any = None,
        timeout: float = DEFAULT_WAIT_SECONDS,
        on_progress: Callable[[Progress], None] | None = None,
        options: RequestOptions | None = None,
        **params: Unpack[TranscribeParams],
    ) -> Job:
        """
        The completed job, with `text` and `segments`.

        - `audio`: a path, bytes, or a file open in binary mode; absent with `audio_url`
        - `filename`: the name that the job shows; default: that of the file
        - `metadata`: any JSON value, of at most 4 KB; it comes back with the job and its events
        - `timeout`: seconds to wait for the end of the job, 4 hours by default
        - `on_progress`: called with the phase `upload`, `queue` or `work`, and how much of it is done

        Raises JobFailedError when the job fails or is canceled, and WaitTimeoutError when it has not ended in time: it
        goes on then.
        """
        return await self.jobs.transcribe(
            audio,
            filename=filename,
            metadata=metadata,
            timeout=timeout,
            on_progress=on_progress,
            options=options,
            **params,
        )

    @asynccontextmanager
    async def live(
        self,
        *,
        metadata: Any = None,
        on_connection: Callable[[bool], None] | None = None,
        max_buffer_bytes: int = BUFFER_BYTES,
        ssl_context: ssl.SSLContext | None = None,
        options: RequestOptions | None = None,
        **params: Unpack[LiveParams],
    ) -> AsyncIterator[AsyncLiveSession]:
        """
        A live session: write audio to it, and iterate over it for its text. It needs `pip install websockets`.

            async with client.live(sample_rate=16000) as session:
                await session.write(pcm)
            print(session.job["text"])

        - `metadata`: any JSON value, of at most 4 KB; it comes back with the job and its events
        - `on_connection`: called with True when the service has answered, and with False when the connection is lost
        - `max_buffer_bytes`: audio that is kept while the service is away; beyond it the oldest is given up
        - `ssl_context`: for certificates of your own

        After each cut the session connects again, and sends what the service does not have durably. The end of the
        block finishes it, and raises JobFailedError when its job fails; an error in the block leaves it, and the
        service completes its job after `resume_seconds`.
        """
        settings: LiveSettings = {
            "on_connection": on_connection,
            "max_buffer_bytes": max_buffer_bytes,
            "ssl_context": ssl_context,
        }
        async with await begin_live(self._transport, params, metadata, settings, options) as session:
            yield session

    async def balance(self, *, options: RequestOptions | None = None) -> Balance:
        """What the account can spend."""
        return await self._transport.json(get("/v1/balance"), options)

    async def account(self, *, options: RequestOptions | None = None) -> OwnAccount:
        """The account of the key, with its limits and the scopes of the key."""
        return await self._transport.json(get("/v1/account"), options)

    async def usage(self, *, options: RequestOptions | None = None, **span: Unpack[GetUsageQuery]) -> Usage:
        """Jobs, seconds and credits per hour, day or month: `usage(from_="2026-11-01", bucket="day")`."""
        return await self._transport.json(get("/v1/usage", **span), options)

    async def usage_csv(self, *, options: RequestOptions | None = None, **span: Unpack[GetUsageQuery]) -> str:
        """The same as CSV, with a line of names."""
        request: Request[Any] = Request("GET", path("/v1/usage"), {**span, "format": "csv"}, accept="text/csv")
        return (await self._transport.fetch_bytes(request, options)).decode()

    def ledger(self, *, limit: int | None = None, options: RequestOptions | None = None) -> AsyncCsvPages[LedgerEntry]:
        """Every change of the balance, newest first."""
        return AsyncCsvPages(self._transport, get("/v1/ledger", limit=limit), options)

    def search(
        self, *, options: RequestOptions | None = None, **query: Unpack[GetSearchQuery]
    ) -> AsyncPages[SearchResult]:
        """Transcripts with these words, newest first: `search(q='"phrase" -not or')`."""
        return AsyncPages(self._transport, get("/v1/search", **query), options)

    def stream(
        self,
        *,
        topics: Sequence[str] | None = None,
        types: Sequence[EventType] | None = None,
        after: str = "now",
        options: RequestOptions | None = None,
    ) -> AsyncGenerator[StreamFrame, None]:
        """
        Everything that happens in the account, as it is committed, for ever.

        - `topics`: of `events`, `jobs` and `deliveries`; absent: all that the key may read
        - `types`: types of the events; absent: all
        - `after`: `now`, a time, or the `resume_id` of the last frame

        A connection that is cut is opened again where it was. Close the iterator when you stop:
        `contextlib.aclosing(client.stream())`.
        """
        return follow_account(self._transport, {"topics": topics, "types": types}, after, options)

    async def request(
        self,
        method: Literal["GET", "POST", "PATCH", "DELETE"],
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | None = None,
        options: RequestOptions | None = None,
    ) -> Any:
        """The JSON of any endpoint, such as one of a later version; with the key and the retries of this client."""
        if not path.startswith("/"):
            raise ValueError("The path begins with a slash.")
        request: Request[Any] = Request(method, path, query=query, body=body)
        return await self._transport.json(request, options)

    async def aclose(self) -> None:
        """Closes the connections, unless they were passed as `http_client`."""
        if self._is_own_http:
            await self._transport.http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()
