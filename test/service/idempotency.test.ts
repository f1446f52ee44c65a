import assert from 'node:assert/strict';
import path from 'node:path';
import test, { after } from 'node:test';
import { audioFilesIn } from '../fixtures/audio/audio-files.ts';
import { toneWav } from '../fixtures/audio/test-audio.ts';
import { wavFile } from '../fixtures/audio/wav.ts';
import { openTestDatabase } from '../fixtures/database/test-database.ts';
import { descendantsOf } from '../fixtures/processes/process-list.ts';
import { folderWithAudioOf, openService, type TestService } from '../fixtures/service.ts';
import { until } from '../fixtures/until.ts';

// Two nodes that take requests, over one database; jobs stay queued, for nobody transcribes. A start takes seconds:
// all tests have the same two, and an account each.
const db = await openTestDatabase();
const env = {
  DATABASE_URL: db.url,
  ROLES: 'api',
  SECRETS_KEY: Buffer.alloc(32, 7).toString('base64'),
  RATE_LIMIT_TRANSCRIBE: 'off',
  MAX_UPLOADS_PER_ACCOUNT: '20',
};
const one = await openService(env);
const two = await openService({ ...env, SYNC_WAIT_SECONDS: '0' }, folderWithAudioOf(one.dataDir));
after(async () => {
  await Promise.all([one, two].map((node) => node[Symbol.asyncDispose]()));
  await db[Symbol.asyncDispose]();
});

/** An account of its own, and what it has. */
async function openAccount() {
  const { id, key } = await one.account();
  const filesBefore = new Set(filesOf(one));
  const rows = <Row extends object>(selection: string) =>
    db.rows<Row>({ text: `select ${selection} where account_id = $1`, values: [id] });
  return {
    key,
    send: (node: TestService, form: FormData, idempotencyKey = 'k') =>
      fetch(`${node.baseUrl}/v1/transcribe`, {
        method: 'POST',
        headers: { 'x-api-key': key, 'idempotency-key': idempotencyKey },
        body: form,
      }),
    jobs: () => rows<{ id: string }>('id from jobs'),
    keys: <Row extends object>(columns: string) => rows<Row>(`${columns} from idempotency_keys`),
    /** Both nodes have one audio storage. */
    newFiles: () => filesOf(one).filter((file) => !filesBefore.has(file)),
    endLeases: () =>
      db.run({
        text: 'update idempotency_keys set lease_ends_at = clock_timestamp() where account_id = $1',
        values: [id],
      }),
  };
}

function upload(audio: Uint8Array, fields: Record<string, string> = { async: 'true' }, isFileFirst = false): FormData {
  const form = new FormData();
  const addFile = () => form.append('file', new Blob([Uint8Array.from(audio)]), 'a.wav');
  if (isFileFirst) addFile();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  if (!isFileFirst) addFile();
  return form;
}

const filesOf = ({ dataDir }: TestService) => audioFilesIn(path.join(dataDir, 'audio'));

test('twenty uploads with one key at once, to two processes, make one job, and later ones get its answer', async () => {
  const account = await openAccount();
  const form = () => upload(toneWav('abc'));

  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, i) => account.send(i % 2 === 0 ? one : two, form())),
  );
  const first = answers.find(({ status, headers }) => status === 202 && !headers.has('idempotent-replayed'))!;
  const firstText = await first.text();
  const later = await account.send(two, upload(toneWav('abc'), { async: 'true' }, true));

  assert.deepEqual(
    answers.map(({ status }) => status).filter((status) => status !== 202 && status !== 409),
    [],
  );
  assert.equal((await account.jobs()).length, 1);
  assert.deepEqual([later.status, later.headers.get('idempotent-replayed')], [202, 'true']);
  assert.equal(later.headers.get('location'), first.headers.get('location'));
  assert.equal(await later.text(), firstText);
  assert.equal(account.newFiles().length, 1);
});

test('a large upload of the same size with one other byte is another request, and nothing of it stays', async () => {
  const account = await openAccount();
  const audio = wavFile(600);
  const other = Buffer.from(audio);
  other[other.length - 1] = (other.at(-1)! + 1) % 256;
  const first = await account.send(one, upload(audio));

  const conflict = await account.send(one, upload(other));
  const replay = await account.send(one, upload(audio));

  assert.deepEqual([first.status, conflict.status, replay.status], [202, 409, 202]);
  assert.equal(await replay.text(), await first.text());
  assert.equal(((await conflict.json()) as { error: { type: string } }).error.type, 'conflict');
  assert.equal((await account.jobs()).length, 1);
  assert.equal(account.newFiles().length, 1);
});

test('an upload that broke off leaves its key free', async () => {
  const account = await openAccount();
  const broken = new AbortController();
  const half = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(Buffer.from('--xx\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nhalf'));
    },
  });
  const headers = {
    'x-api-key': account.key,
    'idempotency-key': 'k',
    'content-type': 'multipart/form-data; boundary=xx',
  };
  const options = { method: 'POST', headers, body: half, duplex: 'half', signal: broken.signal } as RequestInit;
  const lost = fetch(`${one.baseUrl}/v1/transcribe`, options).catch((error: unknown) => error);
  const keys = () => account.keys('1');
  await until('the key to be taken', async () => (await keys()).length === 1);

  broken.abort();
  await lost;
  await until('the key to be free', async () => (await keys()).length === 0);
  const answer = await account.send(one, upload(toneWav('abc')));

  assert.equal(answer.status, 202);
});

