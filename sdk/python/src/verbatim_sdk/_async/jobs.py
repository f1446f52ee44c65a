"""Jobs: create, read, follow, wait for, change and erase them."""

from __future__ import annotations

from contextlib import aclosing, asynccontextmanager
from typing import TYPE_CHECKING, Any, Literal

from .._core.audio import audio_source
from .._core.following import has_ended, progress_of
from .._core.multipart import Upload
from .._core.request import Request, delete, get, patch, path, post
from .._core.transcribing import form_fields, json_fields, upload_reports
from .._core.waiting import DEFAULT_WAIT_SECONDS, Wait
from ..errors import JobFailedError
from .following import follow_job
from .io import run_blocking
from .pages import AsyncCsvPages

if TYPE_CHECKING:
    import builtins
    from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence

    import httpx
    from typing_extensions import Unpack

    from .._core.audio import AudioInput
    from .._core.following import JobUpdate
    from .._core.settings import RequestOptions
    from .._core.transcribing import Progress
    from ..types import (
        AudioLink,
        GetJobsQuery,
        Job,
        JobInList,
        NewShare,
        PatchJobsIdBody,
        PatchJobsIdTranscriptBodySegmentsItem,
        Peaks,
        Plan,
        Share,
        ShareList,
        TranscribeParams,
        Transcript,
        TranscriptFileFormat,
        TranscriptFormat,
        TranscriptParams,
        TranscriptVersion,
    )
    from .transport import AsyncTransport


