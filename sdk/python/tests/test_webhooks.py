from __future__ import annotations

import base64
import hashlib
import hmac
import json
import math
from pathlib import Path
from random import Random
from typing import Any

import pytest

from verbatim_sdk import WebhookVerificationError, sign_test_delivery, verify_webhook

VECTORS: list[dict[str, Any]] = json.loads((Path(__file__).parents[2] / "vectors.json").read_text(encoding="utf-8"))[
    "vectors"
]
FIRST, SECOND = VECTORS[0], VECTORS[1]
NOW: float = FIRST["timestamp_seconds"]
OTHER_SECRET: str = SECOND["secret"]
SHORT_SECRET = "whsec_" + base64.b64encode(b"\1" * 23).decode()


def service_headers(vector: dict[str, Any]) -> dict[str, Any]:
    return {"X-Service-Timestamp": vector["timestamp"], "X-Service-Signature": vector["signature"]}


def standard_headers(vector: dict[str, Any]) -> dict[str, Any]:
    return {
        "webhook-id": vector["id"],
        "webhook-timestamp": str(vector["timestamp_seconds"]),
        "webhook-signature": vector["standard_signature"],
    }


@pytest.mark.parametrize("headers_of", [service_headers, standard_headers])
@pytest.mark.parametrize("as_bytes", [True, False])
@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["name"])
def test_each_vector_verifies_by_both_schemes(vector: dict[str, Any], as_bytes: bool, headers_of: Any) -> None:
    body = vector["body"].encode() if as_bytes else vector["body"]

    event = verify_webhook(headers_of(vector), body, vector["secret"], now=vector["timestamp_seconds"])

    assert event == json.loads(vector["body"])


@pytest.mark.parametrize("encode", [lambda text: text, lambda text: text.lower().encode("latin-1")])
def test_headers_may_be_pairs_as_in_the_scope_of_asgi(encode: Any) -> None:
    pairs = [
        (encode(name), encode(value) if name.endswith("Signature") else value)
        for name, value in service_headers(FIRST).items()
    ]

    event = verify_webhook(pairs, FIRST["body"], FIRST["secret"], now=NOW)

    assert event == json.loads(FIRST["body"])
    with pytest.raises(WebhookVerificationError, match="missing"):
        verify_webhook([], FIRST["body"], FIRST["secret"], now=NOW)


def test_long_numbers_of_metadata_keep_their_digits() -> None:
    event: Any = verify_webhook(service_headers(SECOND), SECOND["body"], SECOND["secret"], now=NOW)

    assert event["metadata"]["order"] == 12345678901234567890


def with_headers(**changes: Any) -> dict[str, Any]:
    headers = {**service_headers(FIRST), **{f"X-Service-{name}": value for name, value in changes.items()}}
    return {"headers": {name: value for name, value in headers.items() if value is not None}}


def with_standard(**changes: Any) -> dict[str, Any]:
    headers = {**standard_headers(FIRST), **{f"webhook-{name}": value for name, value in changes.items()}}
    return {"headers": {name: value for name, value in headers.items() if value is not None}}


def signed(body: str) -> dict[str, Any]:
    """A correctly signed delivery with another body."""
    text = f"{FIRST['timestamp']}.{body}".encode()
    return {**with_headers(Signature=hmac.digest(FIRST["secret"].encode(), text, hashlib.sha256).hex()), "body": body}


TWO = {"Signature": "0" * 64, "Signature-Previous": FIRST["signature"]}

