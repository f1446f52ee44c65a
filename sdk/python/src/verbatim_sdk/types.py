"""
Types of the API, made from its OpenAPI document by `node scripts/docs.ts`; do not edit.

A type named after an endpoint has its query or JSON body: `GetJobsQuery` is the query of `GET /v1/jobs`. There a name that
Python reserves has an underscore behind it.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Union

if sys.version_info >= (3, 11):
    from typing import NotRequired
elif TYPE_CHECKING:
    from typing_extensions import NotRequired


TranscribeByUrlReplacementsItem = TypedDict(
    "TranscribeByUrlReplacementsItem",
    {
        "from": "str",
        "to": "str",
    },
)


TranscribeByUrl = TypedDict(
    "TranscribeByUrl",
    {
        "audio_url": "str",
        "audio_url_headers": "NotRequired[dict[str, str]]",
        "plan": "NotRequired[Literal['lite', 'pro']]",
        "async": "NotRequired[bool]",
        "metadata": "NotRequired[str | dict[str, Any] | list[Any]]",
        "title": "NotRequired[str]",
        "tags": "NotRequired[list[str]]",
        "language": "NotRequired[str]",
        "timestamps": "NotRequired[Literal['segment', 'word']]",
        "response_format": "NotRequired[Literal['json', 'text', 'srt', 'vtt']]",
        "webhook_url": "NotRequired[str]",
        "webhook_secret": "NotRequired[str]",
        "prompt": "NotRequired[str]",
        "keywords": "NotRequired[list[str]]",
        "replacements": "NotRequired[list[TranscribeByUrlReplacementsItem]]",
        "translate_to": "NotRequired[Literal['en']]",
        "diarize": "NotRequired[bool]",
        "speakers": "NotRequired[int]",
        "min_speakers": "NotRequired[int]",
        "max_speakers": "NotRequired[int]",
        "multichannel": "NotRequired[bool]",
        "audio_track": "NotRequired[int | str]",
        "delete_after_seconds": "NotRequired[int]",
        "max_line_length": "NotRequired[int]",
        "max_lines": "NotRequired[int]",
        "min_duration": "NotRequired[float]",
        "max_duration": "NotRequired[float]",
        "max_chars_per_second": "NotRequired[float]",
        "min_gap": "NotRequired[float]",
    },
)


class AudioTrack(TypedDict):
    index: int
    """Among the audio tracks, from 0."""
    language: str | None
    """As the file says; null where it names none."""
    title: str | None
    """As the file says."""
    codec: str
    channels: int
    default: bool
    """Whether the file marks the track as the one to play."""


JobOptionsReplacementsItem = TypedDict(
    "JobOptionsReplacementsItem",
    {
        "from": "str",
        "to": "str",
    },
)


class JobOptions(TypedDict):
    """What the request asked for; what it left out is absent."""

    language: NotRequired[str]
    """As the request named it."""
    timestamps: NotRequired[Literal["word"]]
    prompt: NotRequired[str]
    """Context for the engine, such as the subject or a text in the wanted style."""
    keywords: NotRequired[list[str]]
    """Words that the engine should know, each of at most 6 words; letters, digits, spaces, ' - and a full stop."""
    replacements: NotRequired[list[JobOptionsReplacementsItem]]
    """Words and phrases of the transcript to replace: whole words, in any case, of several the longest, each once; an empty `to` leaves them out."""
    translate_to: NotRequired[Literal["en"]]
    """Language of the text, in place of the spoken one. Answered 400 where the engine of the plan cannot."""
    diarize: NotRequired[bool]
    """Label who says what; needs the speaker model on the server."""
    speakers: NotRequired[int]
    """The exact number of speakers, with diarize=true."""
    min_speakers: NotRequired[int]
    """The smallest number of speakers, with diarize=true."""
    max_speakers: NotRequired[int]
    """The largest number of speakers, with diarize=true."""
    multichannel: NotRequired[bool]
    """true: each channel is transcribed on its own, at most 8, and its segments carry its number; each distinct one is charged."""
    audio_track: NotRequired[int | str]
    """The audio track: its index among the audio tracks, from 0, or its language, such as de. Absent: the first."""
    delete_after_seconds: NotRequired[int]
    """The job is erased this many seconds after its end, once its deliveries have ended; at most JOB_RETENTION_DAYS."""


class Word(TypedDict):
    channel: NotRequired[int]
    """From 0; with multichannel."""
    start: float
    """Seconds from the start of the audio."""
    end: float
    text: str
    confidence: float | None
    """0 to 1; null where the engine gives none."""
    speaker: NotRequired[str | None]
    """With diarize=true; null where the speakers were not found."""
    estimated: NotRequired[Literal[True]]
    """The engine gives this word no times: they lie between those of its neighbours. Else absent."""


class Segment(TypedDict):
    channel: NotRequired[int]
    """From 0; with multichannel."""
    start: float
    """Seconds from the start of the audio."""
    end: float
    text: str
    confidence: float | None
    """0 to 1; null where the engine gives none."""
    speaker: NotRequired[str | None]
    """With diarize=true; null where the speakers were not found."""
    no_speech_share: NotRequired[float]
    """The share of its time in which no speech was detected; absent without a voice detector."""
    words: NotRequired[list[Word]]
    """With timestamps=word."""


class Speaker(TypedDict):
    id: str
    """As in segments and words."""
    seconds: float
    """How long the speaker speaks."""


class Warning(TypedDict):
    code: Literal["prompt_unsupported", "keywords_unsupported", "words_unsupported", "language_ignored", "speakers_unavailable", "speakers_uncertain", "more_audio_tracks", "duplicate_channels", "silent_channel", "audio_truncated", "audio_after_end", "no_speech", "untranscribed", "repetition", "text_cut", "connection_lost", "audio_gap", "behind", "segment_failed", "more_warnings"]
    """Later versions may add codes."""
    message: str
    start: NotRequired[float]
    """Seconds; absent: about all of the audio."""
    end: NotRequired[float]
    bytes: NotRequired[int]
    """Of the file, which are not read."""


class JobAudio(TypedDict):
    filename: str | None
    format: str | None
    """Null until audio from a URL is stored; likewise length and size."""
    duration_seconds: float | None
    size_bytes: int | None
    source: str | None
    """Origin and path of audio_url; null for an upload."""
    channels: int | None
    """Of the audio track that is transcribed; null while it is unknown."""
    tracks: list[AudioTrack]
    """The audio tracks of the file; empty while they are unknown."""


class JobError(TypedDict):
    type: Literal["unprocessable_audio", "insufficient_balance", "engine_error", "engine_timeout", "audio_fetch_failed"]
    message: str
    reason: NotRequired[Literal["dns", "connect", "tls", "timeout", "http_status", "redirect", "forbidden_address", "too_large"]]
    """With audio_fetch_failed."""
    http_status: NotRequired[int]
    """With audio_fetch_failed: what the server of the audio answered."""


class JobLive(TypedDict):
    """Of a live session, until it ends."""

    connected: bool
    offset_seconds: float
    """Seconds of audio that are stored."""


class Job(TypedDict):
    id: str
    status: Literal["queued", "processing", "completed", "failed", "canceled"]
    waiting_for: Literal["engine", "storage", "model"] | None
    """What a queued job waits for beside its turn; it does not fail meanwhile."""
    waiting_since: NotRequired[str]
    """While `waiting_for` is not null."""
    plan: Literal["lite", "pro"]
    model: str | None
    language: str | None
    """The spoken language."""
    translated_to: Literal["en"] | None
    """The language of the text, where a translation was asked for; null until completed."""
    audio: JobAudio
    title: str | None
    """A name of your own; null without one."""
    tags: list[str]
    """Words of your own."""
    metadata: Any
    """Any JSON value, as the request carried it, unchanged; null without it."""
    options: JobOptions
    text: str | None
    """Null until completed."""
    segments: list[Segment] | None
    """Null until completed."""
    speakers: list[Speaker] | None
    """In the order of their first words. Null unless asked for with diarize, until completed, and where they were not found."""
    warnings: list[Warning]
    """Empty when there are none, and until the job has ended."""
    error: JobError | None
    cost: float | None
    """Credits; null until known."""
    progress: float
    created_at: str
    started_at: str | None
    completed_at: str | None
    expires_at: str | None
    """From when on the job is erased; null without delete_after_seconds, and until it has ended."""
    queue_position: NotRequired[int]
    """1 for the next to start; while it is queued."""
    live: NotRequired[JobLive]
    """Of a live session, until it ends."""
    webhook_url: NotRequired[str]
    """Where the webhook of this job alone sends to. Only where the request gave one."""
    webhook_secret: NotRequired[str]
    """Only in the answer to the request that sent the job: signs the deliveries to webhook_url, where the request gave no secret."""


class ErrorBodyError(TypedDict):
    message: str
    """A sentence that says what to do."""
    code: int
    """Equal to the HTTP status."""
    type: Literal["invalid_request", "forbidden_url", "unauthenticated", "insufficient_balance", "plan_limit", "missing_scope", "missing_role", "suspended", "not_found", "method_not_allowed", "conflict", "too_large", "unsupported_media_type", "range_not_satisfiable", "unprocessable_audio", "audio_fetch_failed", "rate_limited", "internal", "unavailable"]
    """Stable; program against it."""
    param: NotRequired[str]
    """The field at fault, when one is."""
    docs: str
    """The page that explains the error: a path of this service."""


class ErrorBody(TypedDict):
    error: ErrorBodyError
    retry_after: NotRequired[int]
    """With 429: seconds after which one request will pass."""
    required_scope: NotRequired[str]
    """With 403 missing_scope: what the key lacks."""
    needed_credits: NotRequired[float]
    """With 402: what the audio costs; 0.000001 while its length is not known."""
    available_credits: NotRequired[float]
    """With 402: what can be spent."""
    reason: NotRequired[str]
    """With audio_fetch_failed: as in the error of the job."""
    http_status: NotRequired[int]
    """With audio_fetch_failed: what the server answered."""
    job_id: NotRequired[str]
    """The job, where the failed request made one."""
    request_id: str


class JobInListAudio(TypedDict):
    filename: str | None
    format: str | None
    """Null until audio from a URL is stored; likewise length and size."""
    duration_seconds: float | None
    size_bytes: int | None
    source: str | None
    """Origin and path of audio_url; null for an upload."""
    channels: int | None
    """Of the audio track that is transcribed; null while it is unknown."""
    tracks: list[AudioTrack]
    """The audio tracks of the file; empty while they are unknown."""


class JobInListError(TypedDict):
    type: Literal["unprocessable_audio", "insufficient_balance", "engine_error", "engine_timeout", "audio_fetch_failed"]
    message: str
    reason: NotRequired[Literal["dns", "connect", "tls", "timeout", "http_status", "redirect", "forbidden_address", "too_large"]]
    """With audio_fetch_failed."""
    http_status: NotRequired[int]
    """With audio_fetch_failed: what the server of the audio answered."""


