"""The errors of the client: one class for each error type of the service, and those of the connection."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .types import Job


class VerbatimError(Exception):
    """Base class of all errors that this package raises."""

    #: Whether the same call may succeed later without a change of it.
    is_retryable: bool = False

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message

    def explain(self, sentence: str) -> None:
        """Adds a sentence to the message."""
        self.message += f" {sentence}"

    def __str__(self) -> str:
        return self.message


class ApiConnectionError(VerbatimError):
    """No answer arrived: the name was not resolved, the connection failed or was cut, or the server redirected."""

    is_retryable = True


class ApiTimeoutError(ApiConnectionError):
    """No answer arrived in time. `phase` is `connect`, `read`, `write` or `pool`."""

    def __init__(self, message: str, *, phase: str) -> None:
        super().__init__(message)
        self.phase = phase


class UnreadableAnswerError(VerbatimError):
    """
    A 2xx that is not what was asked for: it is cut, or it is a page of a proxy.

    The service may have done what the request asks for; a repetition with the same idempotency key does not do it
    twice.
    """

    is_retryable = True

    def __init__(self, expected: str, *, status: int, headers: Mapping[str, str]) -> None:
        described = ", ".join(word for word in (str(status), headers.get("content-type")) if word)
        super().__init__(
            f"The answer ({described}) is not {expected}: a proxy may have changed it, or base_url is not the address "
            "of the service."
        )
        #: HTTP status.
        self.status = status
        #: Id of the request, which the log of the service has too; None when a proxy answered.
        self.request_id = headers.get("x-request-id")


class ApiError(VerbatimError):
    """
    The service answered with an error. Its subclasses stand for the values of `type`; an answer of a later version, or
    of a proxy, is an `ApiError` itself.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int,
        type: str | None = None,
        param: str | None = None,
        docs: str | None = None,
        request_id: str | None = None,
        retry_after: float | None = None,
        body: Mapping[str, Any] | None = None,
        is_retryable: bool = False,
    ) -> None:
        super().__init__(message)
        #: HTTP status.
        self.status = status
        #: Stable word to program against; None when the answer did not come from the service.
        self.type = type
        #: Name of the field at fault, when one is.
        self.param = param
        #: URL of the page that explains the error.
        self.docs = docs
        #: Id of the request, which the log of the service has too.
        self.request_id = request_id
        #: Seconds after which one request will be admitted, where the service says so.
        self.retry_after = retry_after
        #: The whole JSON body; empty when there was none.
        self.body: Mapping[str, Any] = body or {}
        #: Id of the job, where the failed request made one.
        self.job_id: str | None = self.body.get("job_id")
        self.is_retryable = is_retryable

    def __str__(self) -> str:
        details = [str(self.status), *(word for word in (self.type, self.request_id) if word)]
        return f"{self.message} ({', '.join(details)})"


class InvalidRequestError(ApiError):
    """400: a field, query parameter, header or JSON text is malformed, unknown or out of range; `param` names it."""


class ForbiddenUrlError(ApiError):
    """400: a webhook may not have this URL, or audio is not fetched from it; the message names the rule."""


class UnauthenticatedError(ApiError):
    """401: no key, or one that is unknown, revoked or expired."""


class InsufficientBalanceError(ApiError):
    """402: the balance is used up, or the audio costs more than it."""

    @property
    def needed(self) -> float | None:
        """Credits that the audio costs; None when they are not known."""
        return self.body.get("needed_credits")

    @property
    def available(self) -> float | None:
        """Credits that can be spent."""
        return self.body.get("available_credits")


class PlanLimitError(ApiError):
    """403: the plan of the account does not allow it."""


class MissingScopeError(ApiError):
    """403: the API key lacks a scope."""

    @property
    def required_scope(self) -> str | None:
        """The scope that the key lacks."""
        return self.body.get("required_scope")


class MissingRoleError(ApiError):
    """Only users with another role may do this: an API key has none."""


class SuspendedError(ApiError):
    """403: the operator of the service has suspended the account."""


class NotFoundError(ApiError):
    """404: the path or the id is unknown, or the id belongs to another account."""


class MethodNotAllowedError(ApiError):
    """405: the path does not support the method."""


class ConflictError(ApiError):
    """409: the state does not allow it, or the idempotency key was used for another request."""


class TooLargeError(ApiError):
    """413: a body, a file or a field exceeds its limit."""


class UnsupportedMediaTypeError(ApiError):
    """415: the body has another media type than the service expects."""


class RangeNotSatisfiableError(ApiError):
    """416: the range begins behind the end of the audio."""


class UnprocessableAudioError(ApiError):
    """422: the file cannot be decoded, has no audio, or is longer than the limit."""


class AudioFetchFailedError(ApiError):
    """422: the audio could not be fetched from `audio_url`."""

    @property
    def reason(self) -> str | None:
        """As in the error of the job."""
        return self.body.get("reason")

    @property
    def http_status(self) -> int | None:
        """What the server of the audio answered."""
        return self.body.get("http_status")


class RateLimitError(ApiError):
    """429: a limit is reached; `retry_after` has the seconds to wait."""


class InternalError(ApiError):
    """500: a fault of the service; its log has an entry with the request id."""


class UnavailableError(ApiError):
    """503: the service is stopping, its database is away, or a queue or disk is full."""


class JobFailedError(VerbatimError):
    """`transcribe` ended without a transcript: the job failed or was canceled."""

    def __init__(self, job: Job) -> None:
        error = job["error"]
        super().__init__(f"{job['id']} failed: {error['message']}" if error else f"{job['id']} was {job['status']}.")
        #: The job as it ended; `job["error"]` has the reason.
        self.job = job


class WaitTimeoutError(VerbatimError):
    """
    The job had not ended in the time that was given. It goes on: wait again, or cancel it. Not retryable, because
    another `transcribe` would make another job.
    """

    def __init__(self, job_id: str, seconds: float) -> None:
        super().__init__(f"The job {job_id} has not ended within {seconds:g} seconds; it goes on.")
        self.job_id = job_id


#: The class of each `error.type`.
ERROR_CLASSES: Mapping[str, type[ApiError]] = {
    "invalid_request": InvalidRequestError,
    "forbidden_url": ForbiddenUrlError,
    "unauthenticated": UnauthenticatedError,
    "insufficient_balance": InsufficientBalanceError,
    "plan_limit": PlanLimitError,
    "missing_scope": MissingScopeError,
    "missing_role": MissingRoleError,
    "suspended": SuspendedError,
    "not_found": NotFoundError,
    "method_not_allowed": MethodNotAllowedError,
    "conflict": ConflictError,
    "too_large": TooLargeError,
    "unsupported_media_type": UnsupportedMediaTypeError,
    "range_not_satisfiable": RangeNotSatisfiableError,
    "unprocessable_audio": UnprocessableAudioError,
    "audio_fetch_failed": AudioFetchFailedError,
    "rate_limited": RateLimitError,
    "internal": InternalError,
    "unavailable": UnavailableError,
}
