import assert from 'node:assert/strict';
import test from 'node:test';
import { verifyDelivery } from '#sdk/webhooks/signature.ts';
import { migrate } from '../../src/db/schema/migrate.ts';
import { readMigrations } from '../../src/db/schema/migrations.ts';
import { TONE_MODEL, toneWav } from '../fixtures/audio/test-audio.ts';
import { openReceiver } from '../fixtures/webhooks/receiver.ts';
import { openWebhookService } from '../fixtures/webhooks/webhook-service.ts';

/** A migration of a newer release while older nodes run: it adds a column to every table. */
const NEWER = {
  version: 9999,
  name: '9999_newer.sql',
  sql: `
    do $$
    declare
      name text;
    begin
      for name in
        select relname
        from pg_class
        where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
      loop
        execute format('alter table %I add column newer integer not null default 0', name);
      end loop;
    end
    $$`,
};

test('a running node keeps working while a newer release migrates its database, and cannot be started on it again', async () => {
  await using receiver = await openReceiver();
  const engine = `sherpa-onnx:${TONE_MODEL}`;
  await using environment = await openWebhookService([receiver.port], { ENGINE_LITE: engine, ENGINE_PRO: engine });
  const node = await environment.start('api,transcriber,deliverer,janitor');
  const caller = await environment.caller(node);
  const webhook = await caller.webhook(receiver.url);
  const statuses: number[] = [];
  async function submit(text: string) {
    const form = new FormData();
    form.append('async', 'true');
    form.append('file', new Blob([new Uint8Array(toneWav(text))]), 'tone.wav');
    statuses.push((await caller.call('POST', '/v1/transcribe', form)).status);
    statuses.push((await caller.call('GET', '/v1/jobs')).status);
  }

  // These requests prepare the statements on the older schema.
  await submit('before');
  await receiver.waitFor(1);
  await Promise.all([migrate(environment.db, [...readMigrations(), NEWER]), submit('while')]);
  await receiver.waitFor(2);
  await submit('after');
  await receiver.waitFor(3);
  const deliveries = (await caller.call('GET', `${webhook.path}/deliveries`)).json;

  const texts = receiver.requests.map(({ headers, body }) => {
    const event = verifyDelivery({ secret: webhook.secret, headers, body });
    return (event.data as { job: { text: string } }).job.text;
  });
  assert.deepEqual(texts, ['before', 'while', 'after']);
  assert.deepEqual(statuses, [202, 200, 202, 200, 202, 200]);
  assert.equal(deliveries.data.length, 3);
  assert.doesNotMatch(node.logText(), /"level":"error"/);
  await assert.rejects(
    environment.start('api'),
    /The database has schema 9999, this release knows \d+\. Start the newer/,
  );
  assert.equal((await fetch(`${node.baseUrl}/readyz`)).status, 200);
});