CASES: list[tuple[str, dict[str, Any], str]] = [
    ("as sent", {}, "accepted"),
    ("with names in lower case", {"headers": {k.lower(): v for k, v in service_headers(FIRST).items()}}, "accepted"),
    ("with a changed byte", {"body": FIRST["body"].replace("test", "tesu")}, "bad_signature"),
    ("with a byte more", {"body": FIRST["body"] + "\n"}, "bad_signature"),
    ("with a byte less", {"body": FIRST["body"][:-1]}, "bad_signature"),
    ("with an empty body", {"body": b""}, "bad_signature"),
    ("written again", {"body": json.dumps(json.loads(FIRST["body"]))}, "bad_signature"),
    ("parsed", {"body": json.loads(FIRST["body"])}, "bad_body"),
    ("without a body", {"body": None}, "bad_body"),
    ("by another secret", {"secret": OTHER_SECRET}, "bad_signature"),
    ("by one of several secrets", {"secret": [OTHER_SECRET, FIRST["secret"]]}, "accepted"),
    ("by the secret before the last rotation", with_headers(**TWO), "accepted"),
    ("without secrets", {"secret": []}, "bad_secret"),
    ("with None for a secret", {"secret": None}, "bad_secret"),
    ("with an empty secret", {"secret": ""}, "bad_secret"),
    ("with a short secret", {"secret": SHORT_SECRET}, "bad_secret"),
    ("with a short secret beside the right one", {"secret": [FIRST["secret"], SHORT_SECRET]}, "bad_secret"),
    ("with the secret without its prefix", {"secret": FIRST["secret"][6:]}, "bad_secret"),
    ("with a line end behind the secret", {"secret": FIRST["secret"] + "\n"}, "bad_secret"),
    ("with a secret that is no base64", {"secret": "whsec_" + "!" * 44}, "bad_secret"),
    ("with a secret as bytes", {"secret": [FIRST["secret"].encode()]}, "bad_secret"),
    ("300 s late", {"now": NOW + 300}, "accepted"),
    ("300.001 s late", {"now": NOW + 300.001}, "stale_timestamp"),
    ("300 s early", {"now": NOW - 300}, "accepted"),
    ("300.001 s early", {"now": NOW - 300.001}, "stale_timestamp"),
    ("late, with a longer tolerance", {"now": NOW + 600, "tolerance_seconds": 600}, "accepted"),
    ("late, with a shorter tolerance", {"now": NOW + 2, "tolerance_seconds": 1}, "stale_timestamp"),
    ("with a broken tolerance", {"tolerance_seconds": math.nan}, "stale_timestamp"),
    ("with a broken clock", {"now": math.nan}, "stale_timestamp"),
    ("without a signature", with_headers(Signature=None), "missing_header"),
    ("with an empty signature", with_headers(Signature=""), "missing_header"),
    ("with two signatures", with_headers(Signature=[FIRST["signature"], "x"]), "missing_header"),
    ("with one signature in a list", with_headers(Signature=[FIRST["signature"]]), "accepted"),
    ("with a signature in upper case", with_headers(Signature=FIRST["signature"].upper()), "bad_signature"),
    ("with a signature beyond ASCII", with_headers(Signature="é\udcff" * 32), "bad_signature"),
    ("without a timestamp", with_headers(Timestamp=None), "missing_header"),
    ("with another timestamp", with_headers(Timestamp="2026-11-21T09:30:00.001Z"), "bad_signature"),
    ("with a timestamp in seconds", with_headers(Timestamp=str(int(NOW))), "bad_timestamp"),
    ("with a timestamp that is no time", with_headers(Timestamp="2026-13-41T25:61:61Z"), "bad_timestamp"),
    ("with a timestamp in other digits", with_headers(Timestamp="\uff12026-11-21T09:30:00Z"), "bad_timestamp"),
    ("with a timestamp and a line end", with_headers(Timestamp=FIRST["timestamp"] + "\n"), "bad_timestamp"),
    ("with another prefix", {"header_prefix": "X-Acme-"}, "missing_header"),
    ("signed, but no JSON", signed("no json"), "bad_body"),
    ("signed, but nested too deeply", signed("[" * 200_000), "bad_body"),
    ("signed, but no object", signed("[]"), "bad_body"),
    ("signed, but no event", signed('{"id": 7, "type": "webhook.test"}'), "bad_body"),
    ("without any headers", {"headers": {}}, "missing_header"),
    ("standard: as sent", with_standard(), "accepted"),
    ("standard: one of several", with_standard(signature=f"v1,AAAA {FIRST['standard_signature']}"), "accepted"),
    ("standard: another version", with_standard(signature="v2" + FIRST["standard_signature"][2:]), "bad_signature"),
    ("standard: another id", with_standard(id="evt_2"), "bad_signature"),
    ("standard: without an id", with_standard(id=None), "missing_header"),
    ("standard: without a timestamp", with_standard(timestamp=None), "missing_header"),
    ("standard: a time", with_standard(timestamp=FIRST["timestamp"]), "bad_timestamp"),
    ("standard: a negative time", with_standard(timestamp="-1"), "bad_timestamp"),
    ("standard: late", {**with_standard(), "now": NOW + 301}, "stale_timestamp"),
    ("standard: by another secret", {**with_standard(), "secret": OTHER_SECRET}, "bad_signature"),
    (
        "standard beside a wrong signature of the service",
        {"headers": {**standard_headers(FIRST), **service_headers(FIRST), "X-Service-Signature": "0" * 64}},
        "bad_signature",
    ),
]


