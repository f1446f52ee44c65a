import assert from 'node:assert/strict';
import { readdirSync, readFileSync, rmSync, truncateSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { ID_NAME } from '../../src/audio/storage/storage.ts';
import { toneWav } from '../fixtures/audio/test-audio.ts';
import { openTestDatabase, type TestDatabase } from '../fixtures/database/test-database.ts';
import { descendantsOf } from '../fixtures/processes/process-list.ts';
import { openS3Server } from '../fixtures/servers/s3-server.ts';
import { openSpeechServer } from '../fixtures/servers/speech-server.ts';
import { openService, type TestService, temporaryFolder } from '../fixtures/service.ts';
import { until } from '../fixtures/until.ts';

type StoredJob = { id: string; audioKey: string };

const HELD_SYNCS = new URL('../fixtures/processes/held-syncs.ts', import.meta.url).href;
const AUDIO = toneWav('abc');

/** A storage in which audio can be lost. */
async function openStore(kind: 'files' | 'S3', dataDir: string) {
  const s3 = await openS3Server();
  const folder = path.join(dataDir, 'audio');
  const env = kind === 'S3' ? { ...s3.env, STORAGE_URL: `s3://${s3.bucket}` } : {};
  return {
    env: env as Record<string, string>,
    /** Leaves of the audio what a power failure before its sync may leave; the bucket lost all of it. */
    lose: (key: string) => (kind === 'S3' ? rmSync(s3.fileOf(key)) : truncateSync(path.join(folder, key), 1000)),
    keys: async () =>
      (kind === 'S3' ? await s3.contents() : readdirSync(folder)).filter((name) => path.basename(name) !== ID_NAME),
    read: (key: string) => readFileSync(kind === 'S3' ? s3.fileOf(key) : path.join(folder, key)),
    [Symbol.asyncDispose]: () => s3[Symbol.asyncDispose](),
  };
}

async function send(service: TestService, key: string): Promise<Response> {
  const body = new FormData();
  body.append('file', new Blob([Uint8Array.from(AUDIO)]), 'a.wav');
  const headers = { 'x-api-key': key, 'idempotency-key': 'k' };
  return await fetch(`${service.baseUrl}/v1/transcribe`, { method: 'POST', headers, body });
}

const findJobs = (db: TestDatabase) =>
  db.rows<StoredJob>({ text: 'select id, audio_key as "audioKey" from jobs order by id' });

async function killAll({ pid, ended }: TestService): Promise<void> {
  for (const each of [pid, ...descendantsOf(pid).map((child) => child.pid)]) process.kill(each, 'SIGKILL');
  await ended;
}

for (const kind of ['files', 'S3'] as const) {
  test(`${kind}: a queued job whose audio was lost before its sync gets it from the repeated request`, async () => {
    await using db = await openTestDatabase();
    await using engine = await openSpeechServer({ body: JSON.stringify({ text: 'heard', segments: [] }) });
    const dataDir = temporaryFolder();
    await using store = await openStore(kind, dataDir);
    const env = { ...store.env, DATABASE_URL: db.url, ENGINE_PRO: `openai:${engine.baseUrl}`, SYNC_WAIT_SECONDS: '0' };
    const unsynced = { NODE_OPTIONS: `--import=${HELD_SYNCS}`, SYNC_WAIT_SECONDS: '60' };
    const first = await openService({ ...env, ...unsynced, ROLES: 'api' }, dataDir);
    const { key } = await first.account();
    const unanswered = send(first, key).catch((error: unknown) => error);
    const [job] = await until('the job', async () => {
      const jobs = await findJobs(db);
      return jobs.length > 0 ? jobs : null;
    });
    await killAll(first);
    store.lose(job!.audioKey);
    await db.run({ text: 'update idempotency_keys set lease_ends_at = clock_timestamp()' });

    const second = await openService({ ...env, ROLES: 'api' }, dataDir);
    const repeated = await send(second, key);
    const [found, ...others] = await findJobs(db);
    const keys = await store.keys();
    await second.stop();
    await using third = await openService({ ...env, ROLES: 'api,transcriber' }, dataDir);
    const ended = await until('the end of the job', async () => {
      const answer = await fetch(`${third.baseUrl}/v1/jobs/${job!.id}`, { headers: { 'x-api-key': key } });
      const { status, text } = (await answer.json()) as { status: string; text: string | null };
      return status === 'completed' || status === 'failed' ? { status, text } : null;
    });

    assert.ok((await unanswered) instanceof Error);
    assert.deepEqual([repeated.status, ((await repeated.json()) as { id: string }).id], [202, job!.id]);
    assert.deepEqual([found!.id, others], [job!.id, []]);
    assert.deepEqual(keys, [found!.audioKey]);
    assert.deepEqual(ended, { status: 'completed', text: 'heard' });
  });
}
