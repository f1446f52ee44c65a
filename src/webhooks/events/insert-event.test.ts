import assert from 'node:assert/strict';
import test from 'node:test';
import { openTestDatabase } from '../../../test/fixtures/database/test-database.ts';
import { emitEvent } from '../../../test/fixtures/webhooks/emit-event.ts';
import { RawJson } from '../../platform/json.ts';
import { isId, timeOfId } from '../../rules/ids.ts';

const ACCOUNT = { id: 'acct_a', shard: 7 };
const NOW = new Date('2026-11-21T09:30:00.000Z');

async function openEnvironment() {
  const db = await openTestDatabase();
  return {
    db,
    async webhook(id: string, events: string[], { active = true, account = ACCOUNT.id } = {}) {
      await db.run({
        text: `insert into webhooks (shard, id, account_id, url, events, active, disabled_reason, disabled_at, secret, created_at, updated_at)
          values (7, $1, $2, 'https://x.example/', $3, $4, case when $4 then null else 'manual' end,
            case when $4 then null else now() end, '', now(), now())`,
        values: [id, account, events, active],
      });
    },
    bodies: async () =>
      (await db.rows<{ body: Buffer }>({ text: 'select body from events order by id' })).map((row) =>
        row.body.toString(),
      ),
    deliveries: () =>
      db.rows<{ webhook_id: string; next_at: Date; attempt: number; attempt_id: string }>({
        text: 'select webhook_id, next_at, attempt, attempt_id from deliveries order by webhook_id',
      }),
    [Symbol.asyncDispose]: () => db[Symbol.asyncDispose](),
  };
}

const EVENT = {
  account: ACCOUNT,
  type: 'transcription.completed' as const,
  jobId: 'job_1',
  data: { job: { id: 'job_1', text: 'hello', segments: new RawJson('[{"start":0.0}]') } },
  metadata: null,
  now: NOW,
};

test('an event is written as the contract shows it, metadata unchanged', async () => {
  await using fixture = await openEnvironment();

  const id = await fixture.db.transaction((tx) => emitEvent(tx, { ...EVENT, metadata: '{"n": 12345678901234567890}' }));

  assert.deepEqual(await fixture.bodies(), [
    `{"id":"${id}","type":"transcription.completed","created_at":"2026-11-21T09:30:00.000Z",` +
      '"metadata":{"n": 12345678901234567890},"data":{"job":{"id":"job_1","text":"hello","segments":[{"start":0.0}]}}}',
  ]);
});

test('without metadata the field is absent', async () => {
  await using fixture = await openEnvironment();

  await fixture.db.transaction((tx) => emitEvent(tx, EVENT));

  assert.ok(!(await fixture.bodies())[0]!.includes('metadata'));
});

test('only active webhooks of the account that subscribe to the type get a delivery, due at once', async () => {
  await using fixture = await openEnvironment();
  await fixture.webhook('wh_1', ['transcription.completed', 'transcription.failed']);
  await fixture.webhook('wh_2', ['transcription.failed']);
  await fixture.webhook('wh_3', ['transcription.completed'], { active: false });
  await fixture.webhook('wh_4', ['transcription.completed'], { account: 'acct_b' });
  await fixture.webhook('wh_5', ['transcription.completed']);

  await fixture.db.transaction((tx) => emitEvent(tx, EVENT));

  const deliveries = await fixture.deliveries();
  assert.deepEqual(
    deliveries.map(({ webhook_id, attempt, next_at }) => [webhook_id, attempt, next_at.getTime()]),
    [
      ['wh_1', 1, NOW.getTime()],
      ['wh_5', 1, NOW.getTime()],
    ],
  );
});

