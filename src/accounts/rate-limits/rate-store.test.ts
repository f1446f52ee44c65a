import assert from 'node:assert/strict';
import test from 'node:test';
import { openTestDatabase } from '../../../test/fixtures/database/test-database.ts';
import { randomFrom } from '../../../test/fixtures/random.ts';
import { openDatabase } from '../../db/database.ts';
import { admit } from './rate-store.ts';

const account = { id: 'acct_1', shard: 7 };
const limit = { count: 10, windowMs: 60_000 };
const at = (ms: number) => new Date(Date.UTC(2026, 0, 1) + ms);

test('200 requests at once on a limit of 10 over two pools: exactly 10 pass', async () => {
  await using db = await openTestDatabase();
  const other = openDatabase(db.url, { maxConnections: 10 });

  const answers = await Promise.all(
    Array.from({ length: 200 }, (_, i) => admit(i % 2 ? db : other, { account, bucket: 'transcribe', limit })),
  );

  await other.close();
  assert.equal(answers.filter((answer) => answer.kind === 'admitted').length, 10);
  const waits = answers.map((answer) => (answer.kind === 'refused' ? answer.retryAfterSeconds : 60));
  assert.ok(waits.every((seconds) => seconds >= 1 && seconds <= 60));
});

test('after retry_after seconds exactly one more passes, and refused requests never count', async () => {
  await using db = await openTestDatabase();
  const ask = (ms: number) => admit(db, { account, bucket: 'jobs', limit, now: at(ms) });
  for (let i = 0; i < 10; i++) await ask(i * 1_500);

  const refusals = await Promise.all(Array.from({ length: 30 }, () => ask(20_250)));
  const tooEarly = await ask(59_999);
  const inTime = await ask(20_250 + 40_000);
  const next = await ask(20_250 + 40_001);

  assert.deepEqual(refusals[0], { kind: 'refused', retryAfterMs: 39_750, retryAfterSeconds: 40 });
  assert.equal(tooEarly.kind, 'refused');
  assert.deepEqual(inTime, { kind: 'admitted', remaining: 0, resetSeconds: 2 });
  assert.deepEqual(next, { kind: 'refused', retryAfterMs: 1_249, retryAfterSeconds: 2 });
});

test('an admission says what remains and when the window next opens', async () => {
  await using db = await openTestDatabase();

  const first = await admit(db, { account, bucket: 'balance', limit, now: at(0) });
  const second = await admit(db, { account, bucket: 'balance', limit, now: at(5_000) });

  assert.deepEqual(first, { kind: 'admitted', remaining: 9, resetSeconds: 60 });
  assert.deepEqual(second, { kind: 'admitted', remaining: 8, resetSeconds: 55 });
});

test('accounts and buckets do not touch each other', async () => {
  await using db = await openTestDatabase();
  const one = { count: 1, windowMs: 1_000 };
  await admit(db, { account, bucket: 'balance', limit: one });

  const otherBucket = await admit(db, { account, bucket: 'jobs', limit: one });
  const otherAccount = await admit(db, { account: { id: 'acct_2', shard: 7 }, bucket: 'balance', limit: one });

  assert.equal(otherBucket.kind, 'admitted');
  assert.equal(otherAccount.kind, 'admitted');
});

test('a lowered limit refuses until enough requests have left the window', async () => {
  await using db = await openTestDatabase();
  for (let i = 0; i < 10; i++) await admit(db, { account, bucket: 'jobs', limit, now: at(i * 1_000) });

  const answer = await admit(db, { account, bucket: 'jobs', limit: { count: 2, windowMs: 60_000 }, now: at(10_000) });

  assert.deepEqual(answer, { kind: 'refused', retryAfterMs: 58_000, retryAfterSeconds: 58 });
});

test('a clock set back by hours does not lock the account out', async () => {
  await using db = await openTestDatabase();
  for (let i = 0; i < 10; i++) await admit(db, { account, bucket: 'jobs', limit, now: at(7_200_000) });

  const answer = await admit(db, { account, bucket: 'jobs', limit, now: at(0) });

  assert.deepEqual(answer, { kind: 'admitted', remaining: 9, resetSeconds: 60 });
});

test('a clock set back by half a window admits no more than the limit, and the times stay in order', async () => {
  await using db = await openTestDatabase();
  const ask = (ms: number) => admit(db, { account, bucket: 'jobs', limit, now: at(ms) });
  for (let i = 0; i < 5; i++) await ask(40_000 + i);

  const answers = [];
  for (let i = 0; i < 6; i++) answers.push((await ask(10_000 + i)).kind);
  const [row] = await db.rows<{ admitted: Date[] }>({ text: 'select admitted from rate_windows' });
  const later = await ask(100_003);

  assert.deepEqual(answers, [...Array(5).fill('admitted'), 'refused']);
  assert.deepEqual(
    row!.admitted.map((time) => time.getTime() - at(0).getTime()),
    [40_000, 40_001, 40_002, 40_003, ...Array(6).fill(40_004)],
  );
  assert.deepEqual(later, { kind: 'admitted', remaining: 3, resetSeconds: 1 });
});

test('at random times the database decides as the reference does, and never admits more than the limit in 60 s', async () => {
  await using db = await openTestDatabase();
  const random = randomFrom(20_261_121);
  const admitted: number[] = [];
  const disagreements: unknown[] = [];
  let nowMs = at(0).getTime();
  for (let i = 0; i < 400; i++) {
    nowMs += random.integer(4_000);
    const expected = expectedAnswer(admitted, nowMs);
    const answer = await admit(db, { account, bucket: 'jobs', limit, now: new Date(nowMs) });
    if (answer.kind === 'admitted') admitted.push(nowMs);
    const actual = answer.kind === 'refused' ? answer.retryAfterSeconds : 'admitted';
    if (actual !== expected) disagreements.push({ i, actual, expected });
  }

  const crowded = admitted.filter((ms, i) => i >= 10 && ms - admitted[i - 10]! < 60_000);
  assert.deepEqual(disagreements, []);
  assert.deepEqual(crowded, []);
  assert.ok(admitted.length > 100 && admitted.length < 300);
});

/** Reference: `admitted`, or the whole seconds until the request that fills the window leaves it. */
function expectedAnswer(admittedMs: readonly number[], nowMs: number): number | 'admitted' {
  const blockingMs = admittedMs.filter((ms) => ms > nowMs - limit.windowMs).at(-limit.count);
  return blockingMs === undefined ? 'admitted' : Math.ceil((blockingMs + limit.windowMs - nowMs) / 1000);
}
