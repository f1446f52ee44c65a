from __future__ import annotations

import os
import re
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest

import verbatim_sdk
from verbatim_sdk import (
    ConflictError,
    InvalidRequestError,
    JobFailedError,
    NotFoundError,
    Progress,
    UnauthenticatedError,
    UnprocessableAudioError,
    Verbatim,
    verify_webhook,
)

if TYPE_CHECKING:
    from conftest import Caller

# What the service under test has: see sdk.all.test.ts.
SPOKEN = "hello quiet world"
METADATA = {"order": 12345678901234567890, "name": "Grüße", "list": [None, 1.5, True]}


@pytest.fixture
def audio() -> Path:
    return Path(os.environ["VERBATIM_TEST_AUDIO"])


def test_audio_is_transcribed(service: Caller, audio: Path) -> None:
    seen: list[Progress] = []

    job = service.call(
        lambda client: client.transcribe(audio, timestamps="word", metadata=METADATA, on_progress=seen.append)
    )

    assert (job["status"], job["text"], job["metadata"]) == ("completed", SPOKEN, METADATA)
    assert job["audio"]["filename"] == audio.name
    assert "".join(word["text"] for segment in job["segments"] for word in segment["words"])
    assert seen[0].phase == "upload"
    assert seen[-1] == Progress("work", 1.0)


def test_a_job_is_found_followed_read_and_erased(service: Caller, audio: Path) -> None:
    with audio.open("rb") as file:
        job_id = service.call(lambda client: client.jobs.create(file, filename="odd name.wav"))["id"]
    updates = service.take(lambda client: client.jobs.follow(job_id))
    ended = service.call(lambda client: client.jobs.wait(job_id))
    found = service.take(lambda client: client.jobs.list(query="odd name", limit=1), 1)

    assert updates[-1] == {"type": "status", "data": {"id": job_id, "status": "completed", "error": None}}
    assert [update["data"]["text"] for update in updates if update["type"] == "segment"] == [SPOKEN]
    assert ended["text"] == SPOKEN
    assert found[0]["audio"]["filename"] == "odd name.wav"
    assert service.call(lambda client: client.jobs.transcript(job_id)).strip() == SPOKEN
    captions = service.call(lambda client: client.jobs.transcript(job_id, "srt", max_line_length=10, speakers=True))
    assert "\n\n2\n00:00:0" in captions
    document = service.call(lambda client: client.jobs.transcript_file(job_id, "docx"))
    assert document.startswith(b"PK")
    edited = service.call(lambda client: client.jobs.edit_transcript(job_id, [{"index": 0, "text": "Hello."}]))
    assert edited["segments"][0]["text"] == "Hello."
    original = service.call(lambda client: client.jobs.read_transcript(job_id, version="original"))
    assert (original["version"], original["segments"][0]["text"]) == ("original", SPOKEN)
    assert service.call(lambda client: client.jobs.peaks(job_id, points=10))["max"]
    link = service.call(lambda client: client.jobs.audio_link(job_id, expires_in=60))
    assert httpx.get(os.environ["VERBATIM_URL"] + link["url"]).content == audio.read_bytes()
    shared = service.call(lambda client: client.jobs.share(job_id, expires_in=60))
    opened = httpx.get(f"{os.environ['VERBATIM_URL']}/v1/shared/{shared['url'].split('/')[-1]}")
    assert opened.json()["text"] == "Hello."
    assert [share["id"] for share in service.call(lambda client: client.jobs.shares(job_id))] == [shared["id"]]
    assert service.call(lambda client: client.jobs.end_share(job_id, shared["id"])) is None
    changed = service.call(lambda client: client.jobs.update(job_id, metadata=METADATA))
    assert changed["metadata"] == METADATA
    assert service.call(lambda client: client.jobs.update(job_id, metadata=None))["metadata"] is None
    named = service.call(lambda client: client.jobs.update(job_id, title="First call", tags=["sales"]))
    assert (named["title"], named["tags"], named["metadata"]) == ("First call", ["sales"], None)
    again = service.call(lambda client: client.jobs.retry(job_id, plan="lite"))
    assert service.call(lambda client: client.jobs.wait(again["id"]))["plan"] == "lite"

    assert service.call(lambda client: client.jobs.delete(job_id)) is None
    with pytest.raises(NotFoundError):
        service.call(lambda client: client.jobs.get(job_id))


def test_stored_audio_is_read_in_parts(service: Caller, audio: Path) -> None:
    job_id = service.call(lambda client: client.transcribe(audio))["id"]

    def read_sync(client: Any) -> bytes:
        with client.jobs.audio(job_id, byte_range="bytes=4-99") as response:
            return b"".join(response.iter_bytes())

    async def read_async(client: Any) -> bytes:
        async with client.jobs.audio(job_id, byte_range="bytes=4-99") as response:
            return b"".join([chunk async for chunk in response.aiter_bytes()])

    is_sync = isinstance(service.client, AbstractContextManager)
    assert service.call(read_sync if is_sync else read_async) == audio.read_bytes()[4:100]


