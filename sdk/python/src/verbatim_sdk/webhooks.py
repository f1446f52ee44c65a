"""For receivers of webhooks: verifies deliveries, and signs examples for tests."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import re
import time
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any, Literal, Protocol, cast

from .errors import VerbatimError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from .types import AnyEvent

    class HeaderSource(Protocol):
        """Headers of any framework: a mapping, or a multi-dict of names and values."""

        def items(self) -> Iterable[tuple[str, Any]]:
            """Names and values; a name that occurs twice may come twice."""


VerificationCode = Literal[
    "bad_secret", "missing_header", "bad_timestamp", "stale_timestamp", "bad_signature", "bad_body"
]

#: Default for the largest difference between a delivery's timestamp and now, in either direction.
TOLERANCE_SECONDS = 300.0
_SECRET_PREFIX = "whsec_"  # noqa: S105 - how every secret begins
_MIN_KEY_BYTES = 24
_ISO_TIME = re.compile(r"(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})(?:\.(\d{1,9}))?Z", re.ASCII)
_EPOCH_SECONDS = re.compile(r"\d{1,12}", re.ASCII)
_ANSWER_STATUS: Mapping[VerificationCode, int] = {
    "bad_secret": 401,
    "missing_header": 400,
    "bad_timestamp": 400,
    "stale_timestamp": 401,
    "bad_signature": 401,
    "bad_body": 400,
}


class WebhookVerificationError(VerbatimError):
    """Why a request is refused. `code` is stable; the message is for your log."""

    def __init__(self, code: VerificationCode, message: str) -> None:
        super().__init__(message)
        self.code: VerificationCode = code
        #: The HTTP status to answer with: 400 or 401.
        self.status = _ANSWER_STATUS[code]


def verify_webhook(
    headers: HeaderSource | Iterable[tuple[str | bytes, Any]],
    body: bytes | str,
    secret: str | Sequence[str],
    *,
    tolerance_seconds: float = TOLERANCE_SECONDS,
    header_prefix: str = "X-Service-",
    now: float | None = None,
) -> AnyEvent:
    """
    The event of a delivery whose signature and timestamp are verified.

    - `headers`: those of the request, as your framework has them; pairs of names and values too, as text or bytes, such
      as `scope["headers"]` of ASGI
    - `body`: the body exactly as received, before any parsing
    - `secret`: the webhook's secret, or several of them while it is rotated
    - `tolerance_seconds`: allowed difference between the timestamp and the clock
    - `header_prefix`: as the operator of the service has set it
    - `now`: seconds since the epoch, for tests

    The headers of the service are verified, and where they are absent those of Standard Webhooks. An event can come
    more than once: store the `id` of those that you have handled.

    Raises WebhookVerificationError: answer with its `status`.
    """
    secrets = _read_secrets(secret)
    content = _raw_body(body)
    values = _Headers(headers)
    at = time.time() if now is None else now
    scheme = _standard_signatures if values.only_standard(header_prefix) else _service_signatures
    signed_at, given, signed_texts = scheme(values, header_prefix, content, secrets)
    if not abs(at - signed_at) <= tolerance_seconds:
        message = f"The timestamp is more than {tolerance_seconds:g} seconds away from now: "
        raise WebhookVerificationError("stale_timestamp", message + "an old request sent again, or a wrong clock.")
    if not _has_match(given, signed_texts):
        raise WebhookVerificationError("bad_signature", "The signature does not belong to this body and secret.")
    return _read_event(content)


def sign_test_delivery(
    event: Mapping[str, Any], secret: str, *, header_prefix: str = "X-Service-", now: float | None = None
) -> tuple[dict[str, str], bytes]:
    """Headers and body of a delivery of the event, signed as the service signs it: for tests of your receiver."""
    (key,) = _read_secrets(secret)
    body = json.dumps(event, separators=(",", ":")).encode()
    at = datetime.fromtimestamp(time.time() if now is None else now, timezone.utc)
    timestamp = at.strftime("%Y-%m-%dT%H:%M:%S.") + f"{at.microsecond // 1000:03d}Z"
    seconds = str(int(at.timestamp()))
    headers = {
        "Content-Type": "application/json",
        f"{header_prefix}Signature": _sign(key.text, f"{timestamp}.", body).hex(),
        f"{header_prefix}Timestamp": timestamp,
        f"{header_prefix}Event-Type": str(event["type"]),
        f"{header_prefix}Event-Id": str(event["id"]),
        f"{header_prefix}Delivery-Id": "dlv_test",
        f"{header_prefix}Attempt": "1",
        "webhook-id": str(event["id"]),
        "webhook-timestamp": seconds,
        "webhook-signature": _standard(_sign(key.decoded, f"{event['id']}.{seconds}.", body)),
    }
    return headers, body


class _Secret:
    """A secret as the key of both schemes. Raises WebhookVerificationError for what is no secret."""

    def __init__(self, text: str) -> None:
        encoded = text[len(_SECRET_PREFIX) :] if isinstance(text, str) and text.startswith(_SECRET_PREFIX) else ""
        try:
            decoded = base64.b64decode(encoded, validate=True)
        except binascii.Error:
            decoded = b""
        # A short key could be guessed.
        if len(decoded) < _MIN_KEY_BYTES:
            message = f'The secret must be "{_SECRET_PREFIX}" and base64 of at least {_MIN_KEY_BYTES} bytes, '
            raise WebhookVerificationError("bad_secret", message + "as it was shown at creation.")
        self.text = text.encode()
        self.decoded = decoded


class _Headers:
    """Headers by lower-case name."""

    def __init__(self, source: HeaderSource | Iterable[tuple[str | bytes, Any]]) -> None:
        self._values: dict[str, list[str]] = {}
        pairs: Iterable[tuple[Any, Any]] = source.items() if hasattr(source, "items") else source
        for name, value in pairs:
            values = value if isinstance(value, (list, tuple)) else [value]
            self._values.setdefault(_text(name).lower(), []).extend(_text(each) for each in values)

    def get(self, name: str) -> str | None:
        """The value; None when the header is absent, empty or repeated: the service sends no header twice."""
        values = self._values.get(name.lower(), [])
        return values[0] or None if len(values) == 1 else None

    def require(self, name: str) -> str:
        """The value. Raises WebhookVerificationError."""
        value = self.get(name)
        if value is None:
            raise WebhookVerificationError("missing_header", f"The header {name} is missing.")
        return value

    def only_standard(self, prefix: str) -> bool:
        """Whether the headers of Standard Webhooks are there, and those of the service are not."""
        names = (f"{prefix}signature".lower(), f"{prefix}timestamp".lower())
        return "webhook-signature" in self._values and not any(name in self._values for name in names)


def _text(value: str | bytes) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else value


#: The time of signing, the signatures that were given, and those that the secrets make.
_Signatures = tuple[float, "list[str]", "list[str]"]


def _service_signatures(values: _Headers, prefix: str, body: bytes, secrets: list[_Secret]) -> _Signatures:
    timestamp = values.require(f"{prefix}Timestamp")
    given = [values.require(f"{prefix}Signature"), values.get(f"{prefix}Signature-Previous") or ""]
    signed_at = _read_iso_time(timestamp)
    return signed_at, given, [_sign(secret.text, f"{timestamp}.", body).hex() for secret in secrets]


def _standard_signatures(values: _Headers, _prefix: str, body: bytes, secrets: list[_Secret]) -> _Signatures:
    message_id = values.require("webhook-id")
    timestamp = values.require("webhook-timestamp")
    given = values.require("webhook-signature").split(" ")
    if not _EPOCH_SECONDS.fullmatch(timestamp):
        raise WebhookVerificationError("bad_timestamp", "webhook-timestamp is not a number of seconds.")
    made = [_standard(_sign(secret.decoded, f"{message_id}.{timestamp}.", body)) for secret in secrets]
    return float(timestamp), given, made


def _read_secrets(secret: str | Sequence[str]) -> list[_Secret]:
    secrets = [secret] if isinstance(secret, str) else list(secret or ())
    if not secrets:
        raise WebhookVerificationError("bad_secret", "No secret was given.")
    return [_Secret(text) for text in secrets]


def _raw_body(body: object) -> bytes:
    # The most common mistake of receivers: their framework has parsed the body, and the signed bytes are lost.
    if isinstance(body, str):
        return body.encode("utf-8", "surrogatepass")
    if isinstance(body, (bytes, bytearray, memoryview)):
        return bytes(body)
    raise WebhookVerificationError("bad_body", "Pass the raw body, as bytes, before any parsing.")


def _read_iso_time(text: str) -> float:
    match = _ISO_TIME.fullmatch(text)
    try:
        if match is None:
            raise ValueError
        whole = datetime.strptime(match[1], "%Y-%m-%dT%H:%M:%S").replace(tzinfo=timezone.utc)
    except ValueError:
        message = "The timestamp is not an ISO 8601 time in UTC."
        raise WebhookVerificationError("bad_timestamp", message) from None
    return whole.timestamp() + float(f"0.{match[2] or 0}")


def _sign(key: bytes, prefix: str, body: bytes) -> bytes:
    return hmac.digest(key, prefix.encode("utf-8", "replace") + body, hashlib.sha256)


def _standard(digest: bytes) -> str:
    return "v1," + base64.b64encode(digest).decode()


def _has_match(given: list[str], made: list[str]) -> bool:
    """Compares every pair, so that the time does not tell which one matched."""
    matches = [hmac.compare_digest(one.encode("utf-8", "replace"), other.encode()) for one in given for other in made]
    return any(matches)


def _read_event(body: bytes) -> AnyEvent:
    try:
        event = json.loads(body)
    except (ValueError, RecursionError):
        raise WebhookVerificationError("bad_body", "The body is signed, but is not JSON that can be read.") from None
    if isinstance(event, dict) and isinstance(event.get("id"), str) and isinstance(event.get("type"), str):
        return cast("AnyEvent", event)
    raise WebhookVerificationError("bad_body", "The body is signed, but is not an event.")