test('the ids of deliveries and attempts are of the time of the event, and each is another', async () => {
  await using fixture = await openEnvironment();
  const before = Date.now();
  for (const id of ['wh_1', 'wh_2', 'wh_3']) await fixture.webhook(id, ['transcription.completed']);

  for (let i = 0; i < 2; i++) await fixture.db.transaction((tx) => emitEvent(tx, EVENT));

  const rows = await fixture.db.rows<{ id: string; attempt_id: string }>({
    text: 'select id, attempt_id from deliveries',
  });
  const ids = rows.flatMap(({ id, attempt_id }) => [id, attempt_id]);
  assert.ok(
    rows.length === 6 && rows.every(({ id, attempt_id }) => isId('dl', id) && isId('dlv', attempt_id)),
    ids.join(),
  );
  assert.equal(new Set(ids.map((id) => id.split('_')[1])).size, 12);
  assert.ok(rows.every(({ id }) => timeOfId(id) >= before && timeOfId(id) <= Date.now()));
  assert.ok(rows.every(({ attempt_id }) => timeOfId(attempt_id) === NOW.getTime()));
});

test('the first delay of the schedule is waited', async () => {
  await using fixture = await openEnvironment();
  await fixture.webhook('wh_1', ['transcription.completed']);

  await fixture.db.transaction((tx) => emitEvent(tx, { ...EVENT, firstDelayMs: 2500 }));

  assert.equal((await fixture.deliveries())[0]!.next_at.getTime(), NOW.getTime() + 2500);
});

test('a transaction that rolls back leaves no event and no delivery', async () => {
  await using fixture = await openEnvironment();
  await fixture.webhook('wh_1', ['transcription.completed']);

  await assert.rejects(
    fixture.db.transaction(async (tx) => {
      await emitEvent(tx, EVENT);
      throw new Error('later');
    }),
  );

  assert.deepEqual([await fixture.bodies(), await fixture.deliveries()], [[], []]);
});

test('deliverers are woken with the shard when the transaction commits', async () => {
  await using fixture = await openEnvironment();
  await fixture.webhook('wh_1', ['transcription.completed']);
  const woken = Promise.withResolvers<string>();
  const stop = await fixture.db.listen('deliveries_due', (payload) => payload && woken.resolve(payload));

  await fixture.db.transaction((tx) => emitEvent(tx, EVENT));

  assert.equal(await woken.promise, '7');
  await stop();
});

for (const { title, padding, omitted } of [
  { title: 'a body of exactly the limit keeps its segments', padding: 0, omitted: false },
  { title: 'a body one byte over the limit leaves its segments out and says so', padding: 1, omitted: true },
]) {
  test(title, async () => {
    await using fixture = await openEnvironment();
    const emptyId = await fixture.db.transaction((tx) => emitEvent(tx, dataWith('')));
    const emptyBytes = Buffer.byteLength((await fixture.bodies())[0]!);
    await fixture.db.run({ text: 'delete from events where id = $1', values: [emptyId] });

    await fixture.db.transaction((tx) => emitEvent(tx, dataWith('x'.repeat(256 * 1024 - emptyBytes + padding))));

    const { job } = JSON.parse((await fixture.bodies())[0]!).data;
    assert.equal('segments' in job, !omitted);
    assert.equal(job.segments_omitted, omitted ? true : undefined);
    assert.equal(job.id, 'job_1');
  });
}
const dataWith = (text: string) => ({ ...EVENT, data: { job: { id: 'job_1', segments: [{ text }] } } });

test('a body without segments keeps a text of up to 1 MiB, and leaves out one that is a byte longer', async () => {
  await using fixture = await openEnvironment();
  const emit = (text: string) =>
    fixture.db.transaction((tx) =>
      emitEvent(tx, { ...EVENT, data: { job: { id: 'job_1', text, segments: [{ text }] } } }),
    );
  await emit('x'.repeat(256 * 1024));
  const spareBytes = 2 ** 20 - Buffer.byteLength((await fixture.bodies())[0]!);

  for (const bytes of [spareBytes, spareBytes + 1]) await emit('x'.repeat(256 * 1024 + bytes));

  const [, kept, omitted] = await fixture.bodies();
  assert.equal(Buffer.byteLength(kept!), 2 ** 20);
  assert.equal(JSON.parse(kept!).data.job.text_omitted, undefined);
  assert.deepEqual(JSON.parse(omitted!).data.job, { id: 'job_1', segments_omitted: true, text_omitted: true });
});
