from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from conftest import answers, error

from verbatim_sdk import Progress, UnauthenticatedError, VerbatimError, WaitTimeoutError
from verbatim_sdk._core.sse import Frame, SseParser

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Either

    MakeEither = Callable[..., Either]


def stream(*frames: tuple[str, dict[str, Any]] | str, ids: bool = False) -> httpx.Response:
    """A stream that ends after these frames; a text is sent as it is."""
    texts = [frame if isinstance(frame, str) else frame_text(*frame, with_id=ids) for frame in frames]
    return httpx.Response(200, content="".join(texts).encode(), headers={"Content-Type": "text/event-stream"})


def frame_text(event: str, data: dict[str, Any], *, with_id: bool) -> str:
    line = f"id: {data['id']}\n" if with_id and "id" in data else ""
    return f"event: {event}\n{line}data: {json.dumps(data)}\n\n"


def status(status: str, **more: Any) -> tuple[str, dict[str, Any]]:
    return "status", {"id": "job_1", "status": status, "error": None, **more}


def progress(part: float) -> tuple[str, dict[str, Any]]:
    return "progress", {"progress": part}


def segment(index: int, text: str) -> tuple[str, dict[str, Any]]:
    return "segment", {"index": index, "start": index, "end": index + 1, "text": text, "confidence": None}


def job(status: str, **more: Any) -> dict[str, Any]:
    return {"id": "job_1", "status": status, "progress": 0, "segments": None, "error": None, **more}


def read(*chunks: bytes) -> list[Frame]:
    parser = SseParser()
    return [frame for chunk in chunks for frame in parser.feed(chunk)]


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_frames_are_read_from_chunks_of_any_size(line_end: str, size: int) -> None:
    text = 'retry: 2000\n\n: keep-alive\n\nevent: a\nid: 1\ndata: {"x":\ndata: "Grüße 🎧"}\n\ndata:{}\n\n'
    content = text.replace("\n", line_end).encode()

    assert read(*(content[at : at + size] for at in range(0, len(content), size))) == [
        Frame("comment", None, None),
        Frame("a", {"x": "Grüße 🎧"}, "1"),
        Frame("message", {}, None),
    ]


@pytest.mark.parametrize("content", [b"data: no json\n\n", b"\xff\n\n", b"data: " + b"[" * 100_000 + b"\n\n"])
def test_what_is_no_event_stream_is_an_error(content: bytes) -> None:
    with pytest.raises(VerbatimError):
        read(content)


def test_a_frame_without_end_is_not_collected_for_ever() -> None:
    parser = SseParser()

    for _ in range(15):
        assert parser.feed(b"x" * (1 << 20)) == []
    with pytest.raises(VerbatimError, match="longer"):
        parser.feed(b"x" * (2 << 20))


def test_a_job_is_followed_over_a_cut_and_each_update_comes_once(either: MakeEither, delays: list[float]) -> None:
    one = either(
        answers(
            stream(status("queued", queue_position=1), progress(0), ": keep-alive\n\n", segment(0, "one")),
            stream(status("processing"), progress(0.5), segment(0, "one"), segment(1, "two")),
            stream(progress(0.2), progress(1), segment(0, "anew"), segment(1, "two"), status("completed"), status("x")),
        )
    )

    updates = one.take(lambda client: client.jobs.follow("job_1"), 100)

    assert [(update["type"], *list(update["data"].values())[:1]) for update in updates] == [
        ("status", "job_1"),
        ("progress", 0),
        ("segment", 0),
        ("status", "job_1"),
        ("progress", 0.5),
        ("segment", 1),
        ("progress", 1),
        ("segment", 0),
        ("status", "job_1"),
    ]
    assert updates[-2]["data"]["text"] == "anew"
    assert delays == [0.5, 0.5]


def test_a_job_whose_stream_is_cut_three_times_is_asked_for(either: MakeEither, delays: list[float]) -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/events"):
            raise httpx.ReadError("cut")
        polls.append(1)
        return httpx.Response(503) if len(polls) < 3 else httpx.Response(200, json=jobs.pop(0))

    polls: list[int] = []
    jobs = [
        job("queued"),
        job("processing", progress=0.5),
        job("completed", progress=1, segments=[{"text": "one"}]),
        job("completed"),
    ]
    one = either(answer, max_retries=0)

    seen: list[Progress] = []
    result = one.call(lambda client: client.jobs.wait("job_1", on_progress=seen.append))

    assert result == job("completed")
    assert [(each.phase, each.part) for each in seen] == [("queue", 0), ("work", 0.5), ("work", 1), ("work", 1)]
    assert delays[:3] == [0.5, 0.5, 0.5]
    assert delays[3:6] == [1.0, 1.5, 2.25]