class JobInList(TypedDict):
    id: str
    status: Literal["queued", "processing", "completed", "failed", "canceled"]
    waiting_for: Literal["engine", "storage", "model"] | None
    """What a queued job waits for beside its turn; it does not fail meanwhile."""
    waiting_since: NotRequired[str]
    """While `waiting_for` is not null."""
    plan: Literal["lite", "pro"]
    model: str | None
    language: str | None
    """The spoken language."""
    translated_to: Literal["en"] | None
    """The language of the text, where a translation was asked for; null until completed."""
    audio: JobInListAudio
    title: str | None
    """A name of your own; null without one."""
    tags: list[str]
    """Words of your own."""
    metadata: Any
    """Any JSON value, as the request carried it, unchanged; null without it."""
    options: JobOptions
    text: str | None
    """Null until completed."""
    text_cut: NotRequired[bool]
    """The text has more than the 500 characters that lists show; GET the job for all."""
    speakers: list[Speaker] | None
    """In the order of their first words. Null unless asked for with diarize, until completed, and where they were not found."""
    warnings: list[Warning]
    """Empty when there are none, and until the job has ended."""
    error: JobInListError | None
    cost: float | None
    """Credits; null until known."""
    progress: float
    created_at: str
    started_at: str | None
    completed_at: str | None
    expires_at: str | None
    """From when on the job is erased; null without delete_after_seconds, and until it has ended."""


class JobList(TypedDict):
    data: list[JobInList]
    has_more: bool
    next_cursor: str | None
    """Pass it on as `cursor` for the next page; null on the last one."""


class JobStreamEventsStatusError(TypedDict):
    type: Literal["unprocessable_audio", "insufficient_balance", "engine_error", "engine_timeout", "audio_fetch_failed"]
    message: str
    reason: NotRequired[Literal["dns", "connect", "tls", "timeout", "http_status", "redirect", "forbidden_address", "too_large"]]
    """With audio_fetch_failed."""
    http_status: NotRequired[int]
    """With audio_fetch_failed: what the server of the audio answered."""


class JobStreamEventsStatus(TypedDict):
    id: str
    status: Literal["queued", "processing", "completed", "failed", "canceled"]
    waiting_for: NotRequired[Literal["engine", "storage", "model"]]
    """As of the job; absent where it is null."""
    waiting_since: NotRequired[str]
    """While `waiting_for` is not null."""
    queue_position: NotRequired[int]
    error: JobStreamEventsStatusError | None


class JobStreamEventsProgress(TypedDict):
    progress: float


class JobStreamEventsSegment(TypedDict):
    index: int
    """A number that came before replaces the earlier segment."""
    channel: NotRequired[int]
    """From 0; with multichannel."""
    start: float
    """Seconds from the start of the audio."""
    end: float
    text: str
    confidence: float | None
    """0 to 1; null where the engine gives none."""
    speaker: NotRequired[str | None]
    """With diarize=true; null where the speakers were not found."""
    words: NotRequired[list[Word]]


class JobStreamEvents(TypedDict):
    """The data of each server-sent event, by the name of the event."""

    status: JobStreamEventsStatus
    progress: JobStreamEventsProgress
    segment: JobStreamEventsSegment


class Transcript(TypedDict):
    version: Literal["original", "edited"]
    text: str | None
    language: str | None
    """The spoken language."""
    translated_to: Literal["en"] | None
    """The language of the text, where a translation was asked for."""
    duration_seconds: float
    edited_at: str | None
    """When the shown version was last edited; null for the original."""
    speakers: NotRequired[dict[str, str]]
    """The names that speakers were given, by their labels; absent where none was named."""
    merged_speakers: NotRequired[dict[str, str]]
    """The speakers that are shown as another one, by their labels; absent where none was merged."""
    segments: list[Segment]


class OpenAiUsage(TypedDict):
    type: Literal["duration"]
    seconds: int
    """Of audio, rounded up."""


class OpenAiTranscriptionWordsItem(TypedDict):
    word: str
    start: float
    end: float
    estimated: NotRequired[Literal[True]]
    """The engine gives this word no times: they lie between those of its neighbours. Else absent."""


class OpenAiTranscription(TypedDict):
    """More than text and usage only with verbose_json and diarized_json."""

    text: str | None
    usage: OpenAiUsage
    task: NotRequired[Literal["transcribe", "translate"]]
    language: NotRequired[str]
    """Of the text, in English: english. Empty when it is not known."""
    duration: NotRequired[float]
    """Seconds."""
    segments: NotRequired[list[Any]]
    words: NotRequired[list[OpenAiTranscriptionWordsItem]]


class OpenAiTranscriptionEvent1(TypedDict):
    type: Literal["transcript.text.delta"]
    delta: str


class OpenAiTranscriptionEvent2(TypedDict):
    type: Literal["transcript.text.segment"]
    id: str
    start: float
    end: float
    text: str
    speaker: str | None
    """Null where the speakers were not found."""


class OpenAiTranscriptionEvent3(TypedDict):
    type: Literal["transcript.text.done"]
    text: str
    usage: OpenAiUsage


# The data of each server-sent event. The deltas add up to the text. An error after the first byte is an event with the body of an error.
OpenAiTranscriptionEvent = Union["OpenAiTranscriptionEvent1", "OpenAiTranscriptionEvent2", "OpenAiTranscriptionEvent3"]


class Model(TypedDict):
    id: Literal["lite", "pro"]
    """A plan: a value of `model`, and of `plan` on POST /v1/transcribe."""
    object: Literal["model"]
    created: int
    """The same for every plan; clients of that API require it."""
    owned_by: Literal["verbatim"]
    engine: str | None
    """The name of the plan's engine; null until it is ready for the first time."""
    languages: list[str] | None
    """BCP 47 codes; null when the engine takes any, or is not known yet."""
    features: list[Literal["words", "confidence", "prompt", "keywords", "translate", "diarize"]]
    licence: str | None
    """Of the model; null when unknown."""
    attribution: str | None
    """Who is to be named with the transcripts, where the licence asks for it."""


class ModelList(TypedDict):
    """As OpenAI's API lists models, with further fields."""

    object: Literal["list"]
    data: list[Model]


class SearchHit(TypedDict):
    segment: int
    """Its index in the segments of the transcript."""
    start: float
    """Seconds from the start of the audio."""
    end: float
    text: str
    speaker: NotRequired[str | None]
    """As in the transcript."""
    channel: NotRequired[int]
    highlights: list[list[int]]
    """Where the words stand in `text`: start and end, in UTF-16 units as in JavaScript."""


class SearchResult(TypedDict):
    job_id: str
    created_at: str
    title: str | None
    """As the job has it."""
    filename: str | None
    language: str | None
    """Of the text."""
    hits: list[SearchHit]
    """In the order of the audio."""


class SearchResultList(TypedDict):
    data: list[SearchResult]
    has_more: bool
    next_cursor: str | None
    """Pass it on as `cursor` for the next page; null on the last one."""


class NewShare(TypedDict):
    id: str
    url: str
    """A page with the transcript; relative to the address of the service unless PUBLIC_URL names it. Shown only here. What follows the last slash is the token of `GET /v1/shared/{token}`."""
    expires_at: str
    """Not later than the API key that made the link expires."""


class Share(TypedDict):
    id: str
    created_at: str
    expires_at: str
    """Not later than the API key that made the link expires."""
    opened_count: int
    """How often the transcript was read by it, files included."""
    last_opened_at: str | None


class ShareList(TypedDict):
    data: list[Share]


class SharedTranscript(TypedDict):
    name: str
    """The title of the job, else the name of the audio file, else `Transcript`."""
    created_at: str
    """When the audio was sent."""
    expires_at: str
    """When the link ends."""
    text: str | None
    language: str | None
    """The spoken language."""
    translated_to: Literal["en"] | None
    """The language of the text, where a translation was asked for."""
    duration_seconds: float
    speakers: NotRequired[dict[str, str]]
    """The names that speakers were given, by their labels; absent where none was named."""
    segments: list[Segment]


class AudioLink(TypedDict):
    url: str
    """Relative to the address of the service."""
    expires_at: str


class Peaks(TypedDict):
    duration_seconds: float
    min: list[int]
    """The lowest sample of each part of the audio, of -128 to 127."""
    max: list[int]
    """The highest sample of each part; as many as in `min`."""


class DeliveryError(TypedDict):
    reason: Literal["http_status", "redirect", "timeout", "dns", "forbidden_address", "connect", "tls", "reset", "protocol"]
    message: str


class DeliveryTimings(TypedDict):
    dns_ms: float | None
    """Name resolution."""
    connect_ms: float | None
    """TCP. Null for a phase that did not end, and on a connection that is used again."""
    tls_ms: float | None
    """TLS."""
    first_byte_ms: float | None
    """Up to the first byte of the answer."""
    reused: bool
    """Whether the request was sent on the connection of an earlier attempt: connect_ms and tls_ms are null."""


class Delivery(TypedDict):
    id: str
    webhook_id: str
    event_id: str
    event_type: Literal["transcription.completed", "transcription.failed", "webhook.test", "webhook.disabled", "webhook.exhausted"]
    url: str | None
    """Null when the webhook is deleted and the attempt was never made."""
    attempt: int
    """1 to 4."""
    status: Literal["succeeded", "failed", "pending", "dropped"]
    response_status: int | None
    """The status line of the answer; null when none came."""
    error: DeliveryError | None
    duration_ms: float | None
    """From the start of name resolution to the end of the attempt."""
    timings: DeliveryTimings
    created_at: str
    completed_at: str | None
    next_attempt_at: str | None


class AccountStreamEventsHello(TypedDict):
    account: str
    version: str
    """Of the service."""
    now: str
    oldest_id: str | None
    """The oldest event that is kept."""


class AccountStreamEventsEvent(TypedDict):
    id: str
    type: Literal["transcription.completed", "transcription.failed", "webhook.test", "webhook.disabled", "webhook.exhausted"]
    created_at: str
    sha256: str
    """Of the body, in hex."""
    body: str
    """The body as it is sent to webhooks: JSON text."""


class AccountStreamEventsResend(TypedDict):
    """An event that was redelivered or recovered, at its first attempt."""

    id: str
    type: Literal["transcription.completed", "transcription.failed", "webhook.test", "webhook.disabled", "webhook.exhausted"]
    created_at: str
    sha256: str
    """Of the body, in hex."""
    body: str
    """The body as it is sent to webhooks: JSON text."""
    webhook_id: str
    delivery_id: str
    """Of that attempt."""


# What was asked for is no longer kept; the stream goes on with what is.
AccountStreamEventsGap = TypedDict(
    "AccountStreamEventsGap",
    {
        "from": "str",
        "oldest_id": "str | None",
    },
)


class AccountStreamEventsBye(TypedDict):
    reason: Literal["stopping", "key_ended"]


