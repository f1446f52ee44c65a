import assert from 'node:assert/strict';
import type http from 'node:http';
import { Readable } from 'node:stream';
import test from 'node:test';
import { wavFile } from '../../../test/fixtures/audio/wav.ts';
import { openJobFixture } from '../../../test/fixtures/job.ts';
import { openManualClock } from '../../../test/fixtures/manual-clock.ts';
import {
  ASYNC_END,
  answerOf,
  FILE_HEAD,
  openUploadServer,
  watchContinue,
} from '../../../test/fixtures/servers/upload-server.ts';
import { until } from '../../../test/fixtures/until.ts';
import type { Statement } from '../../db/database.ts';
import type { ApiError } from '../../http/api-error.ts';
import { NO_IDEMPOTENCY_KEY } from '../../http/route.ts';
import { openUploadAdmission } from './upload-admission.ts';

const MEBIBYTE = 2 ** 20;
const SECOND_ON_LITE = 1 / 60;

function sendWav(request: http.ClientRequest, seconds = 1) {
  request.end(Buffer.concat([Buffer.from(FILE_HEAD), wavFile(seconds), Buffer.from(ASYNC_END)]));
  return answerOf(request);
}

for (const path of ['/v1/transcribe', '/v1/audio/transcriptions']) {
  for (const credits of [0, -1]) {
    test(`${path}: with ${credits} credits an upload is rejected before its body is requested`, async () => {
      await using server = await openUploadServer();
      const { key } = await server.account({ credits });
      const request = server.send(key, { expect: '100-continue' }, path);
      const isContinued = watchContinue(request);
      request.flushHeaders();

      const answer = await answerOf(request);

      assert.deepEqual([answer.status, answer.json.error.type], [402, 'insufficient_balance']);
      assert.equal(answer.json.error.code, 402);
      assert.equal(isContinued(), false);
      assert.deepEqual(await server.fixture.files(), []);
      request.destroy();
    });
  }
}

test('a client without credits that is sending 64 MiB receives the error, and nothing is stored', async () => {
  await using server = await openUploadServer();
  const { key } = await server.account({ credits: 0 });
  const request = server.send(key);
  request.write(FILE_HEAD);
  for (let i = 0; i < 64; i++) request.write(Buffer.alloc(MEBIBYTE));
  request.end(ASYNC_END);

  const answer = await answerOf(request);

  assert.equal(answer.status, 402);
  assert.deepEqual([answer.json.needed_credits, answer.json.available_credits], [0.000_001, 0]);
  assert.deepEqual(await server.fixture.files(), []);
});

test('the balance is read for an upload only when the key was looked up without credit', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account({ credits: 1 });
  let reads = 0;
  const rows = <Row>(statement: Statement) => {
    if (statement.name === 'read_amount') reads += 1;
    return fixture.db.rows<Row>(statement);
  };
  const uploads = openUploadAdmission({ ...fixture, db: { ...fixture.db, rows } });
  const upload = { open: () => Readable.from([]), contentType: '', contentLength: 1, rawQuery: null };
  const admit = async (hadCredit: boolean) => {
    using _upload = await uploads.admit({
      account: { ...account, hadCredit, isSuspended: false },
      idempotency: NO_IDEMPOTENCY_KEY,
      upload,
      signal: new AbortController().signal,
    });
    return reads;
  };

  assert.deepEqual([await admit(true), await admit(false)], [0, 1]);
});

test('the smallest balance, an unlimited account and a plan that costs nothing admit an upload', async () => {
  await using server = await openUploadServer({ CREDIT_RATE_LITE: '0' });
  const accounts = [{ credits: 0.000_001 }, { credits: null }, { credits: 0 }, { credits: 0, plan: 'lite' as const }];

  for (const wish of accounts) {
    const { key } = await server.account(wish);
    const request = server.send(key);
    const body = wavFile(1);
    const plan = '\r\n--xx\r\nContent-Disposition: form-data; name="plan"\r\n\r\nlite';
    request.end(Buffer.concat([Buffer.from(FILE_HEAD), body, Buffer.from(plan + ASYNC_END)]));
    assert.equal((await answerOf(request)).status, 202, JSON.stringify(wish));
  }
});

test('an account that spent its last credit gets saved answers, but no new job', async () => {
  await using server = await openUploadServer();
  const { key } = await server.account({ plan: 'lite', credits: SECOND_ON_LITE });
  const first = await sendWav(server.send(key, { 'idempotency-key': 'one' }));

  const repeated = await sendWav(server.send(key, { 'idempotency-key': 'one' }));
  const other = await sendWav(server.send(key, { 'idempotency-key': 'two' }));

  assert.deepEqual([first.status, repeated.status, other.status], [202, 202, 402]);
  assert.equal(repeated.json.id, first.json.id);
  assert.equal((await server.fixture.files()).length, 1);
});

test('a balance that is used up during an upload is detected before the file is probed', async () => {
  await using server = await openUploadServer();
  const { key } = await server.account({ plan: 'lite', credits: SECOND_ON_LITE });
  const late = server.send(key);
  late.write(FILE_HEAD);
  late.write(Buffer.alloc(MEBIBYTE));
  await until('the file to begin', async () => (await server.fixture.files()).length === 1);
  assert.equal((await sendWav(server.send(key))).status, 202);

  late.end(ASYNC_END);

  assert.equal((await answerOf(late)).status, 402);
  assert.equal((await server.fixture.files()).length, 1);
});

