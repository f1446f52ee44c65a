from __future__ import annotations

import json
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from conftest import KEY, answers, error

import verbatim_sdk
from verbatim_sdk import ApiConnectionError, ApiError, ApiTimeoutError, NotFoundError, Verbatim, VerbatimError
from verbatim_sdk.errors import ERROR_CLASSES

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Either

    MakeEither = Callable[..., Either]

OK = httpx.Response(200, json={"id": "job_1"})
BUSY = error(503, "unavailable")
CUT = httpx.ReadError("reset")


def get_job(client: Any) -> Any:
    return client.jobs.get("job_1")


def cancel_job(client: Any) -> Any:
    return client.jobs.cancel("job_1")


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
def test_an_answer_that_may_pass_is_asked_for_again(either: MakeEither, delays: list[float], status: int) -> None:
    one = either(answers(httpx.Response(status), httpx.Response(status), OK))

    assert one.call(get_job) == {"id": "job_1"}
    assert len(one.requests) == 3
    assert 0.375 <= delays[0] <= 0.5
    assert 0.75 <= delays[1] <= 1.0


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 405, 409, 413, 415, 416, 422, 501])
def test_an_answer_that_stays_is_not_asked_for_again(either: MakeEither, delays: list[float], status: int) -> None:
    one = either(answers(httpx.Response(status)))

    with pytest.raises(ApiError) as caught:
        one.call(get_job)

    assert (caught.value.status, caught.value.is_retryable) == (status, False)
    assert len(one.requests) == 1
    assert delays == []


def test_a_conflict_that_says_when_is_asked_for_again(either: MakeEither, delays: list[float]) -> None:
    one = either(answers(error(409, "conflict", {"Retry-After": "1"}), OK))

    assert one.call(cancel_job) == {"id": "job_1"}
    assert delays == [1.0]


def test_retry_after_goes_before_the_own_delays_up_to_a_minute(either: MakeEither, delays: list[float]) -> None:
    one = either(answers(error(429, "rate_limited", {"Retry-After": "60"}), OK))
    other = either(answers(error(429, "rate_limited", {"Retry-After": "61"}), OK))

    one.call(get_job)
    with pytest.raises(verbatim_sdk.RateLimitError) as caught:
        other.call(get_job)

    assert delays == [60.0]
    assert (caught.value.retry_after, caught.value.is_retryable) == (61.0, True)


def test_a_connection_that_fails_is_made_again_and_the_last_failure_is_raised(
    either: MakeEither, delays: list[float]
) -> None:
    one = either(answers(httpx.ConnectError("refused"), CUT, httpx.ReadTimeout("slow")))

    with pytest.raises(ApiTimeoutError) as caught:
        one.call(get_job)

    assert caught.value.phase == "read"
    assert len(one.requests) == 3
    assert len(delays) == 2


def test_the_limit_of_retries_can_be_set_for_client_and_call(either: MakeEither, delays: list[float]) -> None:
    one = either(answers(BUSY), max_retries=0)
    derived = either(answers(BUSY))
    derived.client = derived.client.with_options(max_retries=1)

    for each, method, expected in [
        (one, get_job, 1),
        (one, lambda client: client.jobs.get("job_1", options={"max_retries": 4}), 5),
        (derived, get_job, 2),
    ]:
        each.requests.clear()
        with pytest.raises(verbatim_sdk.UnavailableError):
            each.call(method)
        assert len(each.requests) == expected
    assert max(delays) <= 8.0


def test_a_post_keeps_its_idempotency_key_over_retries_and_each_call_has_another(
    either: MakeEither, delays: list[float]
) -> None:
    one = either(answers(BUSY, CUT, OK))

    one.call(cancel_job)
    one.call(cancel_job)
    one.call(lambda client: client.jobs.cancel("job_1", options={"idempotency_key": "mine"}))
    one.call(get_job)

    keys = [request.headers.get("idempotency-key") for request in one.requests]
    assert len(delays) == 2
    assert keys[0] == keys[1] == keys[2] != keys[3]
    assert keys[0].startswith("vb-")
    assert keys[4:] == ["mine", None]


def test_a_delete_whose_answer_was_lost_succeeds(either: MakeEither, delays: list[float]) -> None:
    gone = error(404, "not_found")
    one = either(answers(CUT, gone))
    other = either(answers(gone))

    assert one.call(lambda client: client.jobs.delete("job_1")) is None
    with pytest.raises(NotFoundError):
        other.call(lambda client: client.jobs.delete("job_1"))
    assert len(delays) == 1