class AccountStreamEvents(TypedDict):
    """The data of each server-sent event, by the name of the event."""

    hello: AccountStreamEventsHello
    event: AccountStreamEventsEvent
    resend: AccountStreamEventsResend
    """An event that was redelivered or recovered, at its first attempt."""
    job: JobInList
    delivery: Delivery
    gap: AccountStreamEventsGap
    """What was asked for is no longer kept; the stream goes on with what is."""
    bye: AccountStreamEventsBye


class OwnAccountLimitsRatesTranscribe(TypedDict):
    requests: int
    seconds: int


class OwnAccountLimitsRatesBalance(TypedDict):
    requests: int
    seconds: int


class OwnAccountLimitsRatesJobs(TypedDict):
    requests: int
    seconds: int


class OwnAccountLimitsRatesResend(TypedDict):
    requests: int
    seconds: int


class OwnAccountLimitsRatesDefault(TypedDict):
    requests: int
    seconds: int


class OwnAccountLimitsRates(TypedDict):
    """By group of endpoints; the RateLimit headers of each answer show what is left."""

    transcribe: OwnAccountLimitsRatesTranscribe | None
    """The most requests in any span of this length, in seconds; null: no limit."""
    balance: OwnAccountLimitsRatesBalance | None
    """The most requests in any span of this length, in seconds; null: no limit."""
    jobs: OwnAccountLimitsRatesJobs | None
    """The most requests in any span of this length, in seconds; null: no limit."""
    resend: OwnAccountLimitsRatesResend | None
    """The most requests in any span of this length, in seconds; null: no limit."""
    default: OwnAccountLimitsRatesDefault | None
    """The most requests in any span of this length, in seconds; null: no limit."""


class OwnAccountLimits(TypedDict):
    webhooks: int
    """Webhooks that the plan allows; disabled ones count."""
    rates: OwnAccountLimitsRates
    """By group of endpoints; the RateLimit headers of each answer show what is left."""
    upload_bytes: int
    audio_seconds: int
    delivery_log_days: int
    """How long the delivery log is kept."""
    job_days: int
    """How long ended jobs are kept."""


class OwnAccountDeliveries(TypedDict):
    """How deliveries are attempted."""

    timeout_ms: int
    """Of one attempt."""
    retry_delays_seconds: list[float]
    """Before each attempt, counted from the end of the one before; each varies by up to 10 %."""
    disable_failures: int
    """A webhook is disabled after this number of failed attempts in a row …"""
    disable_seconds: float
    """… over at least this time."""


class OwnAccount(TypedDict):
    id: str
    name: str
    plan: Literal["lite", "pro"]
    limits: OwnAccountLimits
    deliveries: OwnAccountDeliveries
    """How deliveries are attempted."""
    webhook_header_prefix: str
    """How the headers of deliveries begin."""
    scopes: list[Literal["jobs:read", "jobs:write", "webhooks:read", "webhooks:write", "usage:read", "keys:write"]]
    """What the key of this request may do."""


class LedgerEntryBalance(TypedDict):
    """After the entry."""

    amount: float
    held: float


class LedgerEntry(TypedDict):
    id: str
    account_id: str
    number: int
    """1 for the account's first entry; without gaps."""
    kind: Literal["credit", "hold", "capture", "release"]
    """credit: by the operator; hold: set aside for a job; capture: the end of a hold, which took the cost of the job and gave back the rest; release: the end of a hold without a cost."""
    amount: float
    """Added to what can be spent."""
    held: float
    """Added to what is held."""
    balance: LedgerEntryBalance
    """After the entry."""
    job_id: str | None
    note: str | None
    created_at: str


class LedgerEntryList(TypedDict):
    data: list[LedgerEntry]
    has_more: bool
    next_cursor: str | None
    """Pass it on as `cursor` for the next page; null on the last one."""


class BalanceRates(TypedDict):
    """Credits per minute of audio."""

    lite: float
    pro: float


class Balance(TypedDict):
    amount: float | None
    """What can be spent; null when unlimited."""
    held: float
    """Set aside for accepted jobs."""
    units: Literal["credits"]
    unlimited: bool
    rates: BalanceRates
    """Credits per minute of audio."""
    plan: Literal["lite", "pro"]


class UsageRow(TypedDict):
    start: str
    end: str
    plan: NotRequired[Literal["lite", "pro"]]
    """With group_by=plan."""
    model: NotRequired[str | None]
    """With group_by=model; null: jobs that ended before they had one."""
    key_id: NotRequired[str | None]
    """With group_by=key; the key may be deleted since."""
    jobs: int
    """Jobs that ended, in whichever state."""
    failed: int
    """Those of them that failed."""
    canceled: int
    """Those of them that were canceled."""
    audio_seconds: float
    """Length of the audio of these jobs."""
    billed_seconds: float
    """Length that was charged; with multichannel that of each channel."""
    cost: float
    """Credits."""


Usage = TypedDict(
    "Usage",
    {
        "from": "str",
        "to": "str",
        "bucket": "Literal['hour', 'day', 'month']",
        "data": "list[UsageRow]",
    },
)


class KeyCreatedBy(TypedDict):
    id: str
    name: str


class Key(TypedDict):
    id: str
    name: str | None
    prefix: str
    """How the key begins."""
    scopes: list[Literal["jobs:read", "jobs:write", "webhooks:read", "webhooks:write", "usage:read", "keys:write"]]
    """Empty: all. `jobs:read`: read jobs, their transcripts, stored audio and event streams; `jobs:write`: transcribe audio; retry, cancel and erase jobs; edit transcripts; with jobs:read, share them by links; `webhooks:read`: read webhooks, events and the delivery log; `webhooks:write`: create, change, test and delete webhooks, rotate their secrets, redeliver and recover events; `usage:read`: read the balance, the ledger and the usage; `keys:write`: list, create and delete the account's keys."""
    created_at: str
    expires_at: str | None
    """From when on the key is refused; null: never."""
    last_used_at: str | None
    """At most a minute old; null: not used yet."""
    created_by: KeyCreatedBy | None
    """The user who made it; null: a key or the operator did, or the user is gone."""


class KeyList(TypedDict):
    data: list[Key]
    has_more: bool
    next_cursor: str | None
    """Pass it on as `cursor` for the next page; null on the last one."""


class NewKeyCreatedBy(TypedDict):
    id: str
    name: str


class NewKey(TypedDict):
    id: str
    name: str | None
    prefix: str
    """How the key begins."""
    scopes: list[Literal["jobs:read", "jobs:write", "webhooks:read", "webhooks:write", "usage:read", "keys:write"]]
    """Empty: all. `jobs:read`: read jobs, their transcripts, stored audio and event streams; `jobs:write`: transcribe audio; retry, cancel and erase jobs; edit transcripts; with jobs:read, share them by links; `webhooks:read`: read webhooks, events and the delivery log; `webhooks:write`: create, change, test and delete webhooks, rotate their secrets, redeliver and recover events; `usage:read`: read the balance, the ledger and the usage; `keys:write`: list, create and delete the account's keys."""
    created_at: str
    expires_at: str | None
    """From when on the key is refused; null: never."""
    last_used_at: str | None
    """At most a minute old; null: not used yet."""
    created_by: NewKeyCreatedBy | None
    """The user who made it; null: a key or the operator did, or the user is gone."""
    key: str
    """Shown only in this answer."""


class Session(TypedDict):
    id: str
    account_id: str
    key_id: str | None
    """The key that signed in. The session has its scopes, and ends with it. Null for a user."""
    user_id: str | None
    """The user who signed in. The session has the scopes of the role. Null for a key."""
    created_at: str
    expires_at: str


class WaysToSignInOidc(TypedDict):
    name: str
    """How the provider is called."""


class WaysToSignIn(TypedDict):
    setup: bool
    """There is no user yet: `POST /v1/setup` makes the first one."""
    password: bool
    """Users sign in with an email and a password."""
    oidc: WaysToSignInOidc | None
    """Users sign in by OpenID Connect; null: they do not."""


class MeAccountsItem(TypedDict):
    id: str
    name: str
    role: Literal["owner", "member", "viewer"]
    """`owner`: everything in the account: also its users, invitations, and all keys; `member`: jobs, webhooks, usage, and keys of their own; `viewer`: reading jobs, webhooks, events and usage"""


class Me(TypedDict):
    id: str
    name: str
    email: str
    has_password: bool
    operator: bool
    """Whether the session permits `/admin/v1` too."""
    role: Literal["owner", "member", "viewer"]
    """`owner`: everything in the account: also its users, invitations, and all keys; `member`: jobs, webhooks, usage, and keys of their own; `viewer`: reading jobs, webhooks, events and usage"""
    account_id: str
    accounts: list[MeAccountsItem]
    """All accounts of the user."""


class User(TypedDict):
    id: str
    name: str
    email: str
    role: Literal["owner", "member", "viewer"]
    """`owner`: everything in the account: also its users, invitations, and all keys; `member`: jobs, webhooks, usage, and keys of their own; `viewer`: reading jobs, webhooks, events and usage"""
    joined_at: str
    last_used_at: str | None
    """At most a minute old; null: no request yet."""


class UserList(TypedDict):
    data: list[User]
    has_more: bool
    next_cursor: str | None
    """Pass it on as `cursor` for the next page; null on the last one."""


class Invitation(TypedDict):
    id: str
    role: Literal["owner", "member", "viewer"]
    """`owner`: everything in the account: also its users, invitations, and all keys; `member`: jobs, webhooks, usage, and keys of their own; `viewer`: reading jobs, webhooks, events and usage"""
    email: str | None
    """The only address that may accept it; null: whoever has the link."""
    created_by: str | None
    """The user who invites; null: the operator, or a user who is gone."""
    created_at: str
    expires_at: str


class InvitationList(TypedDict):
    data: list[Invitation]
    has_more: bool
    next_cursor: str | None
    """Pass it on as `cursor` for the next page; null on the last one."""


class NewInvitation(TypedDict):
    id: str
    role: Literal["owner", "member", "viewer"]
    """`owner`: everything in the account: also its users, invitations, and all keys; `member`: jobs, webhooks, usage, and keys of their own; `viewer`: reading jobs, webhooks, events and usage"""
    email: str | None
    """The only address that may accept it; null: whoever has the link."""
    created_by: str | None
    """The user who invites; null: the operator, or a user who is gone."""
    created_at: str
    expires_at: str
    url: str
    """The link to give to the person; relative to the address of the service. Shown only here."""


class OpenedInvitation(TypedDict):
    account_name: str
    role: Literal["owner", "member", "viewer"]
    """`owner`: everything in the account: also its users, invitations, and all keys; `member`: jobs, webhooks, usage, and keys of their own; `viewer`: reading jobs, webhooks, events and usage"""
    email: str | None
    """The only address that may accept it; null: any."""
    expires_at: str


class SignInAtProvider(TypedDict):
    url: str
    """At the provider."""