def test_the_same_idempotency_key_makes_one_job(service: Caller, audio: Path) -> None:
    options = {"idempotency_key": os.urandom(8).hex()}

    first = service.call(lambda client: client.jobs.create(audio, options=options))
    second = service.call(lambda client: client.jobs.create(audio, options=options))

    assert first["id"] == second["id"]
    with pytest.raises(ConflictError):
        service.call(lambda client: client.jobs.create(audio, plan="lite", options=options))


def test_mistakes_are_errors_of_their_classes(service: Caller, audio: Path) -> None:
    with pytest.raises(InvalidRequestError) as caught:
        service.call(lambda client: client.transcribe(audio, language="no language"))
    assert caught.value.param == "language"
    assert str(caught.value.request_id).startswith("req_")
    with pytest.raises(UnprocessableAudioError):
        service.call(lambda client: client.transcribe(b"no audio"))
    with pytest.raises(NotFoundError):
        service.call(lambda client: client.jobs.wait("job_01kamz2f3q8r5t7v9wxyzabcde"))
    with Verbatim(api_key="vb_unknown") as stranger, pytest.raises(UnauthenticatedError):
        stranger.account()


def test_a_job_that_fails_is_an_error_with_the_job(service: Caller, audio: Path) -> None:
    # The header is that of a wav file, and the samples of a format that it does not have.
    broken = audio.read_bytes()[:20] + b"\xff\xfe" + audio.read_bytes()[22:]

    with pytest.raises((JobFailedError, UnprocessableAudioError)):
        service.call(lambda client: client.transcribe(broken))


def test_a_delivery_verifies_and_its_event_can_be_followed(service: Caller, audio: Path) -> None:
    url = os.environ["VERBATIM_TEST_RECEIVER"]
    webhook = service.call(
        lambda client: client.webhooks.create(url=url, events=["transcription.completed"], description="Python")
    )
    webhook_id, secret = webhook["id"], webhook["secret"]

    job = service.call(lambda client: client.transcribe(audio, metadata=METADATA))
    followed = service.take(
        lambda client: client.events.follow(after=job["created_at"]),
        until=lambda received: received.event["data"]["job"]["id"] == job["id"],
    )
    sent = service.call(lambda client: client.webhooks.test(webhook_id, type="transcription.failed"))
    attempts = service.take(
        lambda client: client.stream(topics=["deliveries"], after=job["created_at"]),
        until=lambda frame: frame.data.get("event_id") == sent["event_id"],
    )
    entries = service.take(lambda client: client.webhooks.deliveries(webhook_id, status="succeeded"))
    exchange = service.call(lambda client: client.webhooks.delivery(webhook_id, entries[-1]["id"]))

    assert (sent["type"], attempts[-1].data["status"]) == ("transcription.failed", "succeeded")
    request = exchange["request"]
    event: Any = verify_webhook(request["headers"], request["body"], secret)
    standard = {name: value for name, value in request["headers"].items() if name.lower().startswith("webhook-")}
    assert verify_webhook(standard, request["body"], secret) == event
    assert event["data"]["job"]["id"] == job["id"]
    assert event["metadata"] == METADATA
    assert followed[-1].event == event
    assert service.call(lambda client: client.events.get(event["id"]))["payload"] == event
    diagnosis = service.call(
        lambda client: client.webhooks.diagnose(webhook_id, headers=request["headers"], body=request["body"] + " ")
    )
    assert diagnosis["verdict"] != "genuine"

    assert service.call(lambda client: client.webhooks.redeliver(webhook_id, exchange["id"]))["event_id"] == event["id"]
    assert service.call(lambda client: client.webhooks.redeliver_many(webhook_id, [exchange["id"]])) == {"events": 1}
    assert service.call(lambda client: client.events.resend(event["id"], webhook_id=webhook_id))
    span = {"since": job["created_at"], "dry_run": True}
    assert "events" in service.call(lambda client: client.webhooks.recover(webhook_id, **span))
    assert service.call(lambda client: client.webhooks.metrics(webhook_id, from_=job["created_at"]))["data"]
    rotated = service.call(lambda client: client.webhooks.rotate_secret(webhook_id, overlap_seconds=60))
    assert rotated["secret"] != secret
    changed = service.call(lambda client: client.webhooks.update(webhook_id, description=None, active=False))
    assert (changed["description"], changed["active"]) == (None, False)
    assert service.call(lambda client: client.webhooks.get(webhook_id))["active"] is False
    assert webhook_id in [each["id"] for each in service.take(lambda client: client.webhooks.list())]
    assert service.take(lambda client: client.deliveries.list(webhook_id=webhook_id))
    assert service.take(lambda client: client.events.list(type="transcription.completed"))
    assert service.call(lambda client: client.webhooks.delete(webhook_id)) is None


