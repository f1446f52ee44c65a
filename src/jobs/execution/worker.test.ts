import assert from 'node:assert/strict';
import { truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import test from 'node:test';
import { wavFile } from '../../../test/fixtures/audio/wav.ts';
import { claimNextJob } from '../../../test/fixtures/claim.ts';
import { openFakeEngine } from '../../../test/fixtures/fake-engine.ts';
import { openJobFixture, returnLapsed } from '../../../test/fixtures/job.ts';
import { COMPLETED } from '../../../test/fixtures/outcome.ts';
import { until } from '../../../test/fixtures/until.ts';
import { StorageAwayError } from '../../audio/storage/storage.ts';
import { type Database, isDatabaseAway } from '../../db/database.ts';
import { type Engine, EngineError } from '../../engines/engine.ts';
import { openLog } from '../../platform/log.ts';
import { lockJob } from '../api/control-store.ts';
import { endJob } from '../end/end.ts';
import type { Job, Outcome } from '../job.ts';
import { claimNextJobs } from '../queue/claim.ts';
import { claimJobs, readQueueHead } from '../queue/queue-store.ts';

type Fixture = Awaited<ReturnType<typeof openJobFixture>>;
type Account = Awaited<ReturnType<Fixture['account']>>;

const balanceOf = async (fixture: Fixture, account: Account) =>
  (
    await fixture.db.rows<{ amount: number; held: number }>({
      text: 'select amount, held from accounts where id = $1',
      values: [account.id],
    })
  )[0]!;
const ledgerSum = async (fixture: Fixture, account: Account) =>
  (
    await fixture.db.rows<{ amount: number; held: number; entries: string }>({
      text: `select sum(amount_change)::bigint as amount, sum(held_change)::bigint as held, string_agg(kind, ' ' order by id) as entries
      from ledger where account_id = $1`,
      values: [account.id],
    })
  )[0]!;
const eventTypes = async (fixture: Fixture) =>
  (await fixture.db.rows<{ type: string }>({ text: 'select type from events order by id' })).map((row) => row.type);
const submit = async (fixture: Fixture, account: Account, seconds = 1, fields: Record<string, string> = {}) =>
  (await fixture.transcribe(account, wavFile(seconds), { async: 'true', ...fields })).json.id as string;
const LATE: Outcome = { ...COMPLETED, model: 'late', transcript: 'late' };

test('an answer in another language than the one that was asked for is a warning', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account();
  const engine = openFakeEngine();
  await fixture.startWorker(engine);

  const id = await submit(fixture, account, 1.5, { language: 'de' });
  const segment = { text: 'good morning', startSeconds: 0, endSeconds: 1, confidence: null, words: [] };
  (await engine.nextCall()).answer({ language: 'en', segments: [segment] });
  const job = await fixture.ended(account, id);

  const [{ code, start, end }] = job.warnings;
  assert.deepEqual([job.language, code, start, end], ['en', 'language_ignored', 0, 1.5]);
});

test('a job ends with its transcript, its cost and its event, and its audio is erased', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account({ credits: 10 });
  await fixture.startWorker(openFakeEngine({ says: 'hello\u0000 there' }));

  const id = await submit(fixture, account, 1.5, {
    metadata: '{"n":12345678901234567890}',
    timestamps: 'word',
    language: 'EN',
  });
  const job = await fixture.ended(account, id);

  assert.deepEqual(Object.keys(job), [
    ...[
      'id',
      'status',
      'waiting_for',
      'plan',
      'model',
      'language',
      'translated_to',
      'audio',
      'title',
      'tags',
      'metadata',
      'options',
      'text',
    ],
    ...['segments', 'speakers', 'warnings', 'error', 'cost', 'progress', 'created_at', 'started_at', 'completed_at'],
    'expires_at',
  ]);
  assert.equal(job.status, 'completed');
  assert.equal(job.text, 'hello there');
  assert.equal(job.model, 'fake');
  assert.equal(job.language, 'en');
  assert.deepEqual([job.options, job.warnings], [{ language: 'en', timestamps: 'word' }, []]);
  assert.deepEqual(job.audio, {
    filename: 'a.wav',
    format: 'wav',
    duration_seconds: 1.5,
    size_bytes: 48_044,
    source: null,
    channels: 1,
    tracks: [{ index: 0, language: null, title: null, codec: 'pcm_s16le', channels: 1, default: true }],
  });
  assert.deepEqual(job.segments, [
    {
      start: 0,
      end: 1.5,
      text: 'hello there',
      confidence: 0.93,
      words: [
        { start: 0, end: 0.75, text: 'hello', confidence: 0.9 },
        { start: 0.75, end: 1.5, text: 'there', confidence: 0.9 },
      ],
    },
  ]);
  assert.equal(job.cost, 0.05);
  assert.equal(job.progress, 1);
  assert.deepEqual(await eventTypes(fixture), ['transcription.completed']);
  assert.deepEqual(await balanceOf(fixture, account), { amount: 9.95 * 60e6, held: 0 });
  assert.deepEqual(await ledgerSum(fixture, account), { amount: 9.95 * 60e6, held: 0, entries: 'credit hold capture' });
  await until('the audio to be erased', async () => (await fixture.files()).length === 0);
});

