"""One call of the API over all of its attempts: headers, the idempotency key, and what follows on a failure."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

from ..errors import ApiError, NotFoundError, VerbatimError
from .retry import LONGEST_RETRY_AFTER_SECONDS, delay_seconds
from .settings import USER_AGENT, RequestOptions

if TYPE_CHECKING:
    from .request import Request
    from .settings import Settings


class Call:
    """The attempts of one call. Both clients drive it: they send, and report what came of it."""

    def __init__(self, settings: Settings, request: Request[Any], options: RequestOptions | None = None) -> None:
        self.settings = settings.with_options(options)
        self.request = request
        self.url = self.settings.base_url + request.target()
        self._failures = 0
        given = (options or {}).get("idempotency_key")
        # The service keeps the first answer under this key, so that a request that is sent again is not done twice.
        self._idempotency_key = (given or f"vb-{uuid.uuid4()}") if request.method == "POST" else None

    def headers(self) -> dict[str, str]:
        """The headers of an attempt, without those of the body."""
        return {
            "Accept": self.request.accept,
            "User-Agent": USER_AGENT,
            **self.settings.headers,
            **(self.request.headers or {}),
            **({"Idempotency-Key": self._idempotency_key} if self._idempotency_key else {}),
            "X-API-Key": self.settings.key(),
        }

    def was_done_before(self, error: VerbatimError) -> bool:
        """Whether the answer to an earlier attempt was lost: what was to be deleted is gone."""
        return self.request.method == "DELETE" and self._failures > 0 and isinstance(error, NotFoundError)

    def delay_after(self, error: VerbatimError) -> float:
        """The seconds to wait before the next attempt. Raises the error itself when there is none."""
        self._failures += 1
        upload = self.request.upload
        if not error.is_retryable or self._failures > self.settings.max_retries:
            raise error
        if upload is not None and not upload.source.is_replayable:
            error.explain("It was not sent again, because the audio can be read only once.")
            raise error
        retry_after = error.retry_after if isinstance(error, ApiError) else None
        if retry_after is not None and retry_after > LONGEST_RETRY_AFTER_SECONDS:
            raise error
        return delay_seconds(self._failures, retry_after)