test('an upload beyond the limit of the account, and those that wait, is rejected with Retry-After; other accounts are not affected', async () => {
  await using server = await openUploadServer({ MAX_UPLOADS_PER_ACCOUNT: '2' });
  const { key } = await server.account();
  const other = await server.account();
  const underWay = [server.send(key), server.send(key, {}, '/v1/audio/transcriptions')];
  for (const request of underWay) request.write(FILE_HEAD + 'a'.repeat(MEBIBYTE));
  await until('both uploads to begin', async () => (await server.fixture.files()).length === 2);
  const three = Array.from({ length: 3 }, () => server.send(key, { expect: '100-continue' }));
  for (const request of three) request.flushHeaders();

  const refused = await Promise.race(three.map(answerOf));
  const ofOther = await sendWav(server.send(other.key));

  assert.deepEqual([refused.status, refused.json.error.type], [429, 'rate_limited']);
  assert.equal(refused.headers['retry-after'], String(refused.json.retry_after));
  assert.ok(refused.json.retry_after >= 1);
  assert.equal(ofOther.status, 202);
  for (const request of three) request.destroy();
  underWay[0]!.destroy();
  await until('the first upload to end', async () => (await sendWav(server.send(key))).status === 202);
  underWay[1]!.destroy();
});

test('an upload waits 15 s for a place, then it is rejected; a place that becomes free is its own', async () => {
  await using fixture = await openJobFixture({ MAX_UPLOADS_PER_ACCOUNT: '1' });
  const account = { ...(await fixture.account()), hadCredit: true, isSuspended: false };
  const clock = openManualClock();
  const uploads = openUploadAdmission({ ...fixture, clock });
  const upload = { open: () => Readable.from([]), contentType: '', contentLength: 1, rawQuery: null };
  const { signal } = new AbortController();
  const admit = () => uploads.admit({ account, idempotency: NO_IDEMPOTENCY_KEY, upload, signal });

  const first = await admit();
  const second = admit();
  await clock.advance(14_999);
  first[Symbol.dispose]();
  using _second = await second;
  const third = admit().catch((error: ApiError) => error.type);
  await clock.advance(15_000);

  assert.equal(await third, 'rate_limited');
});

test('an upload whose caller hangs up while it waits for a place leaves the wait to others', async () => {
  await using fixture = await openJobFixture({ MAX_UPLOADS_PER_ACCOUNT: '1' });
  const account = { ...(await fixture.account()), hadCredit: true, isSuspended: false };
  const uploads = openUploadAdmission({ ...fixture, clock: openManualClock() });
  const upload = { open: () => Readable.from([]), contentType: '', contentLength: 1, rawQuery: null };
  const [gone, there] = [new AbortController(), new AbortController()];
  const admit = ({ signal }: AbortController) =>
    uploads.admit({ account, idempotency: NO_IDEMPOTENCY_KEY, upload, signal });

  const first = await admit(there);
  const left = admit(gone);
  gone.abort(new Error('the caller hung up'));

  await assert.rejects(left, /the caller hung up/);
  // As many may wait as may be under way: the one that left does not count.
  const third = admit(there);
  first[Symbol.dispose]();
  (await third)[Symbol.dispose]();
  (await admit(there))[Symbol.dispose]();
});

test('small uploads that arrive together are all accepted: those beyond the limit wait for the others', async () => {
  await using server = await openUploadServer({ MAX_UPLOADS_PER_ACCOUNT: '2' });
  const { key } = await server.account();

  const answers = await Promise.all(Array.from({ length: 4 }, () => sendWav(server.send(key))));

  assert.deepEqual(
    answers.map(({ status }) => status),
    [202, 202, 202, 202],
  );
});

test('a synchronous request that waits for its job does not count as an upload under way', async () => {
  await using server = await openUploadServer({ MAX_UPLOADS_PER_ACCOUNT: '1' });
  const { key, ...account } = await server.account();
  const waiting = server.send(key);
  waiting.end(Buffer.concat([Buffer.from(FILE_HEAD), wavFile(1), Buffer.from('\r\n--xx--\r\n')]));
  const list = async () => (await server.fixture.get(account, '/v1/jobs')).json.data;
  await until('its job', async () => (await list()).length === 1);

  assert.equal((await sendWav(server.send(key))).status, 202);

  waiting.destroy();
});

test('uploads are answered 503 before their body while the free disk space is below the reserve', async () => {
  await using server = await openUploadServer({ MIN_FREE_DISK_BYTES: String(2 ** 50) });
  const { key } = await server.account();
  const request = server.send(key, { expect: '100-continue' });
  const isContinued = watchContinue(request);
  request.flushHeaders();

  const answer = await answerOf(request);

  assert.deepEqual([answer.status, answer.json.error.type], [503, 'unavailable']);
  assert.match(answer.headers['retry-after']!, /^[1-9]\d*$/);
  assert.equal(isContinued(), false);
  request.destroy();
});

test('a declared length that would use the reserve of the disk is rejected before the body is sent', async () => {
  await using server = await openUploadServer({ MAX_UPLOAD_BYTES: String(2 ** 40) });
  const { key } = await server.account();
  const request = server.send(key, { 'content-length': String(2 ** 40), expect: '100-continue' });
  request.flushHeaders();

  assert.equal((await answerOf(request)).status, 503);

  request.destroy();
});
