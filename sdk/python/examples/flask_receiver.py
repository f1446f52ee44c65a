"""A receiver of webhooks with Flask: `flask --app flask_receiver run`."""

from __future__ import annotations

import os

from flask import Flask, Response, request

from verbatim_sdk import WebhookVerificationError, verify_webhook

app = Flask(__name__)
app.config["MAX_CONTENT_LENGTH"] = 4 * 1024 * 1024
handled: set[str] = set()  # In production: a table of your database.


@app.post("/hooks/verbatim")
def receive() -> Response:
    """Answers 204 to what is genuine. Every other answer makes the service send the event again."""
    body = request.get_data()  # The bytes that are signed: not `request.json`.
    try:
        event = verify_webhook(request.headers, body, os.environ["VERBATIM_WEBHOOK_SECRET"])
    except WebhookVerificationError as error:
        return Response(str(error), status=error.status, mimetype="text/plain")
    if event["id"] not in handled:
        if event["type"] == "transcription.completed":
            print(event["data"]["job"]["text"])
        elif event["type"] == "transcription.failed":
            print(event["data"]["job"]["error"])
        handled.add(event["id"])
    return Response(status=204)
