from __future__ import annotations

import asyncio
import inspect
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest

import verbatim_sdk
from verbatim_sdk import AsyncVerbatim, Verbatim

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SOURCE = Path(verbatim_sdk.__file__).parent.parent
KEY = "vb_test"
BASE_URL = "https://speech.example.com"


class Caller:
    """A client of either kind, whose methods are called in the same way. Tests of both are written once."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self._loop = asyncio.new_event_loop()

    def call(self, method: Callable[[Any], Any]) -> Any:
        """The result of a call of the client."""
        result = method(self.client)
        return self._loop.run_until_complete(_result(result)) if inspect.isawaitable(result) else result

    def take(
        self, method: Callable[[Any], Any], limit: int = 1000, until: Callable[[Any], bool] = lambda _item: False
    ) -> list[Any]:
        """The first items of an iterator, up to the one that `until` accepts."""
        iterator = method(self.client)
        if hasattr(iterator, "__aiter__"):
            return self._loop.run_until_complete(_take(iterator, limit, until))
        items: list[Any] = []
        for item in iterator:
            items.append(item)
            if len(items) == limit or until(item):
                break
        if hasattr(iterator, "close"):
            iterator.close()
        return items

    def close(self) -> None:
        """Closes the client."""
        self.call(lambda client: client.close() if isinstance(client, Verbatim) else client.aclose())
        self._loop.close()


class Either(Caller):
    """One of the clients, whose answers a function makes."""

    def __init__(self, kind: str, answer: Callable[[httpx.Request], httpx.Response], **settings: Any) -> None:
        self.requests: list[httpx.Request] = []
        self.bodies: list[bytes] = []

        def handle(request: httpx.Request) -> httpx.Response:
            self.requests.append(request)
            self.bodies.append(request.content)
            return answer(request)

        async def handle_async(request: httpx.Request) -> httpx.Response:
            await request.aread()
            return handle(request)

        def handle_sync(request: httpx.Request) -> httpx.Response:
            request.read()
            return handle(request)

        given: dict[str, Any] = {"api_key": KEY, "base_url": BASE_URL, **settings}
        super().__init__(
            Verbatim(http_client=httpx.Client(transport=httpx.MockTransport(handle_sync)), **given)
            if kind == "sync"
            else AsyncVerbatim(http_client=httpx.AsyncClient(transport=httpx.MockTransport(handle_async)), **given)
        )


async def _result(awaitable: Any) -> Any:
    return await awaitable


async def _take(iterator: Any, limit: int, until: Callable[[Any], bool]) -> list[Any]:
    items: list[Any] = []
    async for item in iterator:
        items.append(item)
        if len(items) == limit or until(item):
            break
    if hasattr(iterator, "aclose"):
        await iterator.aclose()
    return items


@pytest.fixture(params=["sync", "async"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def either(kind: str) -> Iterator[Callable[..., Either]]:
    """Makes a client: `either(answer, max_retries=0)`."""
    made: list[Either] = []

    def make(answer: Callable[[httpx.Request], httpx.Response], **settings: Any) -> Either:
        made.append(Either(kind, answer, **settings))
        return made[-1]

    yield make
    for one in made:
        one.close()


@pytest.fixture
def delays(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Collects what the clients wait for, which they do not do then."""
    waited: list[float] = []

    async def sleep_async(seconds: float) -> None:
        waited.append(seconds)

    for module in ("transport", "following"):
        monkeypatch.setattr(f"verbatim_sdk._sync.{module}.sleep", waited.append)
        monkeypatch.setattr(f"verbatim_sdk._async.{module}.sleep", sleep_async)
    return waited


@pytest.fixture
def service(kind: str) -> Iterator[Caller]:
    """A client of a running service; the tests that need one are skipped without VERBATIM_URL."""
    if "VERBATIM_URL" not in os.environ:
        pytest.skip("VERBATIM_URL names no running service")
    caller = Caller(Verbatim() if kind == "sync" else AsyncVerbatim())
    yield caller
    caller.close()


def run_python(code: str, *arguments: str) -> str:
    """What a program prints that imports the package in a process of its own."""
    paths = [str(SOURCE), os.environ.get("PYTHONPATH", "")]
    run = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout


def answers(*steps: httpx.Response | Exception) -> Callable[[httpx.Request], httpx.Response]:
    """Answers with each of the steps in turn, and with the last one from then on."""
    left = list(steps)

    def answer(_request: httpx.Request) -> httpx.Response:
        step = left.pop(0) if len(left) > 1 else left[0]
        if isinstance(step, Exception):
            raise step
        return httpx.Response(step.status_code, headers=step.headers, content=step.content)

    return answer


def error(status: int, type: str, headers: dict[str, str] | None = None, **more: Any) -> httpx.Response:
    """An error as the service answers it."""
    body = {"error": {"message": "Do something else.", "code": status, "type": type, **more}, "request_id": "req_1"}
    return httpx.Response(status, json=body, headers=headers or {})
