"""What differs between the asynchronous and the synchronous client beyond `async` and `await`; not generated."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
T = TypeVar("T")


def sleep(seconds: float) -> None:
    """Waits."""
    time.sleep(seconds)


def run_blocking(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Calls a function that reads from disk."""
    return function(*args, **kwargs)