class WebhookWithSecret(TypedDict):
    id: str
    job_id: NotRequired[str]
    """Only of the webhook of one job, which gets the events of this job alone and is in no list."""
    url: str
    events: list[Literal["transcription.completed", "transcription.failed", "webhook.test"]]
    description: str | None
    headers: list[str]
    """Names of its custom headers. Their values are never shown."""
    max_per_second: int | None
    """How many requests may be sent in a second; null: no limit."""
    include: list[Literal["text", "segments"]]
    """The parts of a job that its deliveries have; for another, the job has `text_omitted` or `segments_omitted`."""
    active: bool
    disabled_reason: Literal["manual", "consecutive_failures"] | None
    disabled_at: str | None
    consecutive_failures: int
    """Failed attempts since the last one that succeeded."""
    failing_since: str | None
    previous_secret_ends_at: str | None
    """Until then the secret before the last rotation signs too. May be past; null: no overlap was asked for."""
    created_at: str
    updated_at: str
    secret: str
    """Signs deliveries. Shown only in this answer."""


class Webhook(TypedDict):
    id: str
    job_id: NotRequired[str]
    """Only of the webhook of one job, which gets the events of this job alone and is in no list."""
    url: str
    events: list[Literal["transcription.completed", "transcription.failed", "webhook.test"]]
    description: str | None
    headers: list[str]
    """Names of its custom headers. Their values are never shown."""
    max_per_second: int | None
    """How many requests may be sent in a second; null: no limit."""
    include: list[Literal["text", "segments"]]
    """The parts of a job that its deliveries have; for another, the job has `text_omitted` or `segments_omitted`."""
    active: bool
    disabled_reason: Literal["manual", "consecutive_failures"] | None
    disabled_at: str | None
    consecutive_failures: int
    """Failed attempts since the last one that succeeded."""
    failing_since: str | None
    previous_secret_ends_at: str | None
    """Until then the secret before the last rotation signs too. May be past; null: no overlap was asked for."""
    created_at: str
    updated_at: str


class WebhookList(TypedDict):
    data: list[Webhook]
    has_more: bool
    next_cursor: str | None
    """Pass it on as `cursor` for the next page; null on the last one."""


class Alerts(TypedDict):
    webhook: Webhook | None
    """Null: none was set."""


class TestSent(TypedDict):
    event_id: str
    type: Literal["transcription.completed", "transcription.failed", "webhook.test"]


class DeliveryList(TypedDict):
    data: list[Delivery]
    has_more: bool
    next_cursor: str | None
    """Pass it on as `cursor` for the next page; null on the last one."""


class DeliveryWithExchangeError(TypedDict):
    reason: Literal["http_status", "redirect", "timeout", "dns", "forbidden_address", "connect", "tls", "reset", "protocol"]
    message: str


class DeliveryWithExchangeTimings(TypedDict):
    dns_ms: float | None
    """Name resolution."""
    connect_ms: float | None
    """TCP. Null for a phase that did not end, and on a connection that is used again."""
    tls_ms: float | None
    """TLS."""
    first_byte_ms: float | None
    """Up to the first byte of the answer."""
    reused: bool
    """Whether the request was sent on the connection of an earlier attempt: connect_ms and tls_ms are null."""


class DeliveryWithExchangeRequest(TypedDict):
    headers: dict[str, Any]
    body: str | None


class DeliveryWithExchangeResponse(TypedDict):
    headers: dict[str, Any]
    body: str


class DeliveryWithExchange(TypedDict):
    id: str
    webhook_id: str
    event_id: str
    event_type: Literal["transcription.completed", "transcription.failed", "webhook.test", "webhook.disabled", "webhook.exhausted"]
    url: str | None
    """Null when the webhook is deleted and the attempt was never made."""
    attempt: int
    """1 to 4."""
    status: Literal["succeeded", "failed", "pending", "dropped"]
    response_status: int | None
    """The status line of the answer; null when none came."""
    error: DeliveryWithExchangeError | None
    duration_ms: float | None
    """From the start of name resolution to the end of the attempt."""
    timings: DeliveryWithExchangeTimings
    created_at: str
    completed_at: str | None
    next_attempt_at: str | None
    remote_address: str | None
    """The address that was connected to."""
    request: DeliveryWithExchangeRequest | None
    """As it was sent; null when nothing was."""
    response: DeliveryWithExchangeResponse | None
    """The headers and the first 4 KiB of the body; null when none came."""


class Redelivered(TypedDict):
    event_id: str


class RedeliveredMany(TypedDict):
    events: int
    """How many events are sent again; each of them once."""


class Recovered(TypedDict):
    events: int
    """How many events are sent again, or would be."""
    next_since: NotRequired[str]
    """Only where more than 100,000 events lie in that time: ask again with this as since."""


class WebhookMetricsIntervalReasons(TypedDict):
    """How many attempts failed for each reason; without those that did not occur."""

    http_status: NotRequired[int]
    redirect: NotRequired[int]
    timeout: NotRequired[int]
    dns: NotRequired[int]
    forbidden_address: NotRequired[int]
    connect: NotRequired[int]
    tls: NotRequired[int]
    reset: NotRequired[int]
    protocol: NotRequired[int]


class WebhookMetricsInterval(TypedDict):
    start: str
    attempts: int
    """Attempts that ended in this time: succeeded and failed ones."""
    succeeded: int
    failed: int
    dropped: int
    """Attempts that were never made, because the webhook was disabled or deleted, or the job erased."""
    reasons: WebhookMetricsIntervalReasons
    """How many attempts failed for each reason; without those that did not occur."""
    p50_ms: float | None
    """Median duration of the attempts; null without any."""
    p95_ms: float | None
    """95 % of the attempts took at most this time."""
    waiting: int
    """Deliveries that waited or were under way at the end of this time, or now in the current one."""


WebhookMetrics = TypedDict(
    "WebhookMetrics",
    {
        "bucket": "Literal['minute', 'hour', 'day']",
        "from": "str",
        "to": "str",
        "truncated": "bool",
        "data": "list[WebhookMetricsInterval]",
    },
)


class SignatureDiagnosisChecksItem(TypedDict):
    name: Literal["headers", "time", "signature", "body"]
    result: Literal["ok", "wrong", "unknown"]
    message: str
    expected: str
    """What a delivery of the service has there."""
    found: str | None
    """What this one has there: a form, never a value."""


class SignatureDiagnosisDifference(TypedDict):
    at: int
    """Position of the first byte that differs."""
    sent: str
    """Up to 20 bytes on each side of it; control characters as escapes."""
    received: str
    sent_bytes: int
    received_bytes: int
    kind: Literal["whitespace", "bom", "charset", "reordered", "escaped", "number_precision", "truncated", "changed"]


class SignatureDiagnosis(TypedDict):
    verdict: Literal["genuine", "missing_header", "header_twice", "wrong_header_prefix", "signature_reformatted", "bad_timestamp", "stale_timestamp", "clock_skew", "secret_whitespace", "secret_prefix_cut", "secret_decoded", "wrong_scheme", "body_parsed", "body_empty", "body_whitespace", "body_bom", "body_double_encoded", "body_charset", "body_base64", "body_compressed", "previous_secret", "secret_of_another_webhook", "body_changed_at", "body_truncated", "header_changed_by_proxy", "wrong_secret", "unexplained"]
    """The first cause; genuine: the signature, body and time fit."""
    causes: list[Literal["genuine", "missing_header", "header_twice", "wrong_header_prefix", "signature_reformatted", "bad_timestamp", "stale_timestamp", "clock_skew", "secret_whitespace", "secret_prefix_cut", "secret_decoded", "wrong_scheme", "body_parsed", "body_empty", "body_whitespace", "body_bom", "body_double_encoded", "body_charset", "body_base64", "body_compressed", "previous_secret", "secret_of_another_webhook", "body_changed_at", "body_truncated", "header_changed_by_proxy", "wrong_secret", "unexplained"]]
    """All causes, the one to look at first in front."""
    fix: str
    """What to do about the verdict, and how in the framework where that is known."""
    framework: Literal["express", "fastify", "nextjs", "hono", "lambda", "flask", "django", "fastapi", "rails", "laravel", "go", "spring", "aspnet"] | None
    """As it was given, or as the headers of the delivery and its answer name it."""
    checks: list[SignatureDiagnosisChecksItem]
    difference: SignatureDiagnosisDifference | None
    """Where the body differs from the one that was sent; null when it does not, or when that one is no longer kept."""


class Event(TypedDict):
    id: str
    type: Literal["transcription.completed", "transcription.failed", "webhook.test", "webhook.disabled", "webhook.exhausted"]
    job_id: str | None
    created_at: str


class EventList(TypedDict):
    data: list[Event]
    has_more: bool
    next_cursor: str | None
    """Pass it on as `cursor` for the next page; null on the last one."""


class EventWithDeliveries(TypedDict):
    id: str
    type: Literal["transcription.completed", "transcription.failed", "webhook.test", "webhook.disabled", "webhook.exhausted"]
    job_id: str | None
    created_at: str
    payload: dict[str, Any]
    """The body as it is sent to webhooks."""
    deliveries: list[Delivery]


class EventTypeListDataItem(TypedDict):
    type: Literal["transcription.completed", "transcription.failed", "webhook.test"]
    description: str
    """When it is emitted."""
    schema: dict[str, Any]
    """JSON Schema of the body."""
    example: dict[str, Any]
    """A body."""


class EventTypeList(TypedDict):
    data: list[EventTypeListDataItem]


class Account(TypedDict):
    id: str
    name: str
    plan: Literal["lite", "pro"]
    balance: Balance
    suspended_at: str | None
    """Since then its keys are refused and its deliveries wait; null: it is not suspended."""
    created_at: str


class AccountList(TypedDict):
    data: list[Account]
    has_more: bool
    next_cursor: str | None
    """Pass it on as `cursor` for the next page; null on the last one."""


class AccountErasure(TypedDict):
    id: str
    status: Literal["erasing"]


class PortalLink(TypedDict):
    url: str
    """Opens the console; relative to the address of the service unless PUBLIC_URL names it. Shown only here."""
    key_id: str
    """The key behind the link: deleting it ends the link, and the keys that were made by way of it."""
    scopes: list[Literal["jobs:read", "jobs:write", "webhooks:read", "webhooks:write", "usage:read", "keys:write"]]
    expires_at: str


class Operator(TypedDict):
    id: str
    name: str
    email: str


class OperatorList(TypedDict):
    data: list[Operator]
    has_more: bool
    next_cursor: str | None
    """Pass it on as `cursor` for the next page; null on the last one."""


class OverviewJobs(TypedDict):
    queued: int
    processing: int
    oldest_queued_seconds: float


class OverviewDeliveries(TypedDict):
    due: int
    """Those under way included."""
    oldest_due_seconds: float


class OverviewWebhooks(TypedDict):
    active: int
    disabled: int


class OverviewNodes(TypedDict):
    alive: int
    """Reported themselves within 30 s."""
    not_ready: int
    """Of those alive."""


