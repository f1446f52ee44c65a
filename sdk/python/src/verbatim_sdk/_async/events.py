"""Events, and the stream of the account."""

from __future__ import annotations

import logging
from contextlib import aclosing
from typing import TYPE_CHECKING

from .._core.following import streamed_event
from .._core.request import get, post
from .following import follow_account
from .pages import AsyncPages

if TYPE_CHECKING:
    import builtins
    from collections.abc import AsyncGenerator, Sequence

    from typing_extensions import Unpack

    from .._core.following import StreamedEvent
    from .._core.settings import RequestOptions
    from ..types import (
        Event,
        EventType,
        EventTypeList,
        EventTypeListDataItem,
        EventWithDeliveries,
        GetEventsQuery,
        Redelivered,
    )
    from .transport import AsyncTransport

_log = logging.getLogger("verbatim_sdk")


class AsyncEvents:
    """What was emitted to webhooks."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    def list(self, *, options: RequestOptions | None = None, **filters: Unpack[GetEventsQuery]) -> AsyncPages[Event]:
        """Events, newest first, without their payloads."""
        return AsyncPages(self._transport, get("/v1/events", **filters), options)

    async def get(self, event_id: str, *, options: RequestOptions | None = None) -> EventWithDeliveries:
        """The event with its payload, and every attempt for every webhook."""
        return await self._transport.json(get("/v1/events/{}", event_id), options)

    async def resend(self, event_id: str, *, webhook_id: str, options: RequestOptions | None = None) -> Redelivered:
        """Sends the event to a webhook, also to one that it was never sent to."""
        return await self._transport.json(
            post("/v1/events/{}/resend", event_id, body={"webhook_id": webhook_id}), options
        )

    async def types(self, *, options: RequestOptions | None = None) -> builtins.list[EventTypeListDataItem]:
        """Every type of event with its JSON Schema and an example."""
        answer: EventTypeList = await self._transport.json(get("/v1/event-types"), options)
        return answer["data"]

    async def follow(
        self,
        *,
        after: str = "now",
        types: Sequence[EventType] | None = None,
        options: RequestOptions | None = None,
    ) -> AsyncGenerator[StreamedEvent, None]:
        """
        Events as they are emitted, for programs that cannot receive webhooks:

            async for received in client.events.follow(after=place):
                handle(received.event)
                save(received.resume_id)

        - `after`: where to begin: the `resume_id` of the last event that you have handled, the id of an event, a time,
          or `now`
        - `types`: absent: all

        An event comes at least once, also over cuts of the connection, which is opened again. Events that are no longer
        kept are reported as a warning to the logger `verbatim_sdk`. Close the iterator when you stop:
        `contextlib.aclosing(client.events.follow())`.
        """
        query = {"topics": ["events"], "types": types}
        async with aclosing(follow_account(self._transport, query, after, options)) as frames:
            async for frame in frames:
                event = streamed_event(frame)
                if event is not None:
                    yield event
                elif frame.type == "gap":
                    _log.warning("Events since %s are no longer kept; later ones follow", frame.data["from"])