def test_waiting_ends_with_its_time_and_the_job_goes_on(
    either: MakeEither, delays: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        clock[0] += 4
        return stream(status("processing"), ": keep-alive\n\n")

    clock = [0.0]
    monkeypatch.setattr("verbatim_sdk._core.waiting.time.monotonic", lambda: clock[0])
    one = either(answer)

    with pytest.raises(WaitTimeoutError) as caught:
        one.call(lambda client: client.jobs.wait("job_1", timeout=10))

    assert caught.value.job_id == "job_1"
    assert not caught.value.is_retryable
    assert [request.extensions["timeout"]["read"] for request in one.requests] == [10, 6, 2]
    assert {request.method for request in one.requests} == {"GET"}


def test_a_job_that_is_not_there_ends_the_wait(either: MakeEither, delays: list[float]) -> None:
    one = either(answers(error(401, "unauthenticated")))

    for method in (lambda client: client.jobs.wait("job_1"), lambda client: client.jobs.transcribe(b"x")):
        with pytest.raises(UnauthenticatedError):
            one.call(method)
    assert delays == []


def event(number: int, **more: Any) -> dict[str, Any]:
    body = json.dumps({"id": f"evt_{number}", "type": "webhook.test", "data": {}})
    at = "2026-11-21T09:30:00.000Z"
    return {"id": f"evt_{number}", "type": "webhook.test", "created_at": at, "sha256": "", "body": body, **more}


def test_events_are_followed_over_cuts_from_the_last_one(either: MakeEither, delays: list[float]) -> None:
    one = either(
        answers(
            stream(("hello", {"id": "start"}), ("event", event(1)), ("event", event(2)), ids=True),
            httpx.Response(429, headers={"Retry-After": "50"}),
            stream(("event", event(2)), ("event", event(3)), ("bye", {"reason": "stopping"}), ids=True),
            stream(("resend", event(1, webhook_id="wh_1")), ids=True),
        )
    )

    events = one.take(lambda client: client.events.follow(types=["webhook.test"]), 4)

    assert [(each.id, each.event["id"], each.resume_id, each.resent_to) for each in events] == [
        ("evt_1", "evt_1", "evt_1", None),
        ("evt_2", "evt_2", "evt_2", None),
        ("evt_3", "evt_3", "evt_3", None),
        ("evt_1", "evt_1", "evt_1", "wh_1"),
    ]
    assert [request.url.params["after"] for request in one.requests] == ["now", "evt_2", "evt_2", "evt_3"]
    assert dict(one.requests[0].url.params) == {"topics": "events", "types": "webhook.test", "after": "now"}
    assert delays[1] == 50
    assert delays[0] <= 1.0


def test_the_pauses_between_connections_grow_to_half_a_minute(either: MakeEither, delays: list[float]) -> None:
    cuts = [httpx.ConnectError("refused")] * 8
    one = either(answers(*cuts, stream(("event", event(1))), error(401, "unauthenticated")))

    with pytest.raises(UnauthenticatedError):
        one.take(lambda client: client.events.follow(after="evt_0"), 5)

    longest = [1, 2, 4, 8, 16, 30, 30, 30, 1]
    assert all(0.75 * most <= delay <= most for delay, most in zip(delays, longest, strict=True))
    assert one.requests[0].url.params["after"] == "evt_0"


def test_what_is_no_longer_kept_is_logged(
    either: MakeEither, delays: list[float], caplog: pytest.LogCaptureFixture
) -> None:
    one = either(answers(stream(("gap", {"from": "evt_0", "oldest_id": "evt_5"}), ("event", event(5)))))

    with caplog.at_level(logging.WARNING, "verbatim_sdk"):
        one.take(lambda client: client.events.follow(after="evt_0"), 1)

    assert "evt_0" in caplog.text


def test_now_is_the_time_of_the_call_also_when_the_first_connections_bring_no_frame(
    either: MakeEither, delays: list[float]
) -> None:
    empty = stream()
    empty.headers["Date"] = "Sat, 21 Nov 2026 11:30:00 GMT"
    one = either(answers(empty, empty, error(401, "unauthenticated")))
    other = either(answers(httpx.ReadError("cut"), httpx.ReadError("cut"), error(401, "unauthenticated")))

    for each in (one, other):
        with pytest.raises(UnauthenticatedError):
            each.take(lambda client: client.events.follow(after="now"))

    afters = [request.url.params["after"] for request in one.requests]
    assert afters[0] == "now"
    assert afters[1] == afters[2]
    assert "2026-11-21T11:29:58" < afters[1] <= "2026-11-21T11:30:00.000Z"
    afters = [request.url.params["after"] for request in other.requests]
    assert afters[0] == "now"
    assert afters[1] == afters[2] != "now"


def test_the_stream_of_an_account_leaves_out_what_came(either: MakeEither, delays: list[float]) -> None:
    rows = [("job", job("queued")), ("job", job("completed")), ("delivery", {"id": "dlv_1"})]
    one = either(answers(stream(*rows), stream(*rows, ("job", job("failed")))))

    frames = one.take(lambda client: client.stream(topics=["jobs", "deliveries"]), 4)

    assert [(frame.type, frame.data.get("status")) for frame in frames] == [
        ("job", "queued"),
        ("job", "completed"),
        ("delivery", None),
        ("job", "failed"),
    ]
    assert one.requests[0].url.params["topics"] == "jobs,deliveries"