class AsyncJobs:
    """Jobs of the account."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def create(
        self,
        audio: AudioInput | None = None,
        *,
        filename: str | None = None,
        metadata: Any = None,
        on_progress: Callable[[Progress], None] | None = None,
        options: RequestOptions | None = None,
        **params: Unpack[TranscribeParams],
    ) -> Job:
        """
        A new job, accepted and durable: it ends in one of three states whatever happens to the service.

        - `audio`: a path, bytes, or a file open in binary mode; absent with `audio_url`
        - `filename`: the name that the job shows; default: that of the file
        - `metadata`: any JSON value, of at most 4 KB; it comes back with the job and its events

        The audio is read in pieces. A path, bytes and files that can seek are sent again after a failure that may pass,
        with the same idempotency key, so that no second job is made.
        """
        if (audio is None) == ("audio_url" not in params):
            raise TypeError("Pass either audio or audio_url.")
        request: Request[Job]
        if audio is None:
            request = post("/v1/transcribe", body=json_fields(params, metadata))
        else:
            source = await run_blocking(audio_source, audio, filename)
            upload = Upload(source, form_fields(params, metadata), upload_reports(on_progress))
            request = Request("POST", path("/v1/transcribe"), upload=upload)
        return await self._transport.json(request, options)

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
        The completed job, with its text and segments: `create`, then `wait`.

        Raises JobFailedError when the job fails or is canceled, WaitTimeoutError when it has not ended after `timeout`
        seconds; the job goes on then.
        """
        job = await self.create(
            audio, filename=filename, metadata=metadata, on_progress=on_progress, options=options, **params
        )
        if not has_ended(job["status"]):
            job = await self.wait(job["id"], timeout=timeout, on_progress=on_progress, options=options)
        if job["status"] != "completed":
            raise JobFailedError(job)
        return job

    async def get(self, job_id: str, *, options: RequestOptions | None = None) -> Job:
        """The job, with its transcript once it is completed."""
        return await self._transport.json(get("/v1/jobs/{}", job_id), options)

    def list(
        self, *, options: RequestOptions | None = None, **filters: Unpack[GetJobsQuery]
    ) -> AsyncCsvPages[JobInList]:
        """
        Jobs, newest first, without their segments.

        - `metadata={"order": "42"}`: jobs whose metadata has these values, at most three
        - `tag`: jobs with this tag
        - `query`: part of a title or file name, or the beginning of an id
        """
        return AsyncCsvPages(self._transport, get("/v1/jobs", **filters), options)

    async def update(
        self, job_id: str, *, options: RequestOptions | None = None, **changes: Unpack[PatchJobsIdBody]
    ) -> Job:
        """
        Changes `title`, `tags` or `metadata`, any JSON value of at most 4 KB; what is left out stays.

        `title=None` and `metadata=None` remove them, `tags=[]` all tags.
        """
        return await self._transport.json(patch("/v1/jobs/{}", job_id, body=changes), options)

    async def cancel(self, job_id: str, *, options: RequestOptions | None = None) -> Job:
        """Ends a job without a transcript. Raises ConflictError when it has ended already."""
        return await self._transport.json(post("/v1/jobs/{}/cancel", job_id), options)

    async def delete(self, job_id: str, *, options: RequestOptions | None = None) -> None:
        """Erases a job: its transcript, metadata and audio. Raises ConflictError while it is processed."""
        await self._transport.json(delete("/v1/jobs/{}", job_id), options)

    async def retry(self, job_id: str, *, plan: Plan | None = None, options: RequestOptions | None = None) -> Job:
        """A new job on the stored audio of one that has ended, with the same options."""
        body = {} if plan is None else {"plan": plan}
        return await self._transport.json(post("/v1/jobs/{}/retry", job_id, body=body), options)

    async def wait(
        self,
        job_id: str,
        *,
        timeout: float = DEFAULT_WAIT_SECONDS,
        on_progress: Callable[[Progress], None] | None = None,
        options: RequestOptions | None = None,
    ) -> Job:
        """
        The job once it has ended, in whichever state: look at `job["status"]`.

        - `timeout`: seconds; then WaitTimeoutError, and the job goes on

        The job is followed over its event stream; where that is cut three times, it is asked for every 1 to 5 s.
        """
        async with aclosing(follow_job(self._transport, job_id, Wait(job_id, timeout), options)) as updates:
            async for update in updates:
                progress = progress_of(update)
                if on_progress is not None and progress is not None:
                    on_progress(progress)
        return await self.get(job_id, options=options)

    def follow(self, job_id: str, *, options: RequestOptions | None = None) -> AsyncGenerator[JobUpdate, None]:
        """
        What becomes known about a job until it ends, each piece once: its status, its progress, and its segments.

            async for update in client.jobs.follow(job_id):
                if update["type"] == "segment":
                    print(update["data"]["text"])

        Close the iterator when you stop before the end: `contextlib.aclosing(client.jobs.follow(job_id))`.
        """
        return follow_job(self._transport, job_id, Wait(job_id, None), options)

    async def transcript(
        self,
        job_id: str,
        format: TranscriptFormat = "text",
        *,
        options: RequestOptions | None = None,
        **params: Unpack[TranscriptParams],
    ) -> str:
        """
        The transcript of a completed job as `text`, `srt`, `vtt` or `md`; as `json`, `read_transcript` has it parsed.

        - caption options such as `max_line_length` shape `srt` and `vtt`; `speakers=True` shows names in them
        - `version="original"`: without the edits

        Raises ConflictError for a job that is not completed.
        """
        query = {"format": format, **params}
        request: Request[Any] = Request("GET", path("/v1/jobs/{}/transcript", job_id), query, accept="*/*")
        return (await self._transport.fetch_bytes(request, options)).decode()

    async def transcript_file(
        self,
        job_id: str,
        format: TranscriptFileFormat,
        *,
        options: RequestOptions | None = None,
        **params: Unpack[TranscriptParams],
    ) -> bytes:
        """
        The transcript of a completed job as a `docx` or `pdf` file, with speakers and times.

        Raises ConflictError for a job that is not completed, and for a PDF of text in a script that it cannot show.
        """
        query = {"format": format, **params}
        request: Request[Any] = Request("GET", path("/v1/jobs/{}/transcript", job_id), query, accept="*/*")
        return await self._transport.fetch_bytes(request, options)

    async def read_transcript(
        self, job_id: str, *, version: TranscriptVersion = "edited", options: RequestOptions | None = None
    ) -> Transcript:
        """The segments of a completed job with their edits, and when it was edited."""
        return await self._transport.json(get("/v1/jobs/{}/transcript", job_id, version=version), options)

    async def edit_transcript(
        self,
        job_id: str,
        segments: Sequence[PatchJobsIdTranscriptBodySegmentsItem],
        *,
        options: RequestOptions | None = None,
    ) -> Transcript:
        """Changes the text of segments by their index: `[{"index": 3, "text": "…"}]`; None brings the original back."""
        request: Request[Transcript] = patch("/v1/jobs/{}/transcript", job_id, body={"segments": segments})
        return await self._transport.json(request, options)

    async def name_speakers(
        self, job_id: str, speakers: Mapping[str, str | None], *, options: RequestOptions | None = None
    ) -> Transcript:
        """Names speakers in the transcript by their labels: `{"A": "Anna"}`; None brings the label back."""
        request: Request[Transcript] = patch("/v1/jobs/{}/transcript", job_id, body={"speakers": speakers})
        return await self._transport.json(request, options)

    async def merge_speakers(
        self, job_id: str, merged: Mapping[str, str | None], *, options: RequestOptions | None = None
    ) -> Transcript:
        """Shows speakers as another one, by their labels: `{"B": "A"}`; None: by themselves again."""
        request: Request[Transcript] = patch("/v1/jobs/{}/transcript", job_id, body={"merged_speakers": merged})
        return await self._transport.json(request, options)

    @asynccontextmanager
    async def audio(
        self,
        job_id: str,
        *,
        byte_range: str | None = None,
        format: Literal["opus"] | None = None,
        options: RequestOptions | None = None,
    ) -> AsyncIterator[httpx.Response]:
        """
        The stored audio, read as it comes; Raises NotFoundError when it is no longer stored.

            async with client.jobs.audio(job_id) as response:
                async for chunk in response.aiter_bytes():
                    ...

        - `byte_range`: a value of the header Range, such as `bytes=0-65535`
        - `format`: `opus` for a copy that browsers play; absent: the original
        """
        headers = {} if byte_range is None else {"Range": byte_range}
        request: Request[Any] = Request(
            "GET", path("/v1/jobs/{}/audio", job_id), query={"format": format}, accept="*/*", headers=headers
        )
        async with self._transport.stream(request, options, is_read=False) as response:
            yield response

    async def audio_link(
        self, job_id: str, *, expires_in: int | None = None, options: RequestOptions | None = None
    ) -> AudioLink:
        """A link that opens the stored audio without a key, for at most 15 minutes; `expires_in` is in seconds."""
        body = {} if expires_in is None else {"expires_in": expires_in}
        return await self._transport.json(post("/v1/jobs/{}/audio-link", job_id, body=body), options)

    async def share(
        self, job_id: str, *, expires_in: int | None = None, options: RequestOptions | None = None
    ) -> NewShare:
        """
        A link that shows the transcript to whoever has it; its `url` is shown only here.

        - `expires_in`: seconds, from 60 to 30 days; default: 7 days
        """
        body = {} if expires_in is None else {"expires_in": expires_in}
        return await self._transport.json(post("/v1/jobs/{}/share", job_id, body=body), options)

    async def shares(self, job_id: str, *, options: RequestOptions | None = None) -> builtins.list[Share]:
        """The links to the transcript that have not ended, newest first."""
        answer: ShareList = await self._transport.json(get("/v1/jobs/{}/shares", job_id), options)
        return answer["data"]

    async def end_share(self, job_id: str, share_id: str, *, options: RequestOptions | None = None) -> None:
        """Ends a link to the transcript at once."""
        await self._transport.json(delete("/v1/jobs/{}/shares/{}", job_id, share_id), options)

    async def peaks(self, job_id: str, *, points: int | None = None, options: RequestOptions | None = None) -> Peaks:
        """The waveform of a completed job: the lowest and highest sample of each part."""
        return await self._transport.json(get("/v1/jobs/{}/peaks", job_id, points=points), options)
