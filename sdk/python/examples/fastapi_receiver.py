"""A receiver of webhooks with FastAPI: `uvicorn fastapi_receiver:app`."""

from __future__ import annotations

import os

from fastapi import FastAPI, Request, Response

from verbatim_sdk import WebhookVerificationError, verify_webhook

app = FastAPI()
handled: set[str] = set()  # In production: a table of your database.


@app.post("/hooks/verbatim")
async def receive(request: Request) -> Response:
    """Answers 204 to what is genuine. Every other answer makes the service send the event again."""
    body = await request.body()  # The bytes that are signed: not `await request.json()`.
    try:
        event = verify_webhook(request.headers, body, os.environ["VERBATIM_WEBHOOK_SECRET"])
    except WebhookVerificationError as error:
        return Response(str(error), status_code=error.status)
    if event["id"] not in handled:
        if event["type"] == "transcription.completed":
            print(event["data"]["job"]["text"])
        elif event["type"] == "transcription.failed":
            print(event["data"]["job"]["error"])
        handled.add(event["id"])
    return Response(status_code=204)
