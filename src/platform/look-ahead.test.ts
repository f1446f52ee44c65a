import assert from 'node:assert/strict';
import test from 'node:test';
import { lookAhead } from './look-ahead.ts';

async function* numbers(count: number, onRead: (n: number) => void = () => undefined) {
  for (let n = 0; n < count; n++) {
    onRead(n);
    yield n;
  }
}
const turns = () => new Promise<void>((resolve) => setImmediate(resolve));

test('results come in the order of the items, whichever finishes first', async () => {
  const answers = Array.from({ length: 3 }, () => Promise.withResolvers<string>());
  const results = lookAhead(numbers(3), { ahead: 3, work: (n) => answers[n]!.promise, abort: () => undefined });
  for (const n of [2, 0, 1]) answers[n]!.resolve(`answer ${n}`);

  assert.deepEqual(await Array.fromAsync(results), ['answer 0', 'answer 1', 'answer 2']);
});

test('the source is read no further ahead than the limit', async () => {
  let read = -1;
  const first = Promise.withResolvers<number>();
  const work = (n: number) => (n === 0 ? first.promise : Promise.resolve(n));
  const results = lookAhead(
    numbers(10, (n) => (read = n)),
    { ahead: 3, work, abort: () => undefined },
  );

  const taking = results.next();
  await turns();
  assert.equal(read, 2);

  first.resolve(0);
  await taking;
  await results.return(undefined);
});

test('when one item fails, the others are aborted and awaited', async () => {
  const unfinished = new AbortController();
  let running = 0;
  const results = lookAhead(numbers(3), {
    ahead: 3,
    abort: () => unfinished.abort(new Error('aborted')),
    async work(n) {
      if (n === 0) throw new Error('first failed');
      running++;
      await new Promise((_, reject) =>
        unfinished.signal.addEventListener('abort', () => reject(new Error('aborted'))),
      ).finally(() => running--);
    },
  });

  await assert.rejects(Array.fromAsync(results), /first failed/);

  assert.equal(running, 0);
});
