import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { apiDocument } from '../../scripts/api-document.ts';
import type { RequestReport, StreamedEvent, StreamFrame, TranscribeProgress } from '../../sdk/src/index.ts';
import * as sdk from '../../sdk/src/index.ts';
import { channelsWav, TONE_MODEL, toneWav } from '../fixtures/audio/test-audio.ts';
import { toneSpeech } from '../fixtures/audio/tone/speech.ts';
import { openAudioServer, serveFile } from '../fixtures/servers/audio-server.ts';
import { openService, temporaryFolder } from '../fixtures/service.ts';
import { until } from '../fixtures/until.ts';
import { openReceiver, testAuthority } from '../fixtures/webhooks/receiver.ts';

const { JobFailedError, NotFoundError, Verbatim, VerbatimAdmin, verifyDelivery } = sdk;

const METADATA = '{ "order": 12345678901234567890 }';
const TEXT = 'hello quiet world';
/** Endpoints without a method of their own: for other clients, for links, and for the operator's own tools. */
const LEFT_OUT = [
  ...['POST /v1/audio/transcriptions', 'POST /v1/audio/translations', 'GET /v1/audio-links/{link}'],
  'GET /v1/shared/{token}',
  ...['GET /metrics', 'GET /healthz', 'GET /readyz'],
  // Of browsers.
  ...['POST /v1/session', 'GET /v1/session', 'DELETE /v1/session'],
  ...['GET /v1/sign-in', 'POST /v1/sign-in', 'POST /v1/sign-in/oidc', 'POST /v1/setup'],
  ...['GET /v1/me', 'PATCH /v1/me', 'POST /v1/me/account', 'POST /v1/me/invitations'],
  ...['GET /v1/users', 'PATCH /v1/users/{id}', 'DELETE /v1/users/{id}'],
  ...['GET /v1/invitations', 'POST /v1/invitations', 'DELETE /v1/invitations/{id}'],
  ...['POST /v1/invitations/open', 'POST /v1/invitations/accept'],
  ...['GET /admin/v1/operators', 'DELETE /admin/v1/operators/{id}'],
  'POST /v1/realtime/client_secrets',
];

