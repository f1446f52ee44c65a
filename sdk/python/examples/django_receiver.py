"""A receiver of webhooks with Django. In urls.py: `path("hooks/verbatim", receive)`."""

from __future__ import annotations

import os

from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from verbatim_sdk import WebhookVerificationError, verify_webhook

handled: set[str] = set()  # In production: a model with a unique event id.


@csrf_exempt  # The signature says who sends it.
@require_POST
def receive(request: HttpRequest) -> HttpResponse:
    """Answers 204 to what is genuine. Every other answer makes the service send the event again."""
    try:
        event = verify_webhook(request.headers, request.body, os.environ["VERBATIM_WEBHOOK_SECRET"])
    except WebhookVerificationError as error:
        return HttpResponse(str(error), status=error.status, content_type="text/plain")
    if event["id"] not in handled:
        if event["type"] == "transcription.completed":
            print(event["data"]["job"]["text"])
        elif event["type"] == "transcription.failed":
            print(event["data"]["job"]["error"])
        handled.add(event["id"])
    return HttpResponse(status=204)
