from __future__ import annotations

import asyncio
import importlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from verbatim_sdk import sign_test_delivery

if TYPE_CHECKING:
    from collections.abc import Callable

SECRET = "whsec_Bw4VHCMqMTg/Rk1UW2JpcHd+hYyTmqGor7a9xMvS2eA="
EVENT: dict[str, Any] = {
    "id": "evt_1",
    "type": "transcription.completed",
    "created_at": "2026-11-21T09:30:00.000Z",
    "data": {"job": {"text": "hello quiet world"}},
}
HEADERS, BODY = sign_test_delivery(EVENT, SECRET)


def fastapi_app(module: Any) -> Any:
    async def send(headers: dict[str, str], body: bytes) -> tuple[int, str]:
        transport = httpx.ASGITransport(app=module.app)
        async with httpx.AsyncClient(transport=transport, base_url="https://hooks.example.com") as client:
            answer = await client.post("/hooks/verbatim", content=body, headers=headers)
            return answer.status_code, answer.text

    return lambda headers, body: asyncio.run(send(headers, body))


def flask_app(module: Any) -> Any:
    def send(headers: dict[str, str], body: bytes) -> tuple[int, str]:
        answer = module.app.test_client().post("/hooks/verbatim", data=body, headers=headers)
        return answer.status_code, answer.text

    return send


def django_app(module: Any) -> Any:
    from django.conf import settings
    from django.test import RequestFactory

    if not settings.configured:
        settings.configure(ALLOWED_HOSTS=["*"])

    def send(headers: dict[str, str], body: bytes) -> tuple[int, str]:
        request = RequestFactory().post("/hooks/verbatim", body, content_type="application/json", headers=headers)
        answer = module.receive(request)
        return answer.status_code, answer.content.decode()

    return send


@pytest.mark.parametrize("open_app", [fastapi_app, flask_app, django_app])
def test_the_receiver_of_the_example_accepts_what_is_genuine_and_handles_it_once(
    open_app: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    framework = open_app.__name__.removesuffix("_app")
    pytest.importorskip(framework)
    monkeypatch.setenv("VERBATIM_WEBHOOK_SECRET", SECRET)
    monkeypatch.syspath_prepend(Path(__file__).parents[1] / "examples")
    sys.modules.pop(f"{framework}_receiver", None)
    send = open_app(importlib.import_module(f"{framework}_receiver"))

    statuses = [send(HEADERS, BODY)[0] for _ in range(2)]
    forged = send(HEADERS, BODY + b" ")
    without = send({}, BODY)

    assert statuses == [204, 204]
    assert capsys.readouterr().out == "hello quiet world\n"
    assert forged == (401, "The signature does not belong to this body and secret.")
    assert without == (400, "The header X-Service-Timestamp is missing.")