test('pieces of a long audio are transcribed in parallel on the slots and joined in order', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account();
  const engine = openFakeEngine({ slots: 2 });
  await fixture.startWorker(engine);

  const id = await submit(fixture, account, 75);
  const [first, second] = [await engine.nextCall(), await engine.nextCall()];
  second.say('two');
  const third = await engine.nextCall();
  third.say('three');
  first.say('one');
  const job = await fixture.ended(account, id);

  assert.equal(job.text, 'one two three');
  const bounds = job.segments.map((segment: { start: number; end: number }) => [segment.start, segment.end]);
  assert.equal(bounds[0][0], 0);
  assert.equal(bounds[1][0], bounds[0][1]);
  assert.equal(bounds[2][0], bounds[1][1]);
  assert.equal(bounds[2][1], 75);
});

const FAILURES = [
  { cause: new EngineError('engine_error', 'The engine broke.'), type: 'engine_error', message: 'The engine broke.' },
  {
    cause: new EngineError('engine_timeout', 'The engine hangs.'),
    type: 'engine_timeout',
    message: 'The engine hangs.',
  },
  {
    cause: new TypeError('secret detail'),
    type: 'engine_error',
    message: 'The transcription failed by a fault of the service. Send the audio again.',
  },
];
for (const { cause, type, message } of FAILURES) {
  test(`a job whose engine throws ${cause.name} ${type} fails, releases its hold and emits an event`, async () => {
    await using fixture = await openJobFixture();
    const account = await fixture.account({ credits: 10 });
    const engine = openFakeEngine();
    await fixture.startWorker(engine);
    const id = await submit(fixture, account);

    (await engine.nextCall()).fail(cause);
    const job = await fixture.ended(account, id);

    assert.equal(job.status, 'failed');
    assert.deepEqual(job.error, { type, message });
    assert.deepEqual([job.text, job.segments, job.cost], [null, null, 0]);
    assert.deepEqual(await eventTypes(fixture), ['transcription.failed']);
    assert.deepEqual(await ledgerSum(fixture, account), { amount: 600e6, held: 0, entries: 'credit hold release' });
  });
}

test('audio that cannot be decoded fails the job', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account();
  const id = await submit(fixture, account);
  const [name] = await fixture.files();
  await writeFile(path.join(fixture.folder, name!), Buffer.alloc(100_000));

  await fixture.startWorker(openFakeEngine({ says: 'never' }));
  const job = await fixture.ended(account, id);

  assert.equal(job.error.type, 'unprocessable_audio');
});

test('a job whose audio was removed fails', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account();
  const id = await submit(fixture, account);
  for (const name of await fixture.files()) await fixture.storage.remove(name);

  await fixture.startWorker(openFakeEngine({ says: 'never' }));

  assert.equal((await fixture.ended(account, id)).error.type, 'engine_error');
});

test('a job whose audio was cut off by a power failure fails without transcribing the rest', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account();
  const id = await submit(fixture, account);
  const [name] = await fixture.files();
  await truncate(path.join(fixture.folder, name!), 10_000);

  await fixture.startWorker(openFakeEngine({ says: 'half of it' }));
  const job = await fixture.ended(account, id);

  assert.deepEqual([job.error.type, job.text, job.cost], ['engine_error', null, 0]);
});

