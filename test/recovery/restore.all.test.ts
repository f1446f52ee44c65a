import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { createBackup } from '../../src/db/backup/create-backup.ts';
import { restoreBackup } from '../../src/db/backup/restore-backup.ts';
import { migrate } from '../../src/db/schema/migrate.ts';
import { readMigrations } from '../../src/db/schema/migrations.ts';
import { ROOT } from '../../src/platform/installation.ts';
import { TONE_MODEL, toneWav } from '../fixtures/audio/test-audio.ts';
import { openEmptyDatabase } from '../fixtures/database/test-database.ts';
import { LiveClient } from '../fixtures/live-client.ts';
import { openService, type TestService, temporaryFolder } from '../fixtures/service.ts';
import { until } from '../fixtures/until.ts';
import { openReceiver, type Receiver, testAuthority } from '../fixtures/webhooks/receiver.ts';
import { readCatalogue } from '../upgrade/catalogue.ts';
import { loadVersion } from '../upgrade/load.ts';
import { LIVE_TEXTS, liveAudio } from '../upgrade/traffic.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers of many shapes
type Json = any;

const SECRETS_KEY = Buffer.alloc(32, 3).toString('base64');
const WORDS = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'];

test('a backup under load, restored into another kind of database, has all that was acknowledged, and repeats no event', async () => {
  await using receiver = await openReceiver();
  const original = await start(receiver, temporaryFolder(), { SECRETS_KEY });
  const { key } = await original.account();
  const events = ['transcription.completed'];
  await call(original, key, 'POST', '/v1/webhooks', { url: receiver.url, events });
  const live = await beginLive(original, key);
  const before = await submitAll(original, key, WORDS);
  const backup = path.join(temporaryFolder(), 'backup.tar.gz');

  // Jobs are accepted while the backup is written, and end after it.
  const [written, during] = await Promise.all([
    run(['backup', backup, '--with-key'], { DATA_DIR: original.dataDir, SECRETS_KEY }),
    submitAll(original, key, WORDS),
  ]);
  assert.equal(written.code, 0, written.stderr);
  await jobsEnd(original, key, [...before, ...during]);
  await receiver.waitFor(before.length + during.length);
  const firstIds = eventIds(receiver);
  await original.crash();

  const verified = await run(['backup', 'verify', backup], {});
  assert.deepEqual([verified.code, /is whole: .*, with the secrets key; \d+ rows/.test(verified.stdout)], [0, true]);
  await using database = await openEmptyDatabase();
  const dataDir = path.join(temporaryFolder(), 'restored');
  const restored = await run(['restore', backup], { DATA_DIR: dataDir, DATABASE_URL: database.url });
  assert.equal(restored.code, 0, restored.stderr);
  assert.equal(readFileSync(path.join(dataDir, 'secrets-key'), 'utf8').trim(), SECRETS_KEY);
  await using service = await start(receiver, dataDir, { DATABASE_URL: database.url });
  await goOn(service, live);
  await jobsEnd(service, key, before);
  // The same jobs are known: those that ended after the snapshot end again, under the ids that the receiver has.
  const jobs = (await call(service, key, 'GET', '/v1/jobs?limit=100')).data as Json[];
  await jobsEnd(
    service,
    key,
    jobs.map(({ id }) => id),
  );
  await until('the deliveries to end', async () => {
    const rows = await database.rows({ text: 'select id from deliveries where event_id > $1', values: [''] });
    return rows.length === 0;
  });
  // The live session ends for the first time.
  const known = new Set([...firstIds, ...eventIds(receiver, session(live))]);
  assert.deepEqual(
    eventIds(receiver).filter((id) => !known.has(id)),
    [],
  );
  await original[Symbol.asyncDispose]();
});

test('a backup is restored into an empty folder only, whole or not at all', async () => {
  await using database = await openEmptyDatabase();
  await migrate(database);
  const folder = temporaryFolder();
  const backup = path.join(folder, 'backup.tar.gz');
  const source = { DATABASE_URL: database.url, DATA_DIR: folder };
  assert.equal((await run(['backup', backup], source)).code, 0);

  const full = await run(['restore', backup], source);
  assert.deepEqual([full.code, /DATA_DIR .* is not empty/.test(full.stderr)], [1, true]);
  const taken = await run(['restore', backup], { ...source, DATA_DIR: path.join(folder, 'new') });
  assert.match(taken.stderr, /The database is not empty: it has the table \w+\. Name an empty one\./);
  assert.match((await run(['backup', backup], source)).stderr, /exists already/);

  const whole = readFileSync(backup);
  const damages: [string, Buffer, RegExp][] = [
    ['cut', whole.subarray(0, whole.length - 200), /damaged or incomplete/],
    ['other', Buffer.from('no backup'), /damaged or incomplete/],
  ];
  for (const [name, bytes, expected] of damages) {
    const file = path.join(folder, name);
    writeFileSync(file, bytes);
    const checked = await run(['backup', 'verify', file], {});
    assert.deepEqual([checked.code, expected.test(checked.stderr)], [1, true], checked.stderr);
    await using empty = await openEmptyDatabase();
    const refused = await run(['restore', file], {
      DATABASE_URL: empty.url,
      DATA_DIR: path.join(folder, `to-${name}`),
    });
    assert.equal(refused.code, 1);
    // What is no backup changes nothing; one that ends in the middle leaves marks, and nothing else.
    const marks =
      name === 'cut' ? ['column unfinished_restore loaded text f x -1', 'table unfinished_restore r d'] : [];
    assert.deepEqual(await readCatalogue(empty), marks);
    assert.equal(existsSync(path.join(folder, `to-${name}`)), name === 'cut');
  }
});

