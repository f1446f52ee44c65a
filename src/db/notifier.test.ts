import assert from 'node:assert/strict';
import test from 'node:test';
import { openTestDatabase } from '../../test/fixtures/database/test-database.ts';
import { Notifier } from './notifier.ts';

type Server = ConstructorParameters<typeof Notifier>[0];

/** What a notifier sends: the notifications of each statement; `answer` ends the statement under way. */
function openRecorder({ intervalMs }: { intervalMs?: number } = {}) {
  const sent: string[][] = [];
  let answer = (_error?: Error): void => undefined;
  const run: Server['run'] = async ({ values }) => {
    const [channels, payloads] = values as [string[], string[]];
    sent.push(channels.map((channel, i) => `${channel} ${payloads[i]}`));
    const answered = Promise.withResolvers<void>();
    answer = (error) => (error ? answered.reject(error) : answered.resolve());
    await answered.promise;
  };
  const notifier = new Notifier({ run }, intervalMs);
  return { notifier, sent, answer: (error?: Error) => answer(error) };
}

const nextTick = () => new Promise((resolve) => setImmediate(resolve));

test('notifications that come together are sent by one statement, those of a channel as one payload, each word once', async () => {
  const { notifier, sent } = openRecorder();

  for (const word of ['3', '5', '3']) notifier.add('due', word);
  notifier.add('changed', 'wh_1');
  await nextTick();

  assert.deepEqual(sent, [['due 3,5', 'changed wh_1']]);
});

test('what comes while a statement is under way is sent by the next one, also after a failure', async () => {
  const { notifier, sent, answer } = openRecorder();
  notifier.add('due', '1');
  await nextTick();
  notifier.add('due', '2');
  notifier.add('due', '3');

  answer(new Error('connection lost'));
  const closed = notifier.close();
  while (sent.length < 2) await nextTick();
  answer();
  await closed;

  assert.deepEqual(sent, [['due 1'], ['due 2,3']]);
});

test('after a statement, what comes within the interval is sent by one statement at its end', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { notifier, sent, answer } = openRecorder({ intervalMs: 8 });
  notifier.add('ended', 'job_1');
  await nextTick();
  answer();
  notifier.add('ended', 'job_2');
  t.mock.timers.tick(7);
  await nextTick();
  const sentBefore = sent.length;
  notifier.add('ended', 'job_3');
  t.mock.timers.tick(1);
  await nextTick();

  assert.deepEqual([sentBefore, sent], [1, [['ended job_1'], ['ended job_2,job_3']]]);
});

test('a payload has at most 200 words', async () => {
  const { notifier, sent } = openRecorder();

  for (let i = 0; i < 401; i++) notifier.add('due', String(i));
  await nextTick();

  assert.deepEqual(
    sent[0]!.map((notification) => notification.split(',').length),
    [200, 200, 1],
  );
});

test('a transaction notifies after its commit, each word to every listener, and not when it rolls back', async () => {
  await using db = await openTestDatabase();
  const words: string[] = [];
  const all = Promise.withResolvers<void>();
  const stop = await db.listen('numbers', (word) => {
    if (word !== '') words.push(word);
    if (word === 'last') all.resolve();
  });

  const rolledBack = db.transaction(async (tx) => {
    tx.notify('numbers', 'never');
    throw new Error('rolled back');
  });
  await assert.rejects(rolledBack);
  await db.transaction(async (tx) => {
    for (const word of ['1', '2']) tx.notify('numbers', word);
    await tx.rows({ text: 'select pg_sleep(0.01)' });
    words.push('committed');
  });
  db.notify('numbers', 'last');
  await all.promise;
  await stop();

  assert.deepEqual(words, ['committed', '1', '2', 'last']);
});