test('a job waits while the audio storage is away', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account();
  const id = await submit(fixture, account);
  const { localPath } = fixture.storage;
  let fetches = 0;
  fixture.storage.localPath = (key) => {
    if (++fetches > 1) return localPath(key);
    throw new StorageAwayError(new Error('no route'));
  };

  await fixture.startWorker(openFakeEngine({ says: 'at last' }));
  const job = await fixture.ended(account, id);

  assert.deepEqual([job.status, job.text, fetches], ['completed', 'at last', 2]);
});

test('a job whose decoded length the balance does not cover fails with insufficient_balance', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account({ credits: 0.05 });
  const id = await submit(fixture, account, 1);
  const [name] = await fixture.files();
  // Longer than the probe found, so the hold is too small.
  await writeFile(path.join(fixture.folder, name!), wavFile(3));

  await fixture.startWorker(openFakeEngine({ says: 'words' }));
  const job = await fixture.ended(account, id);

  assert.deepEqual([job.status, job.error.type, job.text], ['failed', 'insufficient_balance', null]);
  assert.match(job.error.message, /first 3 seconds cost 0\.1 credits and the balance holds 0\.05\./);
  assert.equal(job.audio.duration_seconds, 3);
  assert.deepEqual(await ledgerSum(fixture, account), { amount: 3e6, held: 0, entries: 'credit hold release' });
});

test('a result that arrives after the lease was lost is rejected and changes nothing', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account({ credits: 10 });
  const id = await submit(fixture, account);
  const stale = (await claimNextJob(fixture.db, 60_000))!;
  await fixture.endLeases();
  const current = (await claimNextJob(fixture.db, 60_000))!;

  const late = await endJob(fixture, stale, LATE);

  assert.equal(late, null);
  assert.deepEqual(await eventTypes(fixture), []);
  assert.equal((await fixture.job(account, id)).status, 'processing');
  assert.equal((await ledgerSum(fixture, account)).entries, 'credit hold');
  assert.equal((await endJob(fixture, current, LATE))?.state, 'completed');
  assert.equal(await endJob(fixture, current, LATE), null);
  assert.deepEqual(await eventTypes(fixture), ['transcription.completed']);
});

test('the end of a job is written completely or not at all', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account({ credits: 10 });
  const id = await submit(fixture, account);
  const claimed = (await claimNextJob(fixture.db, 60_000))!;
  await fixture.db.run({ text: 'alter table events add constraint nothing_fits check (false)' });

  await assert.rejects(endJob(fixture, claimed, LATE));

  assert.equal((await fixture.job(account, id)).status, 'processing');
  assert.equal((await ledgerSum(fixture, account)).entries, 'credit hold');
});

test('two workers end every job exactly once', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account({ credits: 100 });
  const ids = [];
  for (let i = 0; i < 12; i++) ids.push(await submit(fixture, account, 0.2));
  const engines = [openFakeEngine({ says: 'one' }), openFakeEngine({ says: 'two' })];

  await Promise.all(engines.map((engine) => fixture.startWorker(engine)));
  const jobs = await Promise.all(ids.map((id) => fixture.ended(account, id)));

  assert.ok(jobs.every((job) => job.status === 'completed'));
  assert.equal(engines[0]!.count() + engines[1]!.count(), 12);
  assert.equal((await eventTypes(fixture)).length, 12);
  assert.equal((await balanceOf(fixture, account)).held, 0);
});

test('a job whose lease ended is claimed again, and the first worker stops executing it', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account();
  const [slow, quick] = [openFakeEngine(), openFakeEngine()];
  await fixture.startWorker(slow, { concurrency: 1 });
  const id = await submit(fixture, account);
  const stuck = await slow.nextCall();

  await fixture.startWorker(quick, { concurrency: 1 });
  await fixture.endLeases();
  (await quick.nextCall()).say('quick');
  const job = await fixture.ended(account, id);
  stuck.say('slow');

  assert.equal(job.text, 'quick');
  assert.deepEqual(await eventTypes(fixture), ['transcription.completed']);
});

test('a job that was started three times without an end fails without another transcription', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account();
  const id = await submit(fixture, account);
  for (let i = 0; i < 3; i++) {
    assert.equal((await claimNextJob(fixture.db, 60_000))?.attempts, i + 1);
    await fixture.endLeases();
  }
  const engine = openFakeEngine({ says: 'never' });

  await fixture.startWorker(engine);
  const job = await fixture.ended(account, id);

  assert.deepEqual([job.status, job.error.type, engine.count()], ['failed', 'engine_error', 0]);
});