test('a backup of an earlier schema is brought up to this release', async () => {
  await using earlier = await openEmptyDatabase();
  await using target = await openEmptyDatabase();
  await using fresh = await openEmptyDatabase();
  await loadVersion(earlier, '143cffd1', '127.0.0.1:1');
  await migrate(earlier, readMigrations().slice(0, 1));
  const { PassThrough } = await import('node:stream');
  const file = new PassThrough();

  const [, restored] = await Promise.all([
    createBackup(file, { url: earlier.url, audioDir: null, secretsKey: null, onProgress: () => undefined }),
    restoreBackup(file, {
      openDatabase: async () => target.url,
      folder: null,
      audioDir: null,
      keyFile: null,
      onProgress: () => undefined,
    }),
  ]);

  await migrate(fresh);
  assert.equal(restored.migrations.length, readMigrations().length - 1);
  assert.deepEqual(await readCatalogue(target), await readCatalogue(fresh));
  for (const table of ['jobs', 'ledger', 'webhooks', 'attempts', 'live_chunks']) {
    const count = { text: `select count(*) as rows from ${table}` };
    assert.deepEqual(await target.rows(count), await earlier.rows(count), table);
  }
});

test('--keep leaves the newest backups of a folder', async () => {
  await using database = await openEmptyDatabase();
  await migrate(database);
  const folder = temporaryFolder();
  for (const day of ['01', '02', '03']) writeFileSync(path.join(folder, `verbatim-202001${day}T000000Z.tar.gz`), '');
  mkdirSync(path.join(folder, 'other'));

  const { code, stdout } = await run(['backup', folder, '--keep', '2'], {
    DATABASE_URL: database.url,
    DATA_DIR: folder,
  });

  assert.equal(code, 0);
  assert.deepEqual(readdirSync(folder).sort(), [
    'other',
    'verbatim-20200103T000000Z.tar.gz',
    path.basename(stdout.trim()),
  ]);
  assert.ok(existsSync(stdout.trim()));
});

/** A session whose first half is acknowledged, and not ended. */
async function beginLive(service: TestService, key: string): Promise<{ path: string; token: string }> {
  const created = await call(service, key, 'POST', '/v1/live');
  const client = new LiveClient(service.baseUrl, created);
  await client.connect();
  client.send(liveAudio(0));
  await until('the audio to be acknowledged', () => client.acknowledged >= liveAudio(0).length);
  return created;
}

async function goOn(service: TestService, session: { path: string; token: string }): Promise<void> {
  const client = new LiveClient(service.baseUrl, session);
  client.audio = Buffer.from(liveAudio(0));
  assert.equal((await client.connect()).offset, liveAudio(0).length);
  client.send(liveAudio(1));
  await client.finish();
  assert.equal(client.text, LIVE_TEXTS.join(' '));
}

function start(receiver: Receiver, dataDir: string, env: Record<string, string> = {}): Promise<TestService> {
  const caFile = path.join(dataDir, 'receiver-ca.pem');
  writeFileSync(caFile, testAuthority.cert);
  const engine = `sherpa-onnx:${TONE_MODEL}`;
  const settings: Record<string, string> = {
    ENGINE_LITE: engine,
    ENGINE_PRO: engine,
    RATE_LIMIT_DEFAULT: 'off',
    RATE_LIMIT_TRANSCRIBE: 'off',
    RATE_LIMIT_JOBS: 'off',
    WEBHOOK_ALLOWED_TARGETS: `127.0.0.1/32:${receiver.port}`,
    NODE_EXTRA_CA_CERTS: caFile,
    ...env,
  };
  return openService(settings, dataDir);
}

/** Runs a command as `bin/verbatim` does. */
async function run(args: string[], env: Record<string, string>) {
  const child = spawn(process.execPath, [path.join(ROOT, 'src/cli/main.ts'), ...args], {
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise<number>((resolve) => child.on('close', resolve));
  const [stdout, stderr] = await Promise.all(
    [child.stdout, child.stderr].map(async (stream) => (await stream.toArray()).join('')),
  );
  return { code: await ended, stdout: stdout!, stderr: stderr! };
}

async function submitAll(service: TestService, key: string, texts: string[]): Promise<string[]> {
  const ids: string[] = [];
  for (const text of texts) {
    const form = new FormData();
    form.append('async', 'true');
    form.append('file', new Blob([new Uint8Array(toneWav(text))]), 'tone.wav');
    ids.push((await call(service, key, 'POST', '/v1/transcribe', form)).id);
  }
  return ids;
}

async function jobsEnd(service: TestService, key: string, ids: string[]): Promise<void> {
  for (const id of ids)
    await until(`${id} to end`, async () => (await call(service, key, 'GET', `/v1/jobs/${id}`)).status === 'completed');
}

/** @param job  only of this job */
function eventIds(receiver: Receiver, job?: string): string[] {
  const events: Json[] = receiver.requests.map(({ body }) => JSON.parse(String(body)));
  return events.filter(({ data }) => !job || data.job.id === job).map(({ id }) => id);
}

function session({ path: route }: { path: string }): string {
  return route.split('/').at(-1)!;
}

async function call(service: TestService, key: string, method: string, route: string, body?: Json): Promise<Json> {
  const isForm = body instanceof FormData;
  const answer = await fetch(service.baseUrl + route, {
    method,
    headers: { 'x-api-key': key, ...(body && !isForm && { 'content-type': 'application/json' }) },
    ...(body && { body: isForm ? body : JSON.stringify(body) }),
  });
  if (!answer.ok) throw new Error(`${route} answered ${answer.status}: ${await answer.text()}`);
  return await answer.json();
}
