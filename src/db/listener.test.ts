import assert from 'node:assert/strict';
import test from 'node:test';
import { openTestDatabase } from '../../test/fixtures/database/test-database.ts';
import { until } from '../../test/fixtures/until.ts';

test('notifications arrive again after the connection that listens was lost, and the listener learns of it', async () => {
  await using db = await openTestDatabase();
  const words: string[] = [];
  const stop = await db.listen('numbers', (word) => void words.push(word));

  await db.run({ text: `select pg_notify('numbers', 'before')` });
  await until('the notification', () => words.includes('before'));
  await db.run({
    text: `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and query = $1`,
    values: ['listen "numbers"'],
  });
  await until('the next connection', () => words.length > 2);
  await db.run({ text: `select pg_notify('numbers', 'after')` });
  await until('the later notification', () => words.includes('after'));
  await stop();

  assert.deepEqual(words, ['', 'before', '', 'after']);
});

test('subscriptions at the same time are executed one after the other', async () => {
  await using db = await openTestDatabase();
  const warnings: string[] = [];
  const onWarning = ({ message }: Error) => void warnings.push(message);
  process.on('warning', onWarning);
  const stops = [await db.listen('first', () => undefined)];

  const others = ['second', 'third', 'fourth'].map((channel) => db.listen(channel, () => undefined));
  stops.push(...(await Promise.all(others)));
  for (const stop of stops) await stop();
  process.off('warning', onWarning);

  assert.deepEqual(warnings, []);
});
