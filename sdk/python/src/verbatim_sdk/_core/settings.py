"""What a client is made of: address, key, limits; and the options of a single call."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypedDict
from urllib.parse import urlsplit

import httpx

from .._version import __version__
from ..errors import VerbatimError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

DEFAULT_BASE_URL = "http://127.0.0.1:8080"
DEFAULT_TIMEOUT_SECONDS = 60.0
DEFAULT_MAX_RETRIES = 2
# A stream occupies a connection for hours: a limit would let other requests wait for them. The service has its own.
CONNECTION_LIMITS = httpx.Limits(max_connections=None, max_keepalive_connections=20)
USER_AGENT = f"verbatim-sdk-python/{__version__}"
_HEADER_SAFE = re.compile(r"[\x21-\x7e]+")


class RequestOptions(TypedDict, total=False):
    """Options of one call, which go before those of the client."""

    #: Seconds without a byte after which a request fails.
    timeout: float
    #: How often a request is sent again after a failure that may pass.
    max_retries: int
    #: Sent with a POST in place of a generated key: the same key for the same call, also from another process.
    idempotency_key: str
    #: Further headers of the request.
    headers: Mapping[str, str]


@dataclass(frozen=True)
class Settings:
    """Settings of a client; immutable, so that clients derived from one another can share a connection pool."""

    base_url: str
    api_key: str | Callable[[], str] = field(repr=False)
    timeout: float = DEFAULT_TIMEOUT_SECONDS
    max_retries: int = DEFAULT_MAX_RETRIES
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)

    def key(self) -> str:
        """
        The API key, asked for anew for each request when it is a function.

        Raises VerbatimError for a key that cannot be sent as a header; its text is not shown.
        """
        key = self.api_key if isinstance(self.api_key, str) else self.api_key()
        if not _HEADER_SAFE.fullmatch(key):
            raise VerbatimError("The API key is empty, or has white space or characters that a header cannot hold.")
        return key

    def with_options(self, options: RequestOptions | None) -> Settings:
        """These settings, changed by the options of a call."""
        if not options:
            return self
        return replace(
            self,
            timeout=options.get("timeout", self.timeout),
            max_retries=options.get("max_retries", self.max_retries),
            headers={**self.headers, **options.get("headers", {})},
        )


def read_settings(
    *,
    api_key: str | Callable[[], str] | None,
    base_url: str | None,
    timeout: float,
    max_retries: int,
) -> Settings:
    """
    The settings of a client; what is absent comes from VERBATIM_API_KEY and VERBATIM_URL.

    Raises VerbatimError when there is no key, or when the address is not that of an HTTP server.
    """
    key = api_key or os.environ.get("VERBATIM_API_KEY")
    if not key:
        raise VerbatimError("Pass api_key, or set VERBATIM_API_KEY.")
    url = (base_url or os.environ.get("VERBATIM_URL") or DEFAULT_BASE_URL).rstrip("/")
    parts = urlsplit(url)
    is_plain = parts.scheme in ("http", "https") and parts.hostname and not parts.query and not parts.fragment
    if not is_plain or parts.username is not None:
        raise VerbatimError("base_url must be an http or https address without user name, query and fragment.")
    settings = Settings(base_url=url, api_key=key, timeout=timeout, max_retries=max_retries)
    if isinstance(key, str):
        settings.key()
    return settings