test('a stop hands jobs back at once and does not count the attempt', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account();
  const engine = openFakeEngine();
  const worker = await fixture.startWorker(engine);
  const id = await submit(fixture, account);
  await engine.nextCall();

  await worker.stop();

  const job = await fixture.job(account, id);
  assert.deepEqual([job.status, job.started_at, job.progress], ['queued', null, 0]);
  const again = await claimNextJob(fixture.db, 60_000);
  assert.deepEqual([again?.id, again?.attempts], [id, 1]);
});

test('a job that was handed back goes on after the pieces that are done', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account();
  const [quick, held] = [openFakeEngine({ says: 'first' }), openFakeEngine()];
  const engine: Engine = {
    ...held,
    transcribe: (...call) => (quick.count() === 0 ? quick : held).transcribe(...call),
  };
  const worker = await fixture.startWorker(engine);
  const id = await submit(fixture, account, 70);
  await until('the first piece', async () => (await fixture.job(account, id)).progress > 0.2);
  await worker.stop();
  const stopped = await fixture.job(account, id);
  const next = openFakeEngine({ says: 'then' });

  await fixture.startWorker(next);
  const job = await fixture.ended(account, id);

  assert.deepEqual([stopped.status, stopped.progress], ['queued', 0]);
  assert.deepEqual([job.status, job.text, next.count()], ['completed', 'first then then', 2]);
});

test('a job that cannot be handed back while the database is away is left to its lease, with a warning', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account();
  const engine = openFakeEngine();
  const logged: string[] = [];
  const note = (level: string) => (_: object, message: string) => void logged.push(`${level}: ${message}`);
  const log = Object.assign(openLog('silent'), { warn: note('warn'), error: note('error') });
  const away = Object.assign(new Error('Connection terminated'), { code: '08006' });
  const run: Database['run'] = async (statement) => {
    if (statement.name === 'hand_back_job') throw away;
    return await fixture.db.run(statement);
  };
  const worker = await fixture.startWorker(engine, { db: { ...fixture.db, run }, log });
  const id = await submit(fixture, account);
  await engine.nextCall();

  await worker.stop();

  assert.deepEqual(logged, ['warn: handing back a job failed: the database is unavailable']);
  assert.equal((await fixture.job(account, id)).status, 'processing');
});

for (const { title, shards } of [
  { title: 'of one shard', shards: [9, 9, 9] },
  { title: 'of several shards', shards: [9, 3, 6] },
]) {
  test(`accounts ${title} take turns, however many jobs one of them has queued`, async () => {
    await using fixture = await openJobFixture();
    const accounts = [];
    for (const shard of shards) accounts.push(await fixture.account({ shard }));
    const [busy, calm, late] = accounts as [Account, Account, Account];
    for (const account of [busy, busy, busy, calm, calm]) await submit(fixture, account, 0.1);
    const next = async () => (await claimNextJob(fixture.db, 60_000))!.accountId;

    const first = [await next(), await next()];
    await submit(fixture, late, 0.1);
    const then = [await next(), await next(), await next(), await next()];

    assert.deepEqual(new Set(first), new Set([busy.id, calm.id]));
    // The account that never had a turn comes first, then the account with the oldest turn.
    assert.deepEqual(then, [late.id, ...first, busy.id]);
  });
}

test('jobs of one account start in the order of their creation', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account();
  const ids = [];
  for (let i = 0; i < 3; i++) ids.push(await submit(fixture, account, 0.2));

  const claimed = [];
  for (let i = 0; i < 3; i++) claimed.push((await claimNextJob(fixture.db, 60_000))?.id);

  assert.deepEqual(claimed, ids);
  assert.equal(await claimNextJob(fixture.db, 60_000), null);
});

test('jobs whose worker died start again before all queued jobs, the oldest first', async () => {
  await using fixture = await openJobFixture();
  const [dead, other] = [await fixture.account(), await fixture.account()];
  const [first, second] = [await submit(fixture, dead, 0.1), await submit(fixture, dead, 0.1)];
  for (let i = 0; i < 2; i++) await claimNextJob(fixture.db, 60_000);
  const waiting = [await submit(fixture, dead, 0.1), await submit(fixture, other, 0.1)];
  await fixture.endLeases();
  const places = [];
  for (const id of [first, second]) places.push((await fixture.job(dead, id)).queue_position);
  for (const [account, id] of [
    [dead, waiting[0]],
    [other, waiting[1]],
  ] as const)
    places.push((await fixture.job(account, id!)).queue_position);

  const claimed = [];
  for (let i = 0; i < 4; i++) claimed.push((await claimNextJob(fixture.db, 60_000))?.id);

  assert.deepEqual(claimed, [first, second, waiting[1], waiting[0]]);
  assert.deepEqual(places, [1, 2, 4, 3]);
});

