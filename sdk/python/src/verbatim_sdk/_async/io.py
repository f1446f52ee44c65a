"""What differs between the asynchronous and the synchronous client beyond `async` and `await`; not generated."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
T = TypeVar("T")


async def sleep(seconds: float) -> None:
    """Waits."""
    await asyncio.sleep(seconds)


async def run_blocking(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Calls a function that reads from disk, in a thread, so that the event loop goes on."""
    return await asyncio.to_thread(function, *args, **kwargs)
