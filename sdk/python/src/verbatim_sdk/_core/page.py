"""One page of a list."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

Item = TypeVar("Item")


@dataclass(frozen=True)
class Page(Generic[Item]):
    """Up to 100 entries of a list, newest first."""

    items: list[Item]
    #: Pass it on as `cursor` for the next page; None on the last one.
    next_cursor: str | None
