"""One call of each kind through the client that openapi-python-client made: prints what each answered, as JSON."""

import json
import sys
from io import BytesIO
from pathlib import Path

from verbatim_client import AuthenticatedClient
from verbatim_client.api.balance import get_balance
from verbatim_client.api.transcription import get_jobs, get_jobs_id, get_jobs_id_transcript, post_transcribe
from verbatim_client.api.webhooks import (
    delete_webhooks_id,
    get_webhooks,
    patch_webhooks_id,
    post_webhooks,
    post_webhooks_id_test,
)
from verbatim_client.models import (
    PatchWebhooksIdBody,
    PostTranscribeFilesBody,
    PostWebhooksBody,
    PostWebhooksBodyEventsItem,
)
from verbatim_client.types import File

url, key, audio, receiver = sys.argv[1:5]
client = AuthenticatedClient(base_url=url, token=key, timeout=30)

upload = PostTranscribeFilesBody(file=File(BytesIO(Path(audio).read_bytes()), "tone.wav", "audio/wav"))
uploaded = post_transcribe.sync(client=client, body=upload)
job = get_jobs_id.sync(uploaded.id, client=client)
jobs = get_jobs.sync(client=client, limit=1)
transcript = get_jobs_id_transcript.sync(job.id, client=client)
missing = get_jobs_id.sync("job_00000000000000000000000000", client=client)
wanted = PostWebhooksBody(url=receiver, events=[PostWebhooksBodyEventsItem.TRANSCRIPTION_COMPLETED])
created = post_webhooks.sync(client=client, body=wanted)
changed = patch_webhooks_id.sync(created.id, client=client, body=PatchWebhooksIdBody(description="changed"))
tested = post_webhooks_id_test.sync(created.id, client=client)
listed = get_webhooks.sync(client=client)
deleted = delete_webhooks_id.sync_detailed(created.id, client=client)

print(
    json.dumps(
        {
            "uploaded": uploaded.text,
            "read": job.text,
            "listed": [one.id for one in jobs.data] == [job.id],
            "transcript": transcript.text,
            "missing": missing.error.type_,
            "secret": created.secret.startswith("whsec_"),
            "changed": changed.description,
            "tested": tested is not None,
            "webhooks": len(listed.data),
            "deleted": deleted.status_code.value,
            "balance": get_balance.sync(client=client) is not None,
        }
    )
)
