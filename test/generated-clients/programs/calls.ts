// One call of each kind through the types that openapi-typescript made: prints what each answered, as JSON.
import { readFileSync } from 'node:fs';
import createClient from 'openapi-fetch';
import type { paths } from '#api';

const [url, key, audio, receiver] = process.argv.slice(2) as [string, string, string, string];
const client = createClient<paths>({ baseUrl: url, headers: { 'X-API-Key': key } });

const uploaded = await client.POST('/v1/transcribe', {
  body: { file: '' },
  bodySerializer() {
    const form = new FormData();
    form.append('file', new Blob([readFileSync(audio)]), 'tone.wav');
    return form;
  },
});
// Some answers are a file where the request asks for one.
const asJson = <T>(data: T): Exclude<T, string | undefined> => {
  if (typeof data === 'string' || data === undefined) throw new Error(`not JSON: ${data}`);
  return data as Exclude<T, string | undefined>;
};
const { id, text } = asJson(uploaded.data);
const job = await client.GET('/v1/jobs/{id}', { params: { path: { id } } });
const jobs = await client.GET('/v1/jobs', { params: { query: { limit: 1 } } });
const transcript = await client.GET('/v1/jobs/{id}/transcript', { params: { path: { id } } });
const missing = await client.GET('/v1/jobs/{id}', { params: { path: { id: 'job_00000000000000000000000000' } } });
const created = await client.POST('/v1/webhooks', { body: { url: receiver, events: ['transcription.completed'] } });
const path = { id: created.data!.id };
const changed = await client.PATCH('/v1/webhooks/{id}', { params: { path }, body: { description: 'changed' } });
const tested = await client.POST('/v1/webhooks/{id}/test', { params: { path } });
const listed = await client.GET('/v1/webhooks');
const deleted = await client.DELETE('/v1/webhooks/{id}', { params: { path } });
const balance = await client.GET('/v1/balance');

process.stdout.write(
  JSON.stringify({
    uploaded: text satisfies string | null,
    read: job.data?.text,
    listed:
      asJson(jobs.data)
        .data.map((one) => one.id)
        .join() === id,
    transcript: asJson(transcript.data).text,
    missing: missing.error?.error.type,
    secret: created.data!.secret.startsWith('whsec_'),
    changed: changed.data?.description,
    tested: tested.data !== undefined,
    webhooks: listed.data?.data.length,
    deleted: deleted.response.status,
    balance: balance.data !== undefined,
  }),
);