def test_an_account_is_told_of_its_webhooks_at_an_url_of_its_own(service: Caller) -> None:
    url = os.environ["VERBATIM_TEST_RECEIVER"]

    made = service.call(lambda client: client.webhooks.set_alerts(url=url))
    alerts = service.call(lambda client: client.webhooks.alerts())

    assert made["secret"].startswith("whsec_")
    assert (alerts["webhook"]["id"], alerts["webhook"]["url"]) == (made["id"], url)
    changed = service.call(lambda client: client.webhooks.update_alerts(active=False))
    assert changed["active"] is False
    service.call(lambda client: client.webhooks.delete_alerts())
    assert service.call(lambda client: client.webhooks.alerts())["webhook"] is None


def test_the_account_shows_what_it_has(service: Caller, audio: Path) -> None:
    service.call(lambda client: client.transcribe(audio))

    account = service.call(lambda client: client.account())
    assert account["plan"] == service.call(lambda client: client.balance())["plan"] == "pro"
    usage = service.call(lambda client: client.usage(from_=account_day(), bucket="day", group_by="plan"))
    assert usage["data"][-1]["jobs"] > 0
    assert service.take(lambda client: client.ledger(limit=100), 1)
    table = service.call(lambda client: client.usage_csv(from_=account_day()))
    assert table.startswith("start,end,plan,model,key_id,jobs,")
    pages = service.take(lambda client: client.ledger(limit=1).csv(), 2)
    assert pages[0].startswith("id,account_id,number,kind,")
    assert pages[1].startswith("led_")
    hits = service.take(lambda client: client.search(q='"quiet world"'), 1)
    assert hits[0]["hits"][0]["text"] == SPOKEN
    assert [model["id"] for model in service.call(lambda client: client.models.list())] == ["lite", "pro"]
    assert service.call(lambda client: client.models.get("pro"))["id"] == "pro"
    assert "webhook.test" in [each["type"] for each in service.call(lambda client: client.events.types())]


def test_keys_are_made_and_revoked(service: Caller) -> None:
    made = service.call(lambda client: client.keys.create(name="short", scopes=["jobs:read"]))
    with Verbatim(api_key=made["key"]) as limited:
        assert limited.account()["scopes"] == ["jobs:read"]
        with pytest.raises(verbatim_sdk.MissingScopeError) as caught:
            limited.balance()
        assert caught.value.required_scope == "usage:read"
    assert made["id"] in [each["id"] for each in service.take(lambda client: client.keys.list())]
    service.call(lambda client: client.keys.delete(made["id"]))
    with Verbatim(api_key=made["key"]) as revoked, pytest.raises(UnauthenticatedError):
        revoked.account()


def test_a_job_is_canceled(service: Caller, audio: Path) -> None:
    job = service.call(lambda client: client.transcribe(audio))

    with pytest.raises(ConflictError):
        service.call(lambda client: client.jobs.cancel(job["id"]))


# For clients of another API, with libraries of their own; and a link that needs no key.
ELSEWHERE = {
    "/v1/audio/transcriptions",
    "/v1/audio/translations",
    "/v1/audio-links/{}",
    # Of browsers.
    "/v1/session",
    "/v1/sign-in",
    "/v1/sign-in/oidc",
    "/v1/setup",
    "/v1/me",
    "/v1/me/account",
    "/v1/me/invitations",
    "/v1/users",
    "/v1/users/{}",
    "/v1/invitations",
    "/v1/invitations/{}",
    "/v1/invitations/open",
    "/v1/invitations/accept",
    "/admin/v1/operators",
    "/admin/v1/operators/{}",
    "/v1/realtime/client_secrets",
    # For whoever has a link, without a key.
    "/v1/shared/{}",
}


def test_every_operation_of_the_api_has_a_method() -> None:
    if "VERBATIM_URL" not in os.environ:
        pytest.skip("VERBATIM_URL names no running service")
    document = httpx.get(os.environ["VERBATIM_URL"] + "/openapi.json").json()
    folder = Path(verbatim_sdk.__file__).parent / "_async"
    sources = "".join(file.read_text() for file in folder.glob("*.py"))
    operations = {
        (method.upper(), re.sub(r"\{\w+\}", "{}", path))
        for path, methods in document["paths"].items()
        for method in methods
        if path.startswith("/v1/")
    }

    missing = [
        (method, path)
        for method, path in sorted(operations)
        if path not in ELSEWHERE
        and not re.search(
            rf"""\b{method.lower()}\(\s*"{re.escape(path)}"|"{method}", path\("{re.escape(path)}\"""", sources
        )
    ]

    assert len(operations) > 40
    assert missing == []


def account_day() -> str:
    from datetime import datetime, timezone

    return datetime.now(timezone.utc).strftime("%Y-%m-%dT00:00:00Z")
