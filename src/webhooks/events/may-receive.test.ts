import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openTestDatabase } from '../../../test/fixtures/database/test-database.ts';
import { alertsWebhookIdOf, webhookIdOfJob } from '../../rules/ids.ts';
import { EMITTED_TYPES } from './event-types.ts';
import { MAY_RECEIVE, mayReceive } from './may-receive.ts';

const REST = '01kamz2f3q8r5t7v9wxyzabcde';
const JOB = `job_${REST}`;
const OTHER_JOB = `job_${REST.replace('0', '1')}`;
const ACCOUNT = `wh_${REST}`;
const OF_JOB = webhookIdOfJob(JOB);
const ALERTS = alertsWebhookIdOf(`acct_${REST}`);
const WEBHOOKS = [ACCOUNT, OF_JOB, ALERTS];

const CASES = EMITTED_TYPES.flatMap((type) =>
  WEBHOOKS.flatMap((webhookId) =>
    [null, JOB, OTHER_JOB].flatMap((jobId) =>
      [null, ...WEBHOOKS].map((testedId) => ({ webhookId, event: { type, jobId, testedId } })),
    ),
  ),
);

test('the webhook for alerts gets alerts and its own tests, and nothing of jobs', () => {
  const received = CASES.filter(({ webhookId, event }) => webhookId === ALERTS && mayReceive(webhookId, event));

  const kinds = new Set(received.map(({ event }) => `${event.type} ${event.testedId === null ? '' : event.testedId}`));
  assert.deepEqual(
    [...kinds].filter((kind) => !kind.startsWith('webhook.disabled') && !kind.startsWith('webhook.exhausted')),
    ['webhook.test ', `webhook.test ${ALERTS}`],
  );
});

test('events of jobs go to webhooks of the account, and to the webhook of their own job', () => {
  const to = (webhookId: string, jobId: string) =>
    mayReceive(webhookId, { type: 'transcription.completed', jobId, testedId: null });

  assert.deepEqual(
    [to(ACCOUNT, JOB), to(OF_JOB, JOB), to(OF_JOB, OTHER_JOB), to(ALERTS, JOB)],
    [true, true, false, false],
  );
});

test('a test goes to the webhook that it is of, whatever its type', () => {
  for (const type of ['webhook.test', 'transcription.failed'] as const) {
    const to = (webhookId: string) => mayReceive(webhookId, { type, jobId: null, testedId: OF_JOB });
    assert.deepEqual([to(ACCOUNT), to(OF_JOB), to(ALERTS)], [false, true, false]);
  }
});

test('SQL decides as the rule does, for every type, webhook, job and test', async () => {
  await using db = await openTestDatabase();

  const rows = await db.rows<{ number: number; may: boolean }>({
    text: `
      select number::int, ${MAY_RECEIVE('webhook_id', { type: 'type', jobId: 'job_id', testedId: 'tested_id' })} as may
      from unnest($1::text[], $2::text[], $3::text[], $4::text[]) with ordinality
        as cases (webhook_id, type, job_id, tested_id, number)
      order by number`,
    values: [
      CASES.map(({ webhookId }) => webhookId),
      CASES.map(({ event }) => event.type),
      CASES.map(({ event }) => event.jobId),
      CASES.map(({ event }) => event.testedId),
    ],
  });

  assert.deepEqual(
    rows.map(({ may }) => may),
    CASES.map(({ webhookId, event }) => mayReceive(webhookId, event)),
  );
});