class OverviewEnginesItem(TypedDict):
    plan: Literal["lite", "pro"]
    engine: str
    languages: list[str] | None
    """Null: any."""
    features: list[Literal["words", "confidence", "prompt", "keywords", "translate", "diarize"]]
    licence: str | None
    """Null when unknown."""


class OverviewWaitsItem(TypedDict):
    plan: Literal["lite", "pro"]
    waiting_for: Literal["engine", "storage", "model"]
    """What every transcriber lacks for the plan."""
    since: str
    jobs: int
    """Queued jobs of the plan."""


class Overview(TypedDict):
    now: str
    version: str
    accounts: int
    jobs: OverviewJobs
    deliveries: OverviewDeliveries
    webhooks: OverviewWebhooks
    nodes: OverviewNodes
    engines: list[OverviewEnginesItem]
    """Of each plan, as a transcriber reported it last."""
    waits: list[OverviewWaitsItem]
    """The plans whose jobs wait for more than their turn."""


class Node(TypedDict):
    id: str
    host: str
    version: str
    roles: list[str]
    alive: bool
    """It reported itself within the last 30 s."""
    ready: bool
    reasons: list[str]
    """Why it is not ready."""
    started_at: str
    seen_at: str


class NodeList(TypedDict):
    data: list[Node]


class JobSummary(TypedDict):
    """A job without anything that its account sent or was given."""

    id: str
    account_id: str
    status: Literal["queued", "processing", "completed", "failed", "canceled"]
    plan: Literal["lite", "pro"]
    model: str | None
    duration_seconds: float | None
    size_bytes: int | None
    progress: float
    attempts: int
    holder: str | None
    """The process that works on it, or did so last: `<node>/<process>`."""
    error_type: Literal["unprocessable_audio", "insufficient_balance", "engine_error", "engine_timeout", "audio_fetch_failed"] | None
    created_at: str
    started_at: str | None
    completed_at: str | None


class JobSummaryList(TypedDict):
    data: list[JobSummary]
    has_more: bool
    next_cursor: str | None
    """Pass it on as `cursor` for the next page; null on the last one."""


class AccountWebhook(TypedDict):
    id: str
    job_id: NotRequired[str]
    """Only of the webhook of one job, which gets the events of this job alone and is in no list."""
    url: str
    events: list[Literal["transcription.completed", "transcription.failed", "webhook.test"]]
    description: str | None
    headers: list[str]
    """Names of its custom headers. Their values are never shown."""
    max_per_second: int | None
    """How many requests may be sent in a second; null: no limit."""
    include: list[Literal["text", "segments"]]
    """The parts of a job that its deliveries have; for another, the job has `text_omitted` or `segments_omitted`."""
    active: bool
    disabled_reason: Literal["manual", "consecutive_failures"] | None
    disabled_at: str | None
    consecutive_failures: int
    """Failed attempts since the last one that succeeded."""
    failing_since: str | None
    previous_secret_ends_at: str | None
    """Until then the secret before the last rotation signs too. May be past; null: no overlap was asked for."""
    created_at: str
    updated_at: str
    account_id: str


class AccountWebhookList(TypedDict):
    data: list[AccountWebhook]
    has_more: bool
    next_cursor: str | None
    """Pass it on as `cursor` for the next page; null on the last one."""


class CatalogueModelWer(TypedDict):
    percent: float
    test_set: str
    source: str
    checked: bool
    """The figure was compared with its source."""


class CatalogueModel(TypedDict):
    name: str
    title: str
    family: str
    size_bytes: int
    memory_mb: float
    """Of one engine process, about."""
    languages: list[str]
    licence: str
    attribution: str
    advice: str
    wer: CatalogueModelWer | None
    """Published word error rate; null for models that transcribe nothing, or without a figure."""
    pulled: bool
    """On the node that answers."""


class ModelPull(TypedDict):
    model: str
    status: Literal["running", "completed", "canceled", "failed"]
    done_bytes: int
    total_bytes: int
    message: str | None
    started_at: str
    ended_at: str | None


class CatalogueModelListEnginesItem(TypedDict):
    plan: Literal["lite", "pro"]
    engine: str
    languages: list[str] | None
    """Null: any."""
    features: list[Literal["words", "confidence", "prompt", "keywords", "translate", "diarize"]]
    licence: str | None
    """Null when unknown."""


class CatalogueModelListNode(TypedDict):
    """The node that answers."""

    host: str
    """Name of the machine."""
    transcribes: bool
    """Models are pulled onto nodes that do."""


class CatalogueModelList(TypedDict):
    data: list[CatalogueModel]
    others: list[str]
    """Folders of DATA_DIR/models that are not in the catalogue."""
    engines: list[CatalogueModelListEnginesItem]
    node: CatalogueModelListNode
    """The node that answers."""
    pull: ModelPull | None


class Setting(TypedDict):
    name: str
    value: Any
    """As the setting is written; lists as arrays."""
    is_default: bool
    is_secret: bool
    """Then the value is `(hidden)`, or null when it is not set."""
    meaning: str


class SettingList(TypedDict):
    data: list[Setting]


class WebhooksRecovered(TypedDict):
    webhooks: int
    """Webhooks that missed events, or were enabled."""
    enabled: int
    """Webhooks that were enabled."""
    events: int
    """Deliveries that are sent, or would be."""


class JobsRetriedSkipped(TypedDict):
    audio_gone: int
    """Jobs whose audio is no longer stored."""
    insufficient_balance: int
    """Jobs that the balance of their account does not cover."""
    account_gone: int
    """Jobs of accounts that were deleted."""


class JobsRetried(TypedDict):
    jobs: int
    """New jobs, or those that would be made."""
    skipped: JobsRetriedSkipped
    next_since: NotRequired[str]
    """Only where more than 500 jobs ended so: ask again with this as failed_since or completed_since."""


class AuditEntryActor(TypedDict):
    """operator: the token of the operator; user: a session of a user."""

    type: Literal["operator", "user", "key"]
    key_id: str | None
    user_id: str | None
    name: str | None
    """Of the user or the key now; null when it is gone, or has none."""


class AuditEntry(TypedDict):
    id: str
    created_at: str
    actor: AuditEntryActor
    """operator: the token of the operator; user: a session of a user."""
    address: str
    """The peer of the connection; a proxy, where one is in front of the service."""
    action: Literal["account.created", "account.changed", "account.suspended", "account.resumed", "account.deleted", "credits.added", "user.joined", "user.changed", "user.deleted", "invitation.created", "invitation.deleted", "key.created", "key.deleted", "webhook.created", "webhook.changed", "webhook.deleted", "webhook.secret_rotated", "share.created", "share.deleted", "secrets.rotated", "webhooks.recovered", "jobs.retried", "model.pulled", "model.pull_canceled", "session.created", "session.ended", "sign_in.failed", "admin_token.refused", "job.deleted", "transcript.edited", "audio_link.created", "client_secret.created", "list.exported"]
    account_id: str
    """The account that was changed; empty when all were."""
    target_id: str
    """The account, key, user, invitation, webhook or ledger entry."""
    target_name: str | None
    """The present name of a user or a key; null for others."""
    details: dict[str, Any]
    """Names of changed fields, plan, amount, scopes."""
    request_id: str


class AuditList(TypedDict):
    data: list[AuditEntry]
    has_more: bool
    next_cursor: str | None
    """Pass it on as `cursor` for the next page; null on the last one."""


class SecretsRotation(TypedDict):
    rotated: int
    """Webhooks whose secrets and headers were sealed anew by this request."""
    unreadable: int
    """Webhooks whose secrets or headers no listed key opens; they stay as they are."""
    next_cursor: str | None
    """Where the next request goes on; null at the end."""
    remaining: int | None
    """At the end: webhooks whose secrets or headers are not sealed by the first key."""


class JobInEventAudio(TypedDict):
    filename: str | None
    format: str | None
    """Null until audio from a URL is stored; likewise length and size."""
    duration_seconds: float | None
    size_bytes: int | None
    source: str | None
    """Origin and path of audio_url; null for an upload."""
    channels: int | None
    """Of the audio track that is transcribed; null while it is unknown."""
    tracks: list[AudioTrack]
    """The audio tracks of the file; empty while they are unknown."""


class JobInEventError(TypedDict):
    type: Literal["unprocessable_audio", "insufficient_balance", "engine_error", "engine_timeout", "audio_fetch_failed"]
    message: str
    reason: NotRequired[Literal["dns", "connect", "tls", "timeout", "http_status", "redirect", "forbidden_address", "too_large"]]
    """With audio_fetch_failed."""
    http_status: NotRequired[int]
    """With audio_fetch_failed: what the server of the audio answered."""


class JobInEvent(TypedDict):
    id: str
    status: Literal["queued", "processing", "completed", "failed", "canceled"]
    waiting_for: Literal["engine", "storage", "model"] | None
    """What a queued job waits for beside its turn; it does not fail meanwhile."""
    waiting_since: NotRequired[str]
    """While `waiting_for` is not null."""
    plan: Literal["lite", "pro"]
    model: str | None
    language: str | None
    """The spoken language."""
    translated_to: Literal["en"] | None
    """The language of the text, where a translation was asked for; null until completed."""
    audio: JobInEventAudio
    metadata: Any
    """Any JSON value, as the request carried it, unchanged; null without it."""
    options: JobOptions
    text: NotRequired[str | None]
    """Null until completed."""
    segments: NotRequired[list[Segment] | None]
    """Null until completed."""
    segments_omitted: NotRequired[bool]
    """The segments were left out, because the body would be over 256 KiB."""
    text_omitted: NotRequired[bool]
    """The text was left out too, because the body would still be over 1 MiB."""
    deleted: NotRequired[bool]
    """The job was erased since."""
    speakers: list[Speaker] | None
    """In the order of their first words. Null unless asked for with diarize, until completed, and where they were not found."""
    warnings: list[Warning]
    """Empty when there are none, and until the job has ended."""
    error: JobInEventError | None
    cost: float | None
    """Credits; null until known."""
    progress: float
    created_at: str
    started_at: str | None
    completed_at: str | None
    expires_at: str | None
    """From when on the job is erased; null without delete_after_seconds, and until it has ended."""


class TranscriptionCompletedData(TypedDict):
    job: JobInEvent


class TranscriptionCompleted(TypedDict):
    """A job ended with a transcript. Synchronous requests emit it too."""

    id: str
    type: Literal["transcription.completed"]
    created_at: str
    metadata: NotRequired[Any]
    """As the request carried it; absent without it."""
    data: TranscriptionCompletedData


class TranscriptionFailedData(TypedDict):
    job: JobInEvent


class TranscriptionFailed(TypedDict):
    """A job ended without a transcript; `data.job.error` has the reason."""

    id: str
    type: Literal["transcription.failed"]
    created_at: str
    metadata: NotRequired[Any]
    """As the request carried it; absent without it."""
    data: TranscriptionFailedData


class WebhookTestData(TypedDict):
    webhook: Webhook


class WebhookTest(TypedDict):
    """A test of a webhook was requested. It is sent to that webhook only."""

    id: str
    type: Literal["webhook.test"]
    created_at: str
    data: WebhookTestData


