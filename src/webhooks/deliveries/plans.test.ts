import assert from 'node:assert/strict';
import test from 'node:test';
import { countRowsRead } from '../../../test/fixtures/database/rows-read.ts';
import { DISABLE_BOUNDS, finishedOf, openDeliveryFixture, RETRIES } from '../../../test/fixtures/webhooks/delivery.ts';
import { openDatabase, type Sql } from '../../db/database.ts';
import { makeId } from '../../platform/clock.ts';
import { dropWaiting } from './drop-store.ts';
import { findWebhooksDue, readBodies, readDue, readDueOfWebhook } from './due-store.ts';
import type { FinishedAttempt } from './recording/finished-attempt.ts';
import { recordWithStreaks } from './recording/follow-attempts.ts';
import { finishSuccesses } from './recording/success-store.ts';
import type { Attempt } from './send.ts';

const ROWS = 2_000;
const BATCH = 10;

type Place = { shard: number; webhookId: string };
type Case = (sql: Sql, place: Place, attempts: Attempt[]) => Promise<unknown>;

const everything = { fromMs: Number.NEGATIVE_INFINITY, limit: 100 };
const unknown = { known: [], withSettings: true };
const finishedOfAll = (attempts: Attempt[], succeeded: boolean): FinishedAttempt[] =>
  attempts.map((attempt) => finishedOf(attempt, { succeeded }));

const CASES: Record<string, Case> = {
  'recording successes': (sql, _, attempts) => finishSuccesses(sql, finishedOfAll(attempts, true)),
  'recording failures': (sql, _, attempts) =>
    recordWithStreaks(
      { transaction: (work) => work(sql) },
      { attempts: finishedOfAll(attempts, false), ...DISABLE_BOUNDS, ...RETRIES },
    ),
  'reading what is due': (sql, { shard }) =>
    readDue(sql, { ...everything, shards: [shard], untilMs: Date.now() + 60_000, without: [], known: [] }),
  'reading what is due of a webhook': (sql, place) =>
    readDueOfWebhook(sql, { ...everything, ...place, ...unknown, untilMs: Date.now() + 60_000 }),
  'reading what is due of a webhook that is known': (sql, place) =>
    readDueOfWebhook(sql, { ...everything, ...place, known: [], withSettings: false, untilMs: Date.now() + 60_000 }),
  'searching for webhooks': (sql, { shard }) => findWebhooksDue(sql, { shard, untilMs: Date.now() + 60_000 }),
  'reading bodies': (sql, _, attempts) =>
    readBodies(
      sql,
      attempts.map(({ delivery }) => delivery),
    ),
  'dropping nothing': (sql, { shard }) =>
    dropWaiting(sql, { shard, webhookId: 'wh_none', url: '', allowed: { by: 'others' } }),
};

for (const [name, run] of Object.entries(CASES)) {
  test(`${name} reads few rows when the plan was made on a table that was nearly empty`, async () => {
    await using fixture = await openDeliveryFixture();
    const account = await fixture.account();
    const webhook = await fixture.webhook(account);
    const place = { shard: account.shard, webhookId: webhook.id };
    await fixture.emit(account);
    await fixture.db.run({ text: 'update webhooks set has_succeeded = true' });
    await fixture.db.run({ text: 'vacuum analyze' });
    const deliverer = openDatabase(fixture.db.url, { maxConnections: 1, plansOnce: true });
    const [first] = await fixture.due(account);
    await run(deliverer, place, [{ ...first!, delivery: { ...first!.delivery, attemptId: makeId('dlv') } }]);
    for (let i = 1; i < BATCH; i++) await fixture.emit(account);
    const due = await fixture.due(account);
    await fixture.db.run({
      text: `insert into deliveries (shard, id, account_id, webhook_id, event_id, event_type, attempt_id, next_at, created_at)
        select shard, id || n, account_id, webhook_id || n % 7, event_id || n, event_type, attempt_id || n,
          next_at + interval '1 hour', created_at
        from (select * from deliveries limit 1) d, generate_series(1, ${ROWS}) n`,
    });

    const read = await countRowsRead(deliverer, 'deliveries', (tx) => run(tx, place, due));
    await deliverer.close();

    assert.ok(read <= 5 * BATCH, `${read} rows`);
  });
}