test('a claim of many jobs takes two statements, and starts one job of each account in turn', async () => {
  await using fixture = await openJobFixture();
  const accounts = await Promise.all(Array.from({ length: 6 }, (_, i) => fixture.account({ shard: 10 * i })));
  for (const account of [...accounts, ...accounts, accounts[0]!]) await submit(fixture, account, 0.1);
  let statements = 0;
  const rows: Database['rows'] = (statement) => {
    statements += 1;
    return fixture.db.rows(statement);
  };
  const claim = () => claimNextJobs({ db: { ...fixture.db, rows } }, 8);
  const countsOf = (jobs: Job[]) => accounts.map(({ id }) => jobs.filter((job) => job.accountId === id).length);

  const first = await claim();
  const countsOfFirst = countsOf(first.claimed);
  const rest = await claim();

  assert.deepEqual([first.isDrained, rest.isDrained, statements], [false, true, 4]);
  assert.deepEqual(countsOfFirst.toSorted(), [1, 1, 1, 1, 2, 2]);
  assert.deepEqual(countsOf([...first.claimed, ...rest.claimed]), [3, 2, 2, 2, 2, 2]);
});

test('of two claims that chose the same jobs at the same time, each job goes to one', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account();
  for (let i = 0; i < 3; i++) await submit(fixture, account, 0.1);
  const head = (await readQueueHead(fixture.db, 3))!;
  const claim = { jobs: head.queues[0]!.jobs, moment: head.moment, holder: null, leaseMs: 60_000, validMs: 3_000 };

  const both = await Promise.all([claimJobs(fixture.db, claim), claimJobs(fixture.db, claim)]);
  const claimed = both.flat();

  assert.equal(new Set(claimed.map(({ id }) => id)).size, 3);
  assert.equal(claimed.length, 3);
  assert.deepEqual(await fixture.db.rows({ text: 'select waiting from job_queues' }), [{ waiting: 0 }]);
});

test('a process that is frozen while it holds the lock of a queued job delays claims for seconds only', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account();
  const id = await submit(fixture, account, 0.1);
  const isLocked = Promise.withResolvers<void>();
  const continues = Promise.withResolvers<void>();
  const frozen = fixture.db.transaction(async (tx) => {
    await lockJob(tx, { shard: account.shard, accountId: account.id, id });
    isLocked.resolve();
    await continues.promise;
    await tx.rows({ text: 'select 1' });
  });
  await isLocked.promise;

  let claimed: Job | null = null;
  await until('the claim', async () => {
    claimed = await claimNextJob(fixture.db, 60_000).catch(() => null);
    return claimed !== null;
  });
  continues.resolve();

  assert.equal((claimed as Job | null)?.id, id);
  await assert.rejects(frozen, isDatabaseAway);
});

test('a claim or a sweep that the database runs too late changes nothing', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account();
  const id = await submit(fixture, account, 0.1);
  const jobs = [{ shard: account.shard, id }];
  const moment = new Date(Date.now() - 10_000);

  const late = await claimJobs(fixture.db, { jobs, moment, holder: null, leaseMs: 60_000, validMs: 3_000 });
  const claimed = await claimNextJob(fixture.db, 0);
  const swept = await returnLapsed(fixture.db, -60_000);

  assert.deepEqual([late, claimed?.id, swept], [[], id, []]);
});

test('each plan has its own engine', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account({ plan: 'pro' });
  await fixture.startWorker(openFakeEngine({ says: 'lite' }), { pro: openFakeEngine({ says: 'pro' }) });

  const lite = await submit(fixture, account, 0.2, { plan: 'lite' });
  const pro = await submit(fixture, account, 0.2);

  assert.equal((await fixture.ended(account, lite)).text, 'lite');
  assert.equal((await fixture.ended(account, pro)).text, 'pro');
});