class AlertedWebhook(TypedDict):
    id: str
    url: str
    active: bool
    disabled_reason: Literal["manual", "consecutive_failures"] | None
    disabled_at: str | None
    consecutive_failures: int
    """Failed attempts since the last one that succeeded."""
    failing_since: str | None


class WebhookDisabledData(TypedDict):
    webhook: AlertedWebhook


class WebhookDisabled(TypedDict):
    """A webhook was disabled after failed attempts."""

    id: str
    type: Literal["webhook.disabled"]
    created_at: str
    data: WebhookDisabledData


class WebhookExhaustedDataDelivery(TypedDict):
    id: str
    event_id: str
    event_type: Literal["transcription.completed", "transcription.failed", "webhook.test", "webhook.disabled", "webhook.exhausted"]
    attempt: int
    """1 to 4."""
    reason: Literal["http_status", "redirect", "timeout", "dns", "forbidden_address", "connect", "tls", "reset", "protocol"] | None
    """Why the last attempt failed."""
    response_status: int | None
    """The status line of the answer; null when none came."""


class WebhookExhaustedData(TypedDict):
    webhook: AlertedWebhook
    delivery: WebhookExhaustedDataDelivery


class WebhookExhausted(TypedDict):
    """A delivery has used up its attempts. At most once an hour for a webhook."""

    id: str
    type: Literal["webhook.exhausted"]
    created_at: str
    data: WebhookExhaustedData


class GetJobsQuery(TypedDict):
    limit: NotRequired[int]
    """How many rows at most."""
    cursor: NotRequired[str]
    """`next_cursor` of the page before, of this list with the same filters; absent for the newest. Opaque."""
    status: NotRequired[Literal["queued", "processing", "completed", "failed", "canceled"]]
    plan: NotRequired[Literal["lite", "pro"]]
    created_after: NotRequired[str]
    """Jobs created later than this time, or day in UTC."""
    created_before: NotRequired[str]
    """Jobs created earlier."""
    query: NotRequired[str]
    """A part of the title or of the file name, in upper or lower case; or an id, or its first 12 characters or more."""
    tag: NotRequired[str]
    """Jobs with this tag."""
    metadata: NotRequired[dict[str, str]]
    """As `metadata[key]=value`: jobs whose metadata is an object with this string, number or boolean at its top level, compared as text."""


class GetJobsIdQuery(TypedDict):
    wait: NotRequired[float]
    """Seconds: the answer comes when the job has ended, or after this time with the job as it is then."""


class PatchJobsIdBody(TypedDict):
    title: NotRequired[str | None]
    """A name of your own for the job: one line. null: none."""
    tags: NotRequired[list[str]]
    """Words of your own, by which jobs are listed: `GET /v1/jobs?tag=`. Duplicates are folded."""
    metadata: NotRequired[Any]
    """Any JSON value, at most 4096 bytes as it is written; its text comes back unchanged. null: none."""


class GetJobsIdTranscriptQuery(TypedDict):
    format: NotRequired[Literal["json", "text", "srt", "vtt", "md", "docx", "pdf"]]
    version: NotRequired[Literal["edited", "original"]]
    """edited: the original where nothing was edited."""
    max_line_length: NotRequired[int]
    """Characters of a line. With srt and vtt; 42 where another of these is given."""
    max_lines: NotRequired[int]
    """Lines of a caption. With srt and vtt; 2 where another of these is given."""
    min_duration: NotRequired[float]
    """Seconds. With srt and vtt; 0.833 where another of these is given."""
    max_duration: NotRequired[float]
    """Seconds. With srt and vtt; 7 where another of these is given."""
    max_chars_per_second: NotRequired[float]
    """Reading speed. With srt and vtt; 20 where another of these is given."""
    min_gap: NotRequired[float]
    """Seconds between two captions. With srt and vtt; 0.083 where another of these is given."""
    speakers: NotRequired[bool]
    """Whether srt and vtt show who speaks, for jobs with diarize=true or multichannel=true. Absent: where speakers were named. Documents show it unless false."""


class PatchJobsIdTranscriptBodySegmentsItem(TypedDict):
    index: int
    """Which segment, from 0."""
    text: str | None
    """The new text; null: the original one again."""


class PatchJobsIdTranscriptBody(TypedDict):
    segments: NotRequired[list[PatchJobsIdTranscriptBodySegmentsItem]]
    """The segments to change; all others stay as they are."""
    speakers: NotRequired[dict[str, str | None]]
    """Names for speakers, by their labels; null: the label again. All others stay as they are."""
    merged_speakers: NotRequired[dict[str, str | None]]
    """Speakers to show as another one, by their labels: `{"B": "A"}` shows B as A; null: by itself again. All others stay as they are."""


class GetSearchQuery(TypedDict):
    q: str
    """Words that stand near each other; `"phrase"` as it is written, `-not`, `or`."""
    language: NotRequired[str]
    """Transcripts in this language only."""
    created_after: NotRequired[str]
    """Jobs created later than this time, or day in UTC."""
    created_before: NotRequired[str]
    """Jobs created earlier."""
    limit: NotRequired[int]
    """How many rows at most."""
    cursor: NotRequired[str]
    """`next_cursor` of the page before, of this list with the same filters; absent for the newest. Opaque."""


class PostJobsIdShareBody(TypedDict):
    expires_in: NotRequired[int]
    """Seconds."""


class GetSharedTokenQuery(TypedDict):
    format: NotRequired[Literal["json", "text", "srt", "vtt", "md", "docx", "pdf"]]


class GetJobsIdAudioQuery(TypedDict):
    format: NotRequired[Literal["opus"]]
    """A copy that browsers play, as Ogg with Opus: one channel, at the times of the transcript. Absent: the original."""


class PostJobsIdAudioLinkBody(TypedDict):
    expires_in: NotRequired[int]
    """Seconds."""


class GetAudioLinksLinkQuery(TypedDict):
    format: NotRequired[Literal["opus"]]
    """A copy that browsers play, as Ogg with Opus: one channel, at the times of the transcript. Absent: the original."""


class GetJobsIdPeaksQuery(TypedDict):
    points: NotRequired[int]
    """At most this number; short audio has one per 10 ms."""


class PostJobsIdRetryBody(TypedDict):
    plan: NotRequired[Literal["lite", "pro"]]
    """Absent: that of the first job."""


class GetStreamQuery(TypedDict):
    topics: NotRequired[str]
    """Separated by commas: events, jobs, deliveries. Absent: all that the key may read."""
    types: NotRequired[str]
    """Separated by commas: transcription.completed, transcription.failed, webhook.test, webhook.disabled, webhook.exhausted. Types of the events; absent: all."""
    after: NotRequired[str]
    """`now` (the default), the id of the last event that you have, or a time."""


PostLiveBodyReplacementsItem = TypedDict(
    "PostLiveBodyReplacementsItem",
    {
        "from": "str",
        "to": "str",
    },
)


class PostLiveBody(TypedDict):
    plan: NotRequired[Literal["lite", "pro"]]
    """Default: the account's plan."""
    language: NotRequired[str]
    """BCP 47 code such as en; absent: detected where the model can."""
    metadata: NotRequired[str | dict[str, Any] | list[Any] | dict[str, Any] | list[Any]]
    """JSON, or a string that contains it; at most 4,096 bytes of UTF-8; its text comes back unchanged."""
    title: NotRequired[str]
    """A name of your own for the job: one line. Lists are searched by it, and documents and downloads have it."""
    tags: NotRequired[list[str]]
    """Words of your own, by which jobs are listed: `GET /v1/jobs?tag=`. Duplicates are folded."""
    timestamps: NotRequired[Literal["segment", "word"]]
    prompt: NotRequired[str]
    """Context for the engine, such as the subject or a text in the wanted style."""
    keywords: NotRequired[list[str]]
    """Words that the engine should know, each of at most 6 words; letters, digits, spaces, ' - and a full stop."""
    replacements: NotRequired[list[PostLiveBodyReplacementsItem] | str]
    delete_after_seconds: NotRequired[int]
    """The job is erased this many seconds after its end, once its deliveries have ended; at most JOB_RETENTION_DAYS."""
    encoding: NotRequired[Literal["pcm_s16le", "mulaw", "alaw"]]
    sample_rate: NotRequired[Literal[8000, 16000, 24000, 32000, 44100, 48000]]
    partials: NotRequired[bool]
    """Send the words of the open segment."""
    endpointing_ms: NotRequired[int]
    """Silence that ends a segment, from 100; 0: none does."""
    max_segment_seconds: NotRequired[int]
    resume_seconds: NotRequired[int]
    """How long a session waits for a client that was cut off."""
    idle_seconds: NotRequired[int]
    """The session finishes after this time without audio."""
    translate_to: NotRequired[Any]
    """Not offered for live sessions: a 400, but for false."""
    diarize: NotRequired[Any]
    """Not offered for live sessions: a 400, but for false."""
    speakers: NotRequired[Any]
    """Not offered for live sessions: a 400, but for false."""
    min_speakers: NotRequired[Any]
    """Not offered for live sessions: a 400, but for false."""
    max_speakers: NotRequired[Any]
    """Not offered for live sessions: a 400, but for false."""
    multichannel: NotRequired[Any]
    """Not offered for live sessions: a 400, but for false."""
    audio_track: NotRequired[Any]
    """Not offered for live sessions: a 400, but for false."""


class PostRealtimeClientSecretsBodyExpiresAfter(TypedDict):
    anchor: NotRequired[Literal["created_at"]]
    seconds: NotRequired[int]


class PostRealtimeClientSecretsBody(TypedDict):
    expires_after: NotRequired[PostRealtimeClientSecretsBodyExpiresAfter]
    session: NotRequired[dict[str, Any]]
    """As in `session.update`."""


class GetLedgerQuery(TypedDict):
    limit: NotRequired[int]
    """How many rows at most."""
    cursor: NotRequired[str]
    """`next_cursor` of the page before, of this list with the same filters; absent for the newest. Opaque."""


class GetUsageQuery(TypedDict):
    from_: NotRequired[str]
    """The first time, or day in UTC; by default a day, 30 days or a year before `to`."""
    to: NotRequired[str]
    """The time up to which; by default now."""
    bucket: NotRequired[Literal["hour", "day", "month"]]
    """In UTC. At most 7 days of hours, 366 of days, 1830 of months."""
    group_by: NotRequired[Literal["plan", "model", "key"]]
    """One row for each in a bucket."""


class GetKeysQuery(TypedDict):
    limit: NotRequired[int]
    """How many rows at most."""
    cursor: NotRequired[str]
    """`next_cursor` of the page before, of this list with the same filters; absent for the newest. Opaque."""