def test_a_redirect_is_an_error_and_the_key_goes_nowhere_else(either: MakeEither, delays: list[float]) -> None:
    one = either(answers(httpx.Response(307, headers={"Location": "https://evil.example.com/"})))

    with pytest.raises(ApiConnectionError, match="redirects"):
        one.call(get_job)

    assert [request.url.host for request in one.requests] == ["speech.example.com"]
    assert delays == []


def test_an_error_has_its_class_and_what_the_service_says(either: MakeEither) -> None:
    answer = error(403, "missing_scope", param="scopes", docs="/docs/errors#missing_scope")
    answer = httpx.Response(403, json={**answer.json(), "required_scope": "jobs:write"})

    with pytest.raises(verbatim_sdk.MissingScopeError) as caught:
        either(answers(answer)).call(get_job)

    found = caught.value
    assert (found.status, found.type, found.param, found.request_id) == (403, "missing_scope", "scopes", "req_1")
    assert found.docs == "https://speech.example.com/docs/errors#missing_scope"
    assert found.required_scope == "jobs:write"
    assert str(found) == "Do something else. (403, missing_scope, req_1)"


def test_every_error_type_of_the_api_has_a_class() -> None:
    text = (Path(verbatim_sdk.__file__).parent / "types.py").read_text()
    of_body = text[text.index("class ErrorBodyError(") :]
    literal = of_body[of_body.index("    type: Literal[") :].split("[", 1)[1].split("]")[0]

    assert set(json.loads(f"[{literal}]")) == set(ERROR_CLASSES)
    assert all(cls.__name__ in verbatim_sdk.__all__ for cls in ERROR_CLASSES.values())


@pytest.mark.parametrize(
    "body",
    [b"", b"<html>Bad Gateway</html>", b"[1]", b'{"error": "no"}', b'{"error": {"type": ["x"]}}', b"[" * 100_000],
)
def test_an_error_of_a_proxy_is_an_api_error(either: MakeEither, body: bytes) -> None:
    with pytest.raises(ApiError) as caught:
        either(answers(httpx.Response(502, content=body)), max_retries=0).call(get_job)

    assert type(caught.value) is ApiError
    assert caught.value.is_retryable


PAGE = httpx.Response(200, content=b"<html>", headers={"Content-Type": "text/html", "X-Request-Id": "req_1"})
CUT_JSON = httpx.Response(200, content=b'{"id": "jo', headers={"X-Request-Id": "req_1"})


@pytest.mark.parametrize("step", [PAGE, CUT_JSON, httpx.Response(200, headers={"X-Request-Id": "req_1"})])
def test_a_2xx_that_is_not_the_json_promised_is_a_retried_error_with_status_and_request_id(
    either: MakeEither, delays: list[float], step: httpx.Response
) -> None:
    one = either(answers(step, step, OK))
    other = either(answers(step))

    assert one.call(cancel_job) == {"id": "job_1"}
    with pytest.raises(verbatim_sdk.UnreadableAnswerError, match="a proxy may have changed it") as caught:
        other.call(get_job)

    assert len({request.headers["idempotency-key"] for request in one.requests}) == 1
    assert (caught.value.is_retryable, caught.value.status, caught.value.request_id) == (True, 200, "req_1")
    assert len(other.requests) == 3
    assert len(delays) == 4


def test_a_web_page_is_taken_neither_for_captions_nor_for_csv_nor_for_a_stream(
    either: MakeEither, delays: list[float]
) -> None:
    one = either(answers(PAGE, PAGE, PAGE, error(401, "unauthenticated")), max_retries=0)

    for method in (lambda client: client.jobs.transcript("job_1", "srt"), lambda client: client.usage_csv()):
        with pytest.raises(verbatim_sdk.UnreadableAnswerError):
            one.call(method)
    # A stream is opened again.
    with pytest.raises(verbatim_sdk.UnauthenticatedError):
        one.take(lambda client: client.stream())
    assert len(delays) == 1


def test_long_integers_keep_their_digits(either: MakeEither) -> None:
    answer = httpx.Response(200, content=b'{"metadata": {"order": 12345678901234567890}}')

    assert either(answers(answer)).call(get_job)["metadata"]["order"] == 12345678901234567890