test('a repeated upload whose job was erased makes no second job, and nothing of the answer is kept', async () => {
  const account = await openAccount();
  const first = await account.send(one, upload(toneWav('abc')));
  const { id } = (await first.json()) as { id: string };
  const headers = { 'x-api-key': account.key };
  const erased = await fetch(`${one.baseUrl}/v1/jobs/${id}`, { method: 'DELETE', headers });

  const again = await account.send(two, upload(toneWav('abc')));
  const other = await account.send(two, upload(toneWav('abd')));

  assert.deepEqual([first.status, erased.status, again.status, other.status], [202, 204, 409, 409]);
  const body = (await again.json()) as { job_id: string; error: { type: string } };
  assert.deepEqual([body.job_id, body.error.type], [id, 'conflict']);
  assert.deepEqual(await account.jobs(), []);
  assert.deepEqual(await account.keys('body, content_type, location'), [
    { body: null, content_type: null, location: null },
  ]);
});

test('a caller who hung up comes back for the job that went on, with the same key', async () => {
  const account = await openAccount();
  const hangUp = new AbortController();
  const headers = { 'x-api-key': account.key, 'idempotency-key': 'k' };
  const options = { method: 'POST', headers, body: upload(toneWav('abc'), {}), signal: hangUp.signal };
  const lost = fetch(`${one.baseUrl}/v1/transcribe`, options).catch((error: unknown) => error);
  await until('the job', async () => (await account.jobs()).length === 1);

  hangUp.abort();
  await lost;
  const answer = await until('the key to be free', async () => {
    const retry = await account.send(two, upload(toneWav('abc'), {}));
    return retry.status === 409 ? null : retry;
  });

  assert.deepEqual([answer.status, answer.headers.get('idempotent-replayed')], [202, null]);
  assert.deepEqual([{ id: ((await answer.json()) as { id: string }).id }], await account.jobs());
});

test('a long synchronous answer is written again from its job, and keeps no second transcript', async () => {
  const account = await openAccount();
  const audio = toneWav('abc');
  const send = (node: TestService) => account.send(node, upload(audio, { metadata: '{"a":1}' }));
  const first = send(one);
  const [job] = await until('the job', async () => {
    const rows = await account.jobs();
    return rows.length > 0 ? rows : null;
  });
  await endJob(job!.id, 'word '.repeat(20_000));

  const answer = await first;
  const text = await answer.text();
  const replay = await send(two);
  const [row] = await account.keys<{ size: number }>('coalesce(length(body), 0) as size');
  const otherBody = await account.send(two, upload(audio, { metadata: '{"a":2}' }));

  assert.deepEqual([answer.status, text.length > 100_000], [200, true]);
  assert.deepEqual([replay.status, replay.headers.get('idempotent-replayed')], [200, 'true']);
  assert.equal(await replay.text(), text);
  assert.deepEqual([row!.size, otherBody.status], [0, 409]);
  assert.equal((await account.jobs()).length, 1);
});

// The last: the first node is without its process afterwards.
test('a process that is killed between the job and its answer: the retry is answered with that job', async () => {
  const account = await openAccount();
  const form = () => upload(toneWav('abc'), { metadata: '1' });
  const lost = account.send(one, form()).catch((error: unknown) => error);
  const [job] = await until('the job', async () => {
    const rows = await account.jobs();
    return rows.length > 0 ? rows : null;
  });
  const [http] = descendantsOf(one.pid).filter(({ arguments: words }) => words.includes('http'));

  process.kill(http!.pid, 'SIGKILL');
  await lost;
  const tooEarly = await account.send(two, form());
  await account.endLeases();
  const otherBody = await account.send(two, upload(toneWav('abc'), { metadata: '2' }));
  const retry = await account.send(two, form());
  const again = await account.send(two, form());

  assert.ok((await lost) instanceof Error);
  assert.deepEqual([tooEarly.status, otherBody.status], [409, 409]);
  assert.equal(retry.status, 202);
  assert.equal(((await retry.json()) as { id: string }).id, job!.id);
  assert.equal(again.headers.get('idempotent-replayed'), 'true');
  assert.deepEqual(await account.jobs(), [job]);
  // Without a bucket the audio of the first node is out of reach: the job has what came to this one.
  assert.equal(account.newFiles().length, 1);
});

/** Completes a job as its transcriber would, with this text. */
async function endJob(id: string, text: string): Promise<void> {
  await db.run({
    text: `
      update jobs
      set state = 'completed', transcript = $2, segments = '[]', cost_units = 0, next_at = null,
        started_at = clock_timestamp(), completed_at = clock_timestamp()
      where id = $1`,
    values: [id, text],
  });
  await db.run({ text: `select pg_notify('job_ended', $1)`, values: [id] });
}
