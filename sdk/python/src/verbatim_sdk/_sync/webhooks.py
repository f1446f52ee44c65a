# Made from ../_async by `node scripts/docs.ts`; do not edit.
"""Webhooks, and the log of their deliveries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._core.request import delete, get, patch, post
from .pages import Pages

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
    from .transport import Transport


class Webhooks:
    """Webhooks of the account."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def create(
        self, *, options: RequestOptions | None = None, **webhook: Unpack[PostWebhooksBody]
    ) -> WebhookWithSecret:
        """A new webhook. Its `secret` is shown only in this answer: store it."""
        return self._transport.json(post("/v1/webhooks", body=webhook), options)

    def get(self, webhook_id: str, *, options: RequestOptions | None = None) -> Webhook:
        """The webhook, without its secret."""
        return self._transport.json(get("/v1/webhooks/{}", webhook_id), options)

    def list(self, *, limit: int | None = None, options: RequestOptions | None = None) -> Pages[Webhook]:
        """Webhooks, newest first."""
        return Pages(self._transport, get("/v1/webhooks", limit=limit), options)

    def update(
        self, webhook_id: str, *, options: RequestOptions | None = None, **changes: Unpack[PatchWebhooksIdBody]
    ) -> Webhook:
        """Changes the webhook; `active=True` enables one that was disabled."""
        return self._transport.json(patch("/v1/webhooks/{}", webhook_id, body=changes), options)

    def delete(self, webhook_id: str, *, options: RequestOptions | None = None) -> None:
        """Deletes the webhook; after a second nothing more is sent to it."""
        self._transport.json(delete("/v1/webhooks/{}", webhook_id), options)

    def alerts(self, *, options: RequestOptions | None = None) -> Alerts:
        """The webhook that is told of disabled webhooks and of deliveries that have used up their attempts."""
        return self._transport.json(get("/v1/alerts"), options)

    def set_alerts(self, *, url: str, options: RequestOptions | None = None) -> WebhookWithSecret:
        """Sets the URL of the webhook for alerts, with a new secret that only this answer shows."""
        return self._transport.json(post("/v1/alerts", body={"url": url}), options)

    def update_alerts(
        self, *, options: RequestOptions | None = None, **changes: Unpack[PatchAlertsBody]
    ) -> Webhook:
        """Changes the webhook for alerts; `active=True` enables one that was disabled."""
        return self._transport.json(patch("/v1/alerts", body=changes), options)

    def delete_alerts(self, *, options: RequestOptions | None = None) -> None:
        """Deletes the webhook for alerts; after a second nothing more is sent to it."""
        self._transport.json(delete("/v1/alerts"), options)

    def test(
        self, webhook_id: str, *, type: EventType | None = None, options: RequestOptions | None = None
    ) -> TestSent:
        """Sends an example of an event type to this webhook; `webhook.test` by default."""
        body = {} if type is None else {"type": type}
        return self._transport.json(post("/v1/webhooks/{}/test", webhook_id, body=body), options)

    def rotate_secret(
        self, webhook_id: str, *, overlap_seconds: int = 0, options: RequestOptions | None = None
    ) -> WebhookWithSecret:
        """A new secret. For `overlap_seconds`, at most a day, deliveries are signed with the old one too."""
        body = {"overlap_seconds": overlap_seconds}
        return self._transport.json(post("/v1/webhooks/{}/rotate-secret", webhook_id, body=body), options)

    def recover(
        self, webhook_id: str, *, options: RequestOptions | None = None, **span: Unpack[PostWebhooksIdRecoverBody]
    ) -> Recovered:
        """Sends every event of a time again that the webhook did not accept; with `dry_run=True` counts them."""
        return self._transport.json(post("/v1/webhooks/{}/recover", webhook_id, body=span), options)

    def deliveries(
        self,
        webhook_id: str,
        /,
        *,
        options: RequestOptions | None = None,
        **filters: Unpack[GetWebhooksIdDeliveriesQuery],
    ) -> Pages[Delivery]:
        """The delivery log of the webhook, newest first."""
        return Pages(self._transport, get("/v1/webhooks/{}/deliveries", webhook_id, **filters), options)

    def delivery(
        self, webhook_id: str, delivery_id: str, *, options: RequestOptions | None = None
    ) -> DeliveryWithExchange:
        """One attempt, with the request as it was sent and the answer."""
        return self._transport.json(get("/v1/webhooks/{}/deliveries/{}", webhook_id, delivery_id), options)

    def redeliver(
        self, webhook_id: str, delivery_id: str, *, options: RequestOptions | None = None
    ) -> Redelivered:
        """Sends the event of a delivery again."""
        return self._transport.json(
            post("/v1/webhooks/{}/deliveries/{}/redeliver", webhook_id, delivery_id), options
        )

    def redeliver_many(
        self, webhook_id: str, delivery_ids: Sequence[str], *, options: RequestOptions | None = None
    ) -> RedeliveredMany:
        """Sends the events of up to 100 deliveries again, each once."""
        body = {"delivery_ids": delivery_ids}
        return self._transport.json(post("/v1/webhooks/{}/redeliver", webhook_id, body=body), options)

    def metrics(
        self, webhook_id: str, *, options: RequestOptions | None = None, **span: Unpack[GetWebhooksIdMetricsQuery]
    ) -> WebhookMetrics:
        """Attempts by outcome and reason, and their durations, per minute, hour or day."""
        return self._transport.json(get("/v1/webhooks/{}/metrics", webhook_id, **span), options)

    def diagnose(
        self, webhook_id: str, *, options: RequestOptions | None = None, **received: Unpack[PostWebhooksIdDiagnoseBody]
    ) -> SignatureDiagnosis:
        """Why a delivery that you received does not verify, with what to do about it."""
        return self._transport.json(post("/v1/webhooks/{}/diagnose", webhook_id, body=received), options)


class Deliveries:
    """The delivery log over all webhooks."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(
        self, *, options: RequestOptions | None = None, **filters: Unpack[GetDeliveriesQuery]
    ) -> Pages[Delivery]:
        """Attempts for all webhooks, newest first."""
        return Pages(self._transport, get("/v1/deliveries", **filters), options)