@pytest.mark.parametrize(("changes", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_a_delivery_is_accepted_or_refused_with_a_reason(changes: dict[str, Any], expected: str) -> None:
    given = {"headers": service_headers(FIRST), "body": FIRST["body"], "secret": FIRST["secret"], "now": NOW, **changes}

    if expected == "accepted":
        assert verify_webhook(**given)["id"] == FIRST["id"]
        return
    with pytest.raises(WebhookVerificationError) as caught:
        verify_webhook(**given)
    assert caught.value.code == expected
    assert caught.value.status in (400, 401)
    assert "whsec_Bw4" not in str(caught.value)


def test_an_example_for_tests_is_signed_as_the_service_signs() -> None:
    headers, body = sign_test_delivery(json.loads(FIRST["body"]), FIRST["secret"], now=NOW)

    assert body == FIRST["body"].encode()
    assert headers["X-Service-Signature"] == FIRST["signature"]
    assert headers["webhook-signature"] == FIRST["standard_signature"]
    assert verify_webhook(headers, body, FIRST["secret"], now=NOW)["id"] == FIRST["id"]
    for name in ("X-Service-Signature", "X-Service-Timestamp"):
        del headers[name]
    assert verify_webhook(headers, body, FIRST["secret"], now=NOW)["id"] == FIRST["id"]


def test_an_alert_is_told_by_its_type() -> None:
    alert = {
        "id": "evt_1",
        "type": "webhook.exhausted",
        "created_at": "2026-11-21T09:30:00.000Z",
        "data": {"webhook": {"id": "wh_1", "active": True}, "delivery": {"reason": "http_status"}},
    }
    headers, body = sign_test_delivery(alert, FIRST["secret"], now=NOW)

    event = verify_webhook(headers, body, FIRST["secret"], now=NOW)

    assert event["type"] == "webhook.exhausted"
    assert event["data"]["delivery"]["reason"] == "http_status"


def test_any_single_changed_bit_is_refused() -> None:
    random = Random(256)  # noqa: S311 - a seed

    def flipped(text: str) -> str:
        data = bytearray(text.encode("latin-1"))
        data[random.randrange(len(data))] ^= 1 << random.randrange(7)
        return data.decode("latin-1")

    for _ in range(500):
        for headers in (service_headers(FIRST), standard_headers(FIRST)):
            changed = random.choice(["body", *headers])
            body = flipped(FIRST["body"]) if changed == "body" else FIRST["body"]
            given = {name: flipped(value) if name == changed else value for name, value in headers.items()}
            with pytest.raises(WebhookVerificationError):
                verify_webhook(given, body, FIRST["secret"], now=NOW)


def test_every_pair_of_signatures_is_compared_in_constant_time(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[bool] = []

    def compare_digest(given: bytes, made: bytes) -> bool:
        compared.append(given == made)
        return compared[-1]

    monkeypatch.setattr("verbatim_sdk.webhooks.hmac.compare_digest", compare_digest)
    headers = {**service_headers(FIRST), "X-Service-Signature-Previous": "0" * 64}

    assert verify_webhook(headers, FIRST["body"], [FIRST["secret"], OTHER_SECRET], now=NOW)["id"] == FIRST["id"]
    # Also after the first pair, which is the right one.
    assert sorted(compared) == [False, False, False, True]


def test_a_header_that_comes_twice_is_refused_in_any_form() -> None:
    class MultiDict:
        def items(self) -> list[tuple[str, Any]]:
            return [*service_headers(FIRST).items(), ("x-service-signature", FIRST["signature"])]

    joined = {**service_headers(FIRST), "X-Service-Signature": f"{FIRST['signature']}, {FIRST['signature']}"}

    for headers, code in ((MultiDict(), "missing_header"), (joined, "bad_signature")):
        with pytest.raises(WebhookVerificationError) as caught:
            verify_webhook(headers, FIRST["body"], FIRST["secret"], now=NOW)
        assert caught.value.code == code