def test_queries_are_written_as_the_api_reads_them(either: MakeEither) -> None:
    one = either(answers(httpx.Response(200, json={"data": [], "has_more": False, "next_cursor": None})))
    when = datetime(2026, 11, 21, 9, 30, tzinfo=timezone.utc)

    one.call(lambda client: client.jobs.list(metadata={"a b": 1}, query="x&y", created_after=when, plan=None).page())
    one.call(lambda client: client.usage(from_="2026-11-01", to="2026-11-02"))

    assert str(one.requests[0].url.query, "ascii") == (
        "metadata%5Ba+b%5D=1&query=x%26y&created_after=2026-11-21T09%3A30%3A00%2B00%3A00"
    )
    assert str(one.requests[1].url.query, "ascii") == "from=2026-11-01&to=2026-11-02"


def test_any_path_can_be_asked_for(either: MakeEither, delays: list[float]) -> None:
    one = either(answers(BUSY, OK))

    assert one.call(lambda client: client.request("POST", "/v1/new", query={"a": 1}, body={"b": 2})) == {"id": "job_1"}
    assert [str(request.url) for request in one.requests] == ["https://speech.example.com/v1/new?a=1"] * 2
    assert one.bodies == [b'{"b":2}'] * 2
    with pytest.raises(ValueError, match="slash"):
        one.call(lambda client: client.request("GET", ".evil.example.com/v1"))


@pytest.mark.parametrize("job_id", ["", ".", ".."])
def test_an_id_that_would_change_the_path_is_refused(either: MakeEither, job_id: str) -> None:
    one = either(answers(OK))

    with pytest.raises(ValueError, match="id"):
        one.call(lambda client: client.jobs.get(job_id))

    assert one.requests == []


def test_a_slash_in_an_id_stays_in_the_id(either: MakeEither) -> None:
    one = either(answers(OK))

    one.call(lambda client: client.jobs.get("../keys?a=b#c"))

    assert one.requests[0].url.raw_path == b"/v1/jobs/..%2Fkeys%3Fa%3Db%23c"


def test_a_list_is_read_page_by_page(either: MakeEither) -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        start = int(request.url.params.get("cursor", "0"))
        more = start + 2 < 5
        data = [{"id": n} for n in range(start, min(start + 2, 5))]
        body = {"data": data, "has_more": more, "next_cursor": str(start + 2) if more else None}
        return httpx.Response(200, json=body)

    one = either(answer)
    items = one.take(lambda client: client.jobs.list(limit=2), 100)
    first = one.call(lambda client: client.jobs.list(limit=2).page())
    some = one.call(lambda client: client.jobs.list(limit=2).to_list(limit=3))

    assert [item["id"] for item in items] == [0, 1, 2, 3, 4]
    assert (first.items, first.next_cursor) == ([{"id": 0}, {"id": 1}], "2")
    assert [item["id"] for item in some] == [0, 1, 2]
    assert len(one.requests) == 3 + 1 + 2


def test_the_key_can_be_a_function_and_is_in_no_message(either: MakeEither) -> None:
    keys = iter(["vb_one", "vb_two"])
    one = either(answers(OK), api_key=lambda: next(keys))

    one.call(get_job)
    one.call(get_job)

    assert [request.headers["x-api-key"] for request in one.requests] == ["vb_one", "vb_two"]
    with pytest.raises(VerbatimError) as caught:
        Verbatim(api_key="vb_secret\n")
    assert "vb_secret" not in str(caught.value)
    assert KEY not in repr(vars(Verbatim(api_key=KEY)._transport))


@pytest.mark.parametrize(
    "url",
    [
        "ftp://example.com",
        "example.com",
        "https://",
        "https://u:p@example.com",
        "https://example.com/?a=b",
        "https://e/#x",
    ],
)
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(VerbatimError, match="base_url"):
        Verbatim(api_key=KEY, base_url=url)


def test_key_and_address_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VERBATIM_API_KEY", "vb_env")
    monkeypatch.setenv("VERBATIM_URL", "https://env.example.com/speech/")
    seen: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return OK

    Verbatim(http_client=httpx.Client(transport=httpx.MockTransport(answer))).jobs.get("job_1")

    assert str(seen[0].url) == "https://env.example.com/speech/v1/jobs/job_1"
    assert seen[0].headers["x-api-key"] == "vb_env"
    monkeypatch.delenv("VERBATIM_API_KEY")
    with pytest.raises(VerbatimError, match="VERBATIM_API_KEY"):
        Verbatim()
