"""Webhooks, and the log of their deliveries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._core.request import delete, get, patch, post
from .pages import AsyncPages

if TYPE_CHECKING:
    from collections.abc import Sequence

    from typing_extensions import Unpack

    from .._core.settings import RequestOptions
    from ..types import (
        Alerts,
        Delivery,
        DeliveryWithExchange,
        EventType,
        GetDeliveriesQuery,
        GetWebhooksIdDeliveriesQuery,
        GetWebhooksIdMetricsQuery,
        PatchAlertsBody,
        PatchWebhooksIdBody,
        PostWebhooksBody,
        PostWebhooksIdDiagnoseBody,
        PostWebhooksIdRecoverBody,
        Recovered,
        Redelivered,
        RedeliveredMany,
        SignatureDiagnosis,
        TestSent,
        Webhook,
        WebhookMetrics,
        WebhookWithSecret,
    )
    from .transport import AsyncTransport


class AsyncWebhooks:
    """Webhooks of the account."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def create(
        self, *, options: RequestOptions | None = None, **webhook: Unpack[PostWebhooksBody]
    ) -> WebhookWithSecret:
        """A new webhook. Its `secret` is shown only in this answer: store it."""
        return await self._transport.json(post("/v1/webhooks", body=webhook), options)

    async def get(self, webhook_id: str, *, options: RequestOptions | None = None) -> Webhook:
        """The webhook, without its secret."""
        return await self._transport.json(get("/v1/webhooks/{}", webhook_id), options)

    def list(self, *, limit: int | None = None, options: RequestOptions | None = None) -> AsyncPages[Webhook]:
        """Webhooks, newest first."""
        return AsyncPages(self._transport, get("/v1/webhooks", limit=limit), options)

    async def update(
        self, webhook_id: str, *, options: RequestOptions | None = None, **changes: Unpack[PatchWebhooksIdBody]
    ) -> Webhook:
        """Changes the webhook; `active=True` enables one that was disabled."""
        return await self._transport.json(patch("/v1/webhooks/{}", webhook_id, body=changes), options)

    async def delete(self, webhook_id: str, *, options: RequestOptions | None = None) -> None:
        """Deletes the webhook; after a second nothing more is sent to it."""
        await self._transport.json(delete("/v1/webhooks/{}", webhook_id), options)

    async def alerts(self, *, options: RequestOptions | None = None) -> Alerts:
        """The webhook that is told of disabled webhooks and of deliveries that have used up their attempts."""
        return await self._transport.json(get("/v1/alerts"), options)

    async def set_alerts(self, *, url: str, options: RequestOptions | None = None) -> WebhookWithSecret:
        """Sets the URL of the webhook for alerts, with a new secret that only this answer shows."""
        return await self._transport.json(post("/v1/alerts", body={"url": url}), options)

    async def update_alerts(
        self, *, options: RequestOptions | None = None, **changes: Unpack[PatchAlertsBody]
    ) -> Webhook:
        """Changes the webhook for alerts; `active=True` enables one that was disabled."""
        return await self._transport.json(patch("/v1/alerts", body=changes), options)

    async def delete_alerts(self, *, options: RequestOptions | None = None) -> None:
        """Deletes the webhook for alerts; after a second nothing more is sent to it."""
        await self._transport.json(delete("/v1/alerts"), options)

    async def test(
        self, webhook_id: str, *, type: EventType | None = None, options: RequestOptions | None = None
    ) -> TestSent:
        """Sends an example of an event type to this webhook; `webhook.test` by default."""
        body = {} if type is None else {"type": type}
        return await self._transport.json(post("/v1/webhooks/{}/test", webhook_id, body=body), options)

    async def rotate_secret(
        self, webhook_id: str, *, overlap_seconds: int = 0, options: RequestOptions | None = None
    ) -> WebhookWithSecret:
        """A new secret. For `overlap_seconds`, at most a day, deliveries are signed with the old one too."""
        body = {"overlap_seconds": overlap_seconds}
        return await self._transport.json(post("/v1/webhooks/{}/rotate-secret", webhook_id, body=body), options)

    async def recover(
        self, webhook_id: str, *, options: RequestOptions | None = None, **span: Unpack[PostWebhooksIdRecoverBody]
    ) -> Recovered:
        """Sends every event of a time again that the webhook did not accept; with `dry_run=True` counts them."""
        return await self._transport.json(post("/v1/webhooks/{}/recover", webhook_id, body=span), options)

    def deliveries(
        self,
        webhook_id: str,
        /,
        *,
        options: RequestOptions | None = None,
        **filters: Unpack[GetWebhooksIdDeliveriesQuery],
    ) -> AsyncPages[Delivery]:
        """The delivery log of the webhook, newest first."""
        return AsyncPages(self._transport, get("/v1/webhooks/{}/deliveries", webhook_id, **filters), options)

    async def delivery(
        self, webhook_id: str, delivery_id: str, *, options: RequestOptions | None = None
    ) -> DeliveryWithExchange:
        """One attempt, with the request as it was sent and the answer."""
        return await self._transport.json(get("/v1/webhooks/{}/deliveries/{}", webhook_id, delivery_id), options)

    async def redeliver(
        self, webhook_id: str, delivery_id: str, *, options: RequestOptions | None = None
    ) -> Redelivered:
        """Sends the event of a delivery again."""
        return await self._transport.json(
            post("/v1/webhooks/{}/deliveries/{}/redeliver", webhook_id, delivery_id), options
        )

    async def redeliver_many(
        self, webhook_id: str, delivery_ids: Sequence[str], *, options: RequestOptions | None = None
    ) -> RedeliveredMany:
        """Sends the events of up to 100 deliveries again, each once."""
        body = {"delivery_ids": delivery_ids}
        return await self._transport.json(post("/v1/webhooks/{}/redeliver", webhook_id, body=body), options)

    async def metrics(
        self, webhook_id: str, *, options: RequestOptions | None = None, **span: Unpack[GetWebhooksIdMetricsQuery]
    ) -> WebhookMetrics:
        """Attempts by outcome and reason, and their durations, per minute, hour or day."""
        return await self._transport.json(get("/v1/webhooks/{}/metrics", webhook_id, **span), options)

    async def diagnose(
        self, webhook_id: str, *, options: RequestOptions | None = None, **received: Unpack[PostWebhooksIdDiagnoseBody]
    ) -> SignatureDiagnosis:
        """Why a delivery that you received does not verify, with what to do about it."""
        return await self._transport.json(post("/v1/webhooks/{}/diagnose", webhook_id, body=received), options)


class AsyncDeliveries:
    """The delivery log over all webhooks."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    def list(
        self, *, options: RequestOptions | None = None, **filters: Unpack[GetDeliveriesQuery]
    ) -> AsyncPages[Delivery]:
        """Attempts for all webhooks, newest first."""
        return AsyncPages(self._transport, get("/v1/deliveries", **filters), options)
