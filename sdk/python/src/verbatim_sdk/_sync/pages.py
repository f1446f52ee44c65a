# Made from ../_async by `node scripts/docs.ts`; do not edit.
"""Lists that are read page by page."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from .._core.page import Page

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .._core.request import Request
    from .._core.settings import RequestOptions
    from .transport import Transport

Item = TypeVar("Item")


class Pages(Generic[Item]):
    """
    A list of the service, newest first. Iterating it gives all entries and asks for pages as they are needed:

        for job in client.jobs.list(status="failed"):
            ...
    """

    def __init__(self, transport: Transport, request: Request[Any], options: RequestOptions | None) -> None:
        self._transport = transport
        self._request = request
        self._options = options

    def page(self) -> Page[Item]:
        """The first page: `items`, and `next_cursor`, with which the list goes on."""
        return self._page(None)

    def pages(self) -> Iterator[Page[Item]]:
        """All pages."""
        page = self.page()
        yield page
        while page.next_cursor is not None:
            page = self._page(page.next_cursor)
            yield page

    def to_list(self, *, limit: int) -> list[Item]:
        """The first `limit` entries."""
        items: list[Item] = []
        if limit <= 0:
            return items
        for page in self.pages():
            items += page.items
            if len(items) >= limit:
                break
        return items[:limit]

    def __iter__(self) -> Iterator[Item]:
        for page in self.pages():
            for item in page.items:
                yield item

    def _page(self, cursor: str | None) -> Page[Item]:
        query = {**(self._request.query or {}), **({} if cursor is None else {"cursor": cursor})}
        answer = self._transport.json(replace(self._request, query=query), self._options)
        return Page(items=answer["data"], next_cursor=answer["next_cursor"])


class CsvPages(Pages[Item]):
    """A list that the service writes as CSV too."""

    def csv(self) -> Iterator[str]:
        """
        The whole list as CSV (RFC 4180) page by page, with one line of names:

            for text in client.ledger().csv():
                file.write(text)

        Open the file with `newline=""`.
        """
        query = {**(self._request.query or {}), "format": "csv"}
        is_first = True
        cursor: str | None = None
        while is_first or cursor is not None:
            page = query if cursor is None else {**query, "cursor": cursor}
            request = replace(self._request, query=page, accept="text/csv")
            with self._transport.stream(request, self._options) as response:
                text = response.text
                cursor = response.headers.get("X-Next-Cursor")
            yield text if is_first else text.partition("\r\n")[2]
            is_first = False