class PostKeysBody(TypedDict):
    name: NotRequired[str | None]
    scopes: NotRequired[list[Literal["jobs:read", "jobs:write", "webhooks:read", "webhooks:write", "usage:read", "keys:write"]]]
    """Empty: all. `jobs:read`: read jobs, their transcripts, stored audio and event streams; `jobs:write`: transcribe audio; retry, cancel and erase jobs; edit transcripts; with jobs:read, share them by links; `webhooks:read`: read webhooks, events and the delivery log; `webhooks:write`: create, change, test and delete webhooks, rotate their secrets, redeliver and recover events; `usage:read`: read the balance, the ledger and the usage; `keys:write`: list, create and delete the account's keys."""
    expires_at: NotRequired[str | None]
    """ISO 8601 time from which the key is refused; null: never."""


class PostSignInBody(TypedDict):
    email: str
    password: str


class PostSetupBody(TypedDict):
    token: str
    name: str
    email: str
    password: str
    account_name: NotRequired[str]


class PatchMeBody(TypedDict):
    name: NotRequired[str]
    password: NotRequired[str]
    current_password: NotRequired[str]


class PostMeAccountBody(TypedDict):
    account_id: str


class GetUsersQuery(TypedDict):
    limit: NotRequired[int]
    """How many rows at most."""
    cursor: NotRequired[str]
    """`next_cursor` of the page before, of this list with the same filters; absent for the newest. Opaque."""


class PatchUsersIdBody(TypedDict):
    role: Literal["owner", "member", "viewer"]
    """`owner`: everything in the account: also its users, invitations, and all keys; `member`: jobs, webhooks, usage, and keys of their own; `viewer`: reading jobs, webhooks, events and usage"""


class GetInvitationsQuery(TypedDict):
    limit: NotRequired[int]
    """How many rows at most."""
    cursor: NotRequired[str]
    """`next_cursor` of the page before, of this list with the same filters; absent for the newest. Opaque."""


class PostInvitationsBody(TypedDict):
    role: Literal["owner", "member", "viewer"]
    """`owner`: everything in the account: also its users, invitations, and all keys; `member`: jobs, webhooks, usage, and keys of their own; `viewer`: reading jobs, webhooks, events and usage"""
    email: NotRequired[str | None]


class PostInvitationsOpenBody(TypedDict):
    token: str


class PostInvitationsAcceptBody(TypedDict):
    token: str
    email: str
    password: str
    name: NotRequired[str]


class PostMeInvitationsBody(TypedDict):
    token: str


class PostSignInOidcBody(TypedDict):
    invitation: NotRequired[str]
    setup: NotRequired[str]


class PostWebhooksBody(TypedDict):
    url: str
    """https, port 443, a public address. Every spelling that a URL parser knows is accepted."""
    events: list[Literal["transcription.completed", "transcription.failed", "webhook.test"]]
    """Duplicates are folded."""
    description: NotRequired[str | None]
    headers: NotRequired[dict[str, Any] | None]
    """Custom headers of the deliveries: at most 10, 4 KiB together, printable ASCII, under names that neither the service nor HTTP uses. They replace those before; null or {} removes them. Stored encrypted; only their names are shown."""
    max_per_second: NotRequired[int | None]
    """How many requests may be sent in a second. The others wait, and are not counted as attempts. null: no limit."""
    include: NotRequired[list[Literal["text", "segments"]]]
    """The parts of a job that the deliveries have, both by default. [] leaves out both; duplicates are folded."""


class GetWebhooksQuery(TypedDict):
    limit: NotRequired[int]
    """How many rows at most."""
    cursor: NotRequired[str]
    """`next_cursor` of the page before, of this list with the same filters; absent for the newest. Opaque."""


class PatchWebhooksIdBody(TypedDict):
    url: NotRequired[str]
    """https, port 443, a public address. Every spelling that a URL parser knows is accepted."""
    events: NotRequired[list[Literal["transcription.completed", "transcription.failed", "webhook.test"]]]
    """Duplicates are folded."""
    description: NotRequired[str | None]
    headers: NotRequired[dict[str, Any] | None]
    """Custom headers of the deliveries: at most 10, 4 KiB together, printable ASCII, under names that neither the service nor HTTP uses. They replace those before; null or {} removes them. Stored encrypted; only their names are shown."""
    max_per_second: NotRequired[int | None]
    """How many requests may be sent in a second. The others wait, and are not counted as attempts. null: no limit."""
    include: NotRequired[list[Literal["text", "segments"]]]
    """The parts of a job that the deliveries have, both by default. [] leaves out both; duplicates are folded."""
    active: NotRequired[bool]


class PostWebhooksIdRotateSecretBody(TypedDict):
    overlap_seconds: NotRequired[int]


class PostAlertsBody(TypedDict):
    url: str
    """https, port 443, a public address. Every spelling that a URL parser knows is accepted."""


class PatchAlertsBody(TypedDict):
    url: NotRequired[str]
    """https, port 443, a public address. Every spelling that a URL parser knows is accepted."""
    description: NotRequired[str | None]
    headers: NotRequired[dict[str, Any] | None]
    """Custom headers of the deliveries: at most 10, 4 KiB together, printable ASCII, under names that neither the service nor HTTP uses. They replace those before; null or {} removes them. Stored encrypted; only their names are shown."""
    max_per_second: NotRequired[int | None]
    """How many requests may be sent in a second. The others wait, and are not counted as attempts. null: no limit."""
    active: NotRequired[bool]


class PostWebhooksIdTestBody(TypedDict):
    type: NotRequired[Literal["transcription.completed", "transcription.failed", "webhook.test"]]
    """Default: webhook.test."""


class GetDeliveriesQuery(TypedDict):
    limit: NotRequired[int]
    """How many rows at most."""
    cursor: NotRequired[str]
    """`next_cursor` of the page before, of this list with the same filters; absent for the newest. Opaque."""
    status: NotRequired[Literal["succeeded", "failed", "pending", "dropped"]]
    event_type: NotRequired[Literal["transcription.completed", "transcription.failed", "webhook.test", "webhook.disabled", "webhook.exhausted"]]
    event_id: NotRequired[str]
    job_id: NotRequired[str]
    """Attempts of this job's event, to its own webhook and to all others."""
    webhook_id: NotRequired[str]
    reason: NotRequired[Literal["http_status", "redirect", "timeout", "dns", "forbidden_address", "connect", "tls", "reset", "protocol"]]
    """Why the attempt failed: `error.reason`."""
    status_class: NotRequired[Literal["2xx", "3xx", "4xx", "5xx"]]
    """Of the answer's status; entries without an answer are left out."""
    attempt: NotRequired[int]
    after: NotRequired[str]
    before: NotRequired[str]


class GetWebhooksIdDeliveriesQuery(TypedDict):
    limit: NotRequired[int]
    """How many rows at most."""
    cursor: NotRequired[str]
    """`next_cursor` of the page before, of this list with the same filters; absent for the newest. Opaque."""
    status: NotRequired[Literal["succeeded", "failed", "pending", "dropped"]]
    event_type: NotRequired[Literal["transcription.completed", "transcription.failed", "webhook.test", "webhook.disabled", "webhook.exhausted"]]
    event_id: NotRequired[str]
    job_id: NotRequired[str]
    """Attempts of this job's event, to its own webhook and to all others."""
    webhook_id: NotRequired[str]
    reason: NotRequired[Literal["http_status", "redirect", "timeout", "dns", "forbidden_address", "connect", "tls", "reset", "protocol"]]
    """Why the attempt failed: `error.reason`."""
    status_class: NotRequired[Literal["2xx", "3xx", "4xx", "5xx"]]
    """Of the answer's status; entries without an answer are left out."""
    attempt: NotRequired[int]
    after: NotRequired[str]
    before: NotRequired[str]


class PostWebhooksIdRedeliverBody(TypedDict):
    delivery_ids: list[str]
    """Ids of the webhook's delivery log."""


class PostWebhooksIdRecoverBody(TypedDict):
    since: str
    until: NotRequired[str]
    event_type: NotRequired[Literal["transcription.completed", "transcription.failed", "webhook.test", "webhook.disabled", "webhook.exhausted"]]
    """Only events of this type."""
    status: NotRequired[Literal["failed", "dropped", "none"]]
    """Only events whose newest entry in the webhook's log has this status; none: those that were never sent to it."""
    dry_run: NotRequired[bool]
    """Count the events, and send none."""


class PostEventsIdResendBody(TypedDict):
    webhook_id: str


class GetWebhooksIdMetricsQuery(TypedDict):
    from_: NotRequired[str]
    to: NotRequired[str]
    """Default: now."""
    bucket: NotRequired[Literal["minute", "hour", "day"]]


class PostWebhooksIdDiagnoseBody(TypedDict):
    headers: dict[str, str | list[str]]
    body: str
    received_at: NotRequired[str]
    """By the clock of your server. Without it the age of the delivery is not checked."""
    framework: NotRequired[Literal["express", "fastify", "nextjs", "hono", "lambda", "flask", "django", "fastapi", "rails", "laravel", "go", "spring", "aspnet"]]
    """Of your server, for the fix."""


class GetEventsQuery(TypedDict):
    limit: NotRequired[int]
    """How many rows at most."""
    cursor: NotRequired[str]
    """`next_cursor` of the page before, of this list with the same filters; absent for the newest. Opaque."""
    type: NotRequired[Literal["transcription.completed", "transcription.failed", "webhook.test", "webhook.disabled", "webhook.exhausted"]]
    job_id: NotRequired[str]
    """Events of this job."""


class PostAdminAccountsBody(TypedDict):
    name: str
    plan: Literal["lite", "pro"]
    credits: NotRequired[float | None]
    """What it can spend at first; null or absent: unlimited."""


class GetAdminAccountsQuery(TypedDict):
    limit: NotRequired[int]
    """How many rows at most."""
    cursor: NotRequired[str]
    """`next_cursor` of the page before, of this list with the same filters; absent for the newest. Opaque."""
    query: NotRequired[str]
    """Part of the name, in any case, or the beginning of the id."""


class PatchAdminAccountsIdBody(TypedDict):
    name: NotRequired[str]
    plan: NotRequired[Literal["lite", "pro"]]


class PostAdminAccountsIdCreditsBody(TypedDict):
    amount: float
    """Credits; below zero to take away, even below what is there."""
    note: NotRequired[str | None]


class GetAdminAccountsIdLedgerQuery(TypedDict):
    limit: NotRequired[int]
    """How many rows at most."""
    cursor: NotRequired[str]
    """`next_cursor` of the page before, of this list with the same filters; absent for the newest. Opaque."""


class PostAdminAccountsIdKeysBody(TypedDict):
    name: NotRequired[str | None]
    scopes: NotRequired[list[Literal["jobs:read", "jobs:write", "webhooks:read", "webhooks:write", "usage:read", "keys:write"]]]
    """Empty: all. `jobs:read`: read jobs, their transcripts, stored audio and event streams; `jobs:write`: transcribe audio; retry, cancel and erase jobs; edit transcripts; with jobs:read, share them by links; `webhooks:read`: read webhooks, events and the delivery log; `webhooks:write`: create, change, test and delete webhooks, rotate their secrets, redeliver and recover events; `usage:read`: read the balance, the ledger and the usage; `keys:write`: list, create and delete the account's keys."""
    expires_at: NotRequired[str | None]
    """ISO 8601 time from which the key is refused; null: never."""


