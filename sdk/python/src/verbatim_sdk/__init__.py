"""Python client of Verbatim, a self-hosted transcription service with signed webhooks."""

from ._async.client import AsyncVerbatim
from ._async.live import AsyncLiveSession
from ._async.pages import AsyncCsvPages, AsyncPages
from ._core.audio import AudioInput
from ._core.following import JobUpdate, StreamedEvent, StreamFrame
from ._core.live import LiveUpdate
from ._core.page import Page
from ._core.settings import RequestOptions
from ._core.transcribing import Progress
from ._sync.client import Verbatim
from ._sync.live import LiveSession
from ._sync.pages import CsvPages, Pages
from ._version import __version__
from .errors import (
    ApiConnectionError,
    ApiError,
    ApiTimeoutError,
    AudioFetchFailedError,
    ConflictError,
    ForbiddenUrlError,
    InsufficientBalanceError,
    InternalError,
    InvalidRequestError,
    JobFailedError,
    MethodNotAllowedError,
    MissingRoleError,
    MissingScopeError,
    NotFoundError,
    PlanLimitError,
    RangeNotSatisfiableError,
    RateLimitError,
    SuspendedError,
    TooLargeError,
    UnauthenticatedError,
    UnavailableError,
    UnprocessableAudioError,
    UnreadableAnswerError,
    UnsupportedMediaTypeError,
    VerbatimError,
    WaitTimeoutError,
)
from .webhooks import WebhookVerificationError, sign_test_delivery, verify_webhook

__all__ = [
    "ApiConnectionError",
    "ApiError",
    "ApiTimeoutError",
    "AsyncCsvPages",
    "AsyncLiveSession",
    "AsyncPages",
    "AsyncVerbatim",
    "AudioFetchFailedError",
    "AudioInput",
    "ConflictError",
    "CsvPages",
    "ForbiddenUrlError",
    "InsufficientBalanceError",
    "InternalError",
    "InvalidRequestError",
    "JobFailedError",
    "JobUpdate",
    "LiveSession",
    "LiveUpdate",
    "MethodNotAllowedError",
    "MissingRoleError",
    "MissingScopeError",
    "NotFoundError",
    "Page",
    "Pages",
    "PlanLimitError",
    "Progress",
    "RangeNotSatisfiableError",
    "RateLimitError",
    "RequestOptions",
    "StreamFrame",
    "StreamedEvent",
    "SuspendedError",
    "TooLargeError",
    "UnauthenticatedError",
    "UnavailableError",
    "UnprocessableAudioError",
    "UnreadableAnswerError",
    "UnsupportedMediaTypeError",
    "Verbatim",
    "VerbatimError",
    "WaitTimeoutError",
    "WebhookVerificationError",
    "__version__",
    "sign_test_delivery",
    "verify_webhook",
]