test('the client of the SDK, on a running service', async (t) => {
  await using receiver = await openReceiver();
  await using audio = await openAudioServer((request, response, index) => {
    if (request.path === '/a.wav') serveFile(toneWav(TEXT))(request, response, index);
    else response.writeHead(404).end();
  });
  const dataDir = temporaryFolder();
  const caFile = path.join(dataDir, 'receiver-ca.pem');
  const wavFile = path.join(dataDir, 'a call.wav');
  writeFileSync(caFile, testAuthority.cert);
  writeFileSync(wavFile, toneWav(TEXT));
  const settings = {
    ENGINE_LITE: `sherpa-onnx:${TONE_MODEL}`,
    ENGINE_PRO: `sherpa-onnx:${TONE_MODEL}`,
    WEBHOOK_ALLOWED_TARGETS: `127.0.0.1/32:${receiver.port}`,
    NODE_EXTRA_CA_CERTS: caFile,
    AUDIO_URL_ALLOWED_TARGETS: `127.0.0.1/32:${audio.port}`,
    AUDIO_RETENTION_HOURS: '24',
    RATE_LIMIT_DEFAULT: 'off',
    RATE_LIMIT_TRANSCRIBE: 'off',
    RATE_LIMIT_RESEND: 'off',
    RATE_LIMIT_BALANCE: 'off',
  };
  await using service = await openService(settings, dataDir);
  const reports: RequestReport[] = [];
  const options = { baseUrl: service.baseUrl, onRequest: (report: RequestReport) => void reports.push(report) };
  const admin = new VerbatimAdmin({ adminToken: service.adminToken, ...options });
  const account = await admin.accounts.create({ name: 'Acme', plan: 'pro', credits: 100 });
  const { key } = await admin.accounts.createKey(account.id, { name: 'first' });
  const client = new Verbatim({ apiKey: key, ...options });

  await t.test('a file becomes a transcript, with its progress and its metadata', async () => {
    const seen: TranscribeProgress[] = [];

    const job = await client.transcribe(
      { path: wavFile },
      { metadataText: METADATA, timestamps: 'word', onProgress: (progress) => seen.push(progress) },
    );

    assert.deepEqual([job.status, job.text, job.metadataText], ['completed', TEXT, METADATA]);
    assert.equal(job.audio.filename, 'a call.wav');
    assert.equal(job.segments.flatMap(({ words }) => words ?? []).length, 3);
    assert.deepEqual(seen[0]!.phase, 'upload');
    assert.equal(seen.at(-1)!.phase, 'work');
  });

  await t.test('a stream, bytes and a Blob do too', async () => {
    const bytes = new Uint8Array(toneWav(TEXT));
    const inputs = [bytes, new File([bytes], 'b.wav'), { stream: new Blob([bytes]).stream(), name: 'c.wav' }];

    const jobs = await Promise.all(inputs.map((input) => client.transcribe(input)));

    assert.deepEqual(
      jobs.map(({ text, audio }) => [text, audio.filename]),
      ['audio', 'b.wav', 'c.wav'].map((name) => [TEXT, name]),
    );
  });

  await t.test('live audio does too', async () => {
    const session = await client.live({ metadataText: METADATA });
    await session.write(toneSpeech(TEXT));

    const job = await session.finish();

    assert.deepEqual([job.text, job.metadataText], [TEXT, METADATA]);
  });

  await t.test('the service fetches audio itself; a job that fails is an error with the job', async () => {
    const fetched = await client.transcribe({ url: `${audio.origin}/a.wav`, headers: { Authorization: 'Bearer 1' } });

    assert.equal(fetched.text, TEXT);
    assert.equal(audio.requests[0]!.headers.authorization, 'Bearer 1');
    await assert.rejects(
      client.transcribe({ url: `${audio.origin}/missing.wav` }),
      (error) => error instanceof JobFailedError && error.job.error!.http_status === 404,
    );
  });

  await t.test('what a client does with jobs', async () => {
    const { jobs } = client;
    const [newest] = await jobs.list({ status: 'completed' }).toArray({ limit: 1 });
    const { id } = (await client.jobs.list({ metadata: { order: '12345678901234567890' } })).data[0]!;

    const updates = await Array.fromAsync(jobs.follow(id), ({ type }) => type);
    assert.ok(updates.includes('segment') && updates.at(-1) === 'status');
    assert.equal((await jobs.get(id)).text, TEXT);
    assert.equal((await jobs.transcript(id)).text, TEXT);
    assert.match(await jobs.transcript(id, 'srt', { max_line_length: 10 }), /-->/);
    const edited = await jobs.editTranscript(id, [{ index: 0, text: 'Good evening.' }]);
    await assert.rejects(jobs.nameSpeakers(id, { A: 'Anna' }), /speakers names a label/);
    await assert.rejects(jobs.mergeSpeakers(id, { B: 'A' }), /merged_speakers names a label/);
    assert.equal(edited.version, 'edited');
    assert.equal((await jobs.transcript(id, 'text', { version: 'original' })).trim(), TEXT);
    assert.ok((await (await jobs.audio(id)).arrayBuffer()).byteLength > 44);
    const part = await jobs.audio(id, { headers: { range: 'bytes=0-3' } });
    assert.deepEqual([part.status, await part.text()], [206, 'RIFF']);
    const link = await jobs.audioLink(id, { expires_in: 60 });
    assert.equal((await fetch(new URL(link.url, service.baseUrl))).status, 200);
    const shared = await jobs.share(id, { expires_in: 60 });
    const token = shared.url.split('/').at(-1);
    const open = async () => await fetch(`${service.baseUrl}/v1/shared/${token}`);
    assert.equal(((await (await open()).json()) as { text: string }).text, 'Good evening.');
    assert.deepEqual(
      (await jobs.shares(id)).map((share) => [share.id, share.opened_count]),
      [[shared.id, 1]],
    );
    await jobs.endShare(id, shared.id);
    assert.equal((await open()).status, 404);
    assert.ok((await jobs.peaks(id, { points: 10 })).max.length > 0);
    const [found] = await client.search({ q: 'evening' }).toArray({ limit: 5 });
    assert.equal(found!.job_id, id);
    const again = await jobs.wait((await jobs.retry(id, { plan: 'lite' })).id);
    assert.deepEqual([again.text, again.metadataText], [TEXT, METADATA]);
    const changed = await jobs.update(again.id, { metadata: { order: 43, nul: '\0' } });
    assert.equal(changed.metadataText, '{"order":43,"nul":"\\u0000"}');
    assert.equal((await jobs.update(again.id, { metadata: null })).metadata, null);
    const named = await jobs.update(again.id, { title: 'Second call', tags: ['sales'] });
    assert.deepEqual([named.title, named.tags], ['Second call', ['sales']]);
    assert.deepEqual(
      (await jobs.list({ tag: 'sales' })).data.map((job) => job.id),
      [again.id],
    );
    await jobs.delete(newest!.id);
    await assert.rejects(jobs.get(newest!.id), NotFoundError);
  });

  await t.test('a job is canceled', async () => {
    const long = new Uint8Array(channelsWav([new Int16Array(16_000 * 600)]));
    const job = await client.jobs.create(long);

    const canceled = await client.jobs.cancel(job.id).catch((error) => error);

    // It may have ended just before.
    if (canceled instanceof Error) assert.ok(canceled instanceof sdk.ConflictError);
    else assert.equal(canceled.status, 'canceled');
  });

  await t.test('webhooks, from creation to deletion, and a follower of the same events', async (step) => {
    const { webhooks, events, jobs } = client;
    const hook = await webhooks.create({ url: receiver.url, events: ['transcription.completed'] });
    const seen: StreamedEvent[] = [];
    const frames: StreamFrame[] = [];
    const end = new AbortController();
    const following = Promise.allSettled([
      (async () => {
        for await (const event of events.follow({ signal: end.signal })) seen.push(event);
      })(),
      (async () => {
        for await (const frame of client.stream({ signal: end.signal })) frames.push(frame);
      })(),
    ]);
    step.after(() => end.abort());
    await until('the stream', () => frames.some(({ type }) => type === 'hello'));

    const job = await jobs.create(new Uint8Array(toneWav(TEXT)), { metadataText: METADATA });
    await receiver.waitFor(1);
    const { headers, body } = receiver.requests[0]!;
    const event = verifyDelivery({ secret: hook.secret, headers, body });
    assert.deepEqual(await sdk.verifyDeliveryAsync({ secret: hook.secret, headers, body }), event);
    const streamed = await until('the event', () => seen.find(({ id }) => id === event.id));
    assert.equal(streamed.body, body.toString());
    await until('the frames', () => ['event', 'job', 'delivery'].every((type) => frames.some((f) => f.type === type)));

    assert.equal((await webhooks.get(hook.id)).url, receiver.url);
    assert.deepEqual((await webhooks.list()).data.length, 1);
    assert.equal((await webhooks.update(hook.id, { description: 'CRM' })).description, 'CRM');
    const test = await webhooks.test(hook.id, { type: 'transcription.failed' });
    assert.equal((await events.get(test.event_id)).type, 'transcription.failed');
    const log = await until('the log', async () => {
      const entries = await webhooks.deliveries(hook.id, { status: 'succeeded' }).toArray({ limit: 10 });
      return entries.length >= 2 ? entries : null;
    });
    const delivery = await webhooks.delivery(hook.id, log.find(({ event_id }) => event_id === event.id)!.id);
    assert.equal(delivery.request!.body, body.toString());
    const { verdict } = await webhooks.diagnose(hook.id, {
      headers: delivery.request!.headers as Record<string, string>,
      body: `${body} `,
    });
    assert.equal(verdict, 'body_whitespace');
    const again = await webhooks.redeliver(hook.id, delivery.id);
    assert.equal(again.event_id, event.id);
    assert.equal((await until('the resend', () => seen.find(({ resentTo }) => resentTo !== null))).id, event.id);
    assert.equal((await webhooks.redeliverMany(hook.id, [delivery.id])).events, 1);
    const since = new Date(Date.now() - 60_000).toISOString();
    // Those before the webhook was made.
    assert.ok((await webhooks.recover(hook.id, { since, dry_run: true })).events > 0);
    assert.ok((await webhooks.metrics(hook.id)).data.length > 0);
    const rotated = await webhooks.rotateSecret(hook.id, { overlap_seconds: 60 });
    assert.notEqual(rotated.secret, hook.secret);
    assert.ok((await events.list({ type: 'transcription.completed' })).data.length > 0);
    assert.ok((await events.types()).some(({ type }) => type === 'webhook.test'));
    assert.ok((await client.deliveries.list({ webhook_id: hook.id })).data.length > 0);
    assert.equal((await events.resend(event.id, hook.id)).event_id, event.id);
    await webhooks.delete(hook.id);
    assert.equal((await webhooks.alerts()).webhook, null);
    const alerts = await webhooks.setAlerts({ url: receiver.url });
    const { webhook: alerted } = await webhooks.alerts();
    assert.deepEqual([alerted!.id, alerted!.url, alerts.secret.slice(0, 6)], [alerts.id, receiver.url, 'whsec_']);
    assert.equal((await webhooks.updateAlerts({ active: false })).active, false);
    await webhooks.deleteAlerts();
    assert.equal((await webhooks.alerts()).webhook, null);
    assert.equal((await jobs.get(job.id)).status, 'completed');

    end.abort();
    const outcomes = (await following).map((outcome) => outcome.status === 'rejected' && outcome.reason);
    assert.ok(outcomes.every((reason) => reason instanceof sdk.AbortedError));
  });

  await t.test('the account, its money and its keys', async () => {
    const own = await client.account();
    assert.deepEqual([own.id, own.plan], [account.id, 'pro']);
    assert.ok((await client.balance()).amount! < 100);
    assert.ok((await client.usage({ group_by: 'plan' })).data.length > 0);
    assert.match(await client.usageCsv({ group_by: 'plan' }), /^start,end,plan,[\s\S]*\r\n.*Z,.*Z,pro,/);
    const table = (await Array.fromAsync(client.ledger({ limit: 2 }).csv())).join('');
    const all = await client.ledger().toArray({ limit: 100 });
    assert.deepEqual(
      table.split('\r\n').map((line) => line.split(',', 1)[0]),
      ['id', ...all.map(({ id }) => id), ''],
    );
    const kinds = await client.ledger({ limit: 3 }).toArray({ limit: 100 });
    assert.equal(kinds.at(-1)!.kind, 'credit');
    const made = await client.keys.create({ name: 'reader', scopes: ['jobs:read'] });
    const reader = client.with({ apiKey: async () => made.key });
    await assert.rejects(reader.balance(), (error) => {
      assert.ok(error instanceof sdk.MissingScopeError);
      return error.requiredScope === 'usage:read';
    });
    assert.equal((await client.keys.list().toArray({ limit: 100 })).length, 2);
    await client.keys.delete(made.id);
    await assert.rejects(reader.jobs.list().toArray({ limit: 1 }), sdk.UnauthenticatedError);
    const models = await client.models.list();
    assert.equal((await client.models.get(models[0]!.id)).id, models[0]!.id);
    const raw = await client.request('GET', '/v1/jobs', {
      query: { limit: 1, metadata: { order: '12345678901234567890' } },
    });
    assert.ok(raw.text.includes(METADATA));
  });

  await t.test('what an operator does', async () => {
    const { accounts } = admin;
    assert.equal((await accounts.get(account.id)).name, 'Acme');
    assert.equal((await accounts.update(account.id, { name: 'Acme Ltd' })).name, 'Acme Ltd');
    assert.equal((await accounts.addCredits(account.id, { amount: 5, note: 'gift' })).amount, 5);
    assert.equal((await accounts.ledger(account.id).toArray({ limit: 1 }))[0]!.note, 'gift');
    assert.equal((await accounts.list()).data.length, 1);
    const link = await accounts.portalLink(account.id, { scopes: ['webhooks:read'] });
    assert.match((await accounts.invite(account.id, { role: 'owner' })).url, /^\/#invitation=/);
    assert.notEqual((await accounts.suspend(account.id)).suspended_at, null);
    assert.equal((await accounts.resume(account.id)).suspended_at, null);
    assert.ok((await accounts.keys(account.id).toArray({ limit: 10 })).some(({ id }) => id === link.key_id));
    await admin.deleteKey(link.key_id);
    assert.ok((await admin.usage({ account_id: account.id })).data.length > 0);
    assert.match(await admin.usageCsv({ account_id: account.id }), /^start,end,/);
    assert.equal((await admin.overview()).accounts, 1);
    assert.equal((await admin.nodes()).length, 1);
    assert.ok((await admin.jobs({ account_id: account.id })).data.length > 0);
    assert.deepEqual((await admin.webhooks({ active: false })).data, []);
    const since = new Date(Date.now() - 60_000).toISOString();
    assert.equal((await admin.recoverWebhooks({ since, dry_run: true })).events, 0);
    const failed = { failed_since: since, error_type: 'engine_error', dry_run: true } as const;
    assert.equal((await admin.retryJobs(failed)).jobs, 0);
    assert.equal((await admin.retryJobs({ warning: 'untranscribed', dry_run: true })).jobs, 0);
    for (const unclear of [{}, { failed_since: since }, { ...failed, warning: 'untranscribed' } as const]) {
      await assert.rejects(admin.retryJobs(unclear), { status: 400 });
    }
    assert.equal((await admin.models()).engines.length, 2);
    await assert.rejects(admin.pullModel('no-such-model'), { status: 404 });
    await assert.rejects(admin.cancelPull('parakeet-110m'), { status: 404 });
    assert.ok((await admin.settings()).some(({ name }) => name === 'ENGINE_PRO'));
    assert.ok((await admin.audit({ account_id: account.id })).data.length > 0);
    assert.equal((await admin.rotateSecrets()).unreadable, 0);
    assert.equal((await admin.request('GET', '/admin/v1/readiness')).status, 200);
    assert.equal((await accounts.delete(account.id)).id, account.id);
  });

  await t.test('the client has called every endpoint', async () => {
    const { paths } = await apiDocument();
    const documented = Object.entries(paths).flatMap(([route, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${route}`),
    );
    const called = (endpoint: string) => {
      const [method, route] = endpoint.split(' ') as [string, string];
      const pattern = new RegExp(`^${route.replace(/\{\w+\}/g, '[^/]+')}$`);
      return reports.some((report) => report.method === method && pattern.test(report.path));
    };

    assert.deepEqual(documented.filter((endpoint) => !called(endpoint)).toSorted(), LEFT_OUT.toSorted());
  });
});