class GetAdminAccountsIdKeysQuery(TypedDict):
    limit: NotRequired[int]
    """How many rows at most."""
    cursor: NotRequired[str]
    """`next_cursor` of the page before, of this list with the same filters; absent for the newest. Opaque."""


class PostAdminAccountsIdPortalLinksBody(TypedDict):
    scopes: list[Literal["jobs:read", "jobs:write", "webhooks:read", "webhooks:write", "usage:read", "keys:write"]]
    """What the link permits."""
    expires_in: NotRequired[int]
    """Seconds."""


class PostAdminAccountsIdInvitationsBody(TypedDict):
    role: Literal["owner", "member", "viewer"]
    """`owner`: everything in the account: also its users, invitations, and all keys; `member`: jobs, webhooks, usage, and keys of their own; `viewer`: reading jobs, webhooks, events and usage"""
    email: NotRequired[str | None]
    operator: NotRequired[bool]
    """Whether whoever accepts it becomes an operator of the service too."""


class GetAdminOperatorsQuery(TypedDict):
    limit: NotRequired[int]
    """How many rows at most."""
    cursor: NotRequired[str]
    """`next_cursor` of the page before, of this list with the same filters; absent for the newest. Opaque."""


class GetAdminUsageQuery(TypedDict):
    account_id: str
    """acct_…"""
    from_: NotRequired[str]
    """The first time, or day in UTC; by default a day, 30 days or a year before `to`."""
    to: NotRequired[str]
    """The time up to which; by default now."""
    bucket: NotRequired[Literal["hour", "day", "month"]]
    """In UTC. At most 7 days of hours, 366 of days, 1830 of months."""
    group_by: NotRequired[Literal["plan", "model", "key"]]
    """One row for each in a bucket."""


class GetAdminJobsQuery(TypedDict):
    limit: NotRequired[int]
    """How many rows at most."""
    cursor: NotRequired[str]
    """`next_cursor` of the page before, of this list with the same filters; absent for the newest. Opaque."""
    status: NotRequired[Literal["queued", "processing", "completed", "failed", "canceled"]]
    account_id: NotRequired[str]
    """Jobs of one account."""


class GetAdminWebhooksQuery(TypedDict):
    limit: NotRequired[int]
    """How many rows at most."""
    cursor: NotRequired[str]
    """`next_cursor` of the page before, of this list with the same filters; absent for the newest. Opaque."""
    active: NotRequired[bool]
    """false: only those that are disabled."""
    account_id: NotRequired[str]
    """Webhooks of one account."""


class PostAdminWebhooksRecoverBody(TypedDict):
    since: str
    disabled_since: NotRequired[str]
    dry_run: NotRequired[bool]
    """Count only, and change nothing."""


class PostAdminJobsRetryBody(TypedDict):
    failed_since: NotRequired[str]
    error_type: NotRequired[Literal["unprocessable_audio", "insufficient_balance", "engine_error", "engine_timeout", "audio_fetch_failed"]]
    """Jobs that failed with this error."""
    warning: NotRequired[Literal["untranscribed"]]
    """Jobs that completed with this warning."""
    completed_since: NotRequired[str]
    """Beside `warning`; absent: since the oldest audio that is kept."""
    dry_run: NotRequired[bool]
    """Count only, and change nothing."""


class GetAdminAuditQuery(TypedDict):
    limit: NotRequired[int]
    """How many rows at most."""
    cursor: NotRequired[str]
    """`next_cursor` of the page before, of this list with the same filters; absent for the newest. Opaque."""
    account_id: NotRequired[str]
    """Changes of one account."""
    action: NotRequired[Literal["account.created", "account.changed", "account.suspended", "account.resumed", "account.deleted", "credits.added", "user.joined", "user.changed", "user.deleted", "invitation.created", "invitation.deleted", "key.created", "key.deleted", "webhook.created", "webhook.changed", "webhook.deleted", "webhook.secret_rotated", "share.created", "share.deleted", "secrets.rotated", "webhooks.recovered", "jobs.retried", "model.pulled", "model.pull_canceled", "session.created", "session.ended", "sign_in.failed", "admin_token.refused", "job.deleted", "transcript.edited", "audio_link.created", "client_secret.created", "list.exported"]]


class PostAdminSecretsRotateBody(TypedDict):
    cursor: NotRequired[str]
    """`next_cursor` of the answer before; absent to begin. Opaque."""


Plan = Literal["lite", "pro"]


JobStatus = Literal["queued", "processing", "completed", "failed", "canceled"]


EventType = Literal["transcription.completed", "transcription.failed", "webhook.test"]


TranscriptFormat = Literal["json", "text", "srt", "vtt", "md"]


TranscriptFileFormat = Literal["docx", "pdf"]


# edited: the original where nothing was edited.
TranscriptVersion = Literal["edited", "original"]


TranscribeParamsReplacementsItem = TypedDict(
    "TranscribeParamsReplacementsItem",
    {
        "from": "str",
        "to": "str",
    },
)


class TranscribeParams(TypedDict):
    """What a job is asked for, in the names of the API."""

    audio_url: NotRequired[str]
    """In place of the file: an https URL, port 443, at a public address, from which the service fetches the audio. Up to 5 redirects are followed, each under the same rules. Its query is never shown or logged."""
    audio_url_headers: NotRequired[dict[str, str]]
    """Headers for the fetch, at most 10 and 4 KiB, sent to the origin of audio_url only. Not Host, Content-Length, Connection, Transfer-Encoding, Range, Accept-Encoding, Cookie and the like. In a form: JSON text."""
    plan: NotRequired[Literal["lite", "pro"]]
    """Absent: the account's plan."""
    title: NotRequired[str]
    """A name of your own for the job: one line. Lists are searched by it, and documents and downloads have it."""
    tags: NotRequired[list[str]]
    """Words of your own, by which jobs are listed: `GET /v1/jobs?tag=`. Duplicates are folded."""
    language: NotRequired[str]
    """BCP 47 code such as en; absent: detected where the model can."""
    timestamps: NotRequired[Literal["segment", "word"]]
    webhook_url: NotRequired[str]
    """The events of this job go there too, under the rules for webhooks; it does not count as a webhook of the plan. JOB_WEBHOOKS says which accounts may."""
    webhook_secret: NotRequired[str]
    """Signs these deliveries: `whsec_` and the base64 of 24 to 64 random bytes. Without it one is made, and shown in the answer to this request only. Needs webhook_url."""
    prompt: NotRequired[str]
    """Context for the engine, such as the subject or a text in the wanted style."""
    keywords: NotRequired[list[str]]
    """Words that the engine should know, each of at most 6 words; letters, digits, spaces, ' - and a full stop."""
    replacements: NotRequired[list[TranscribeParamsReplacementsItem]]
    """Words and phrases of the transcript to replace: whole words, in any case, of several the longest, each once; an empty `to` leaves them out."""
    translate_to: NotRequired[Literal["en"]]
    """Language of the text, in place of the spoken one. Answered 400 where the engine of the plan cannot."""
    diarize: NotRequired[bool]
    """Label who says what; needs the speaker model on the server."""
    speakers: NotRequired[int]
    """The exact number of speakers, with diarize=true."""
    min_speakers: NotRequired[int]
    """The smallest number of speakers, with diarize=true."""
    max_speakers: NotRequired[int]
    """The largest number of speakers, with diarize=true."""
    multichannel: NotRequired[bool]
    """true: each channel is transcribed on its own, at most 8, and its segments carry its number; each distinct one is charged."""
    audio_track: NotRequired[int | str]
    """The audio track: its index among the audio tracks, from 0, or its language, such as de. Absent: the first."""
    delete_after_seconds: NotRequired[int]
    """The job is erased this many seconds after its end, once its deliveries have ended; at most JOB_RETENTION_DAYS."""


LiveParamsReplacementsItem = TypedDict(
    "LiveParamsReplacementsItem",
    {
        "from": "str",
        "to": "str",
    },
)


class LiveParams(TypedDict):
    """What a live session is asked for, in the names of the API."""

    plan: NotRequired[Literal["lite", "pro"]]
    """Default: the account's plan."""
    language: NotRequired[str]
    """BCP 47 code such as en; absent: detected where the model can."""
    title: NotRequired[str]
    """A name of your own for the job: one line. Lists are searched by it, and documents and downloads have it."""
    tags: NotRequired[list[str]]
    """Words of your own, by which jobs are listed: `GET /v1/jobs?tag=`. Duplicates are folded."""
    timestamps: NotRequired[Literal["segment", "word"]]
    prompt: NotRequired[str]
    """Context for the engine, such as the subject or a text in the wanted style."""
    keywords: NotRequired[list[str]]
    """Words that the engine should know, each of at most 6 words; letters, digits, spaces, ' - and a full stop."""
    replacements: NotRequired[list[LiveParamsReplacementsItem] | str]
    delete_after_seconds: NotRequired[int]
    """The job is erased this many seconds after its end, once its deliveries have ended; at most JOB_RETENTION_DAYS."""
    encoding: NotRequired[Literal["pcm_s16le", "mulaw", "alaw"]]
    sample_rate: NotRequired[Literal[8000, 16000, 24000, 32000, 44100, 48000]]
    partials: NotRequired[bool]
    """Send the words of the open segment."""
    endpointing_ms: NotRequired[int]
    """Silence that ends a segment, from 100; 0: none does."""
    max_segment_seconds: NotRequired[int]
    resume_seconds: NotRequired[int]
    """How long a session waits for a client that was cut off."""
    idle_seconds: NotRequired[int]
    """The session finishes after this time without audio."""


class TranscriptParams(TypedDict):
    max_line_length: NotRequired[int]
    """Characters of a line. With srt and vtt; 42 where another of these is given."""
    max_lines: NotRequired[int]
    """Lines of a caption. With srt and vtt; 2 where another of these is given."""
    min_duration: NotRequired[float]
    """Seconds. With srt and vtt; 0.833 where another of these is given."""
    max_duration: NotRequired[float]
    """Seconds. With srt and vtt; 7 where another of these is given."""
    max_chars_per_second: NotRequired[float]
    """Reading speed. With srt and vtt; 20 where another of these is given."""
    min_gap: NotRequired[float]
    """Seconds between two captions. With srt and vtt; 0.083 where another of these is given."""
    speakers: NotRequired[bool]
    """Whether srt and vtt show who speaks, for jobs with diarize=true or multichannel=true. Absent: where speakers were named. Documents show it unless false."""
    version: NotRequired[Literal["edited", "original"]]
    """edited: the original where nothing was edited."""


# What a receiver is sent.
AnyEvent = Union["TranscriptionCompleted", "TranscriptionFailed", "WebhookTest", "WebhookDisabled", "WebhookExhausted"]
