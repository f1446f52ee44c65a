import assert from 'node:assert/strict';
import test from 'node:test';
import { openGate } from '../../platform/gate.ts';
import { lookAhead } from './look-ahead.ts';

async function* numbers(count: number, onRead: (n: number) => void = () => undefined) {
  for (let n = 0; n < count; n++) {
    onRead(n);
    yield n;
  }
}
const turns = () => new Promise<void>((resolve) => setImmediate(resolve));

test('results come in the order of the items, whichever is done first', async () => {
  const answers = Array.from({ length: 3 }, () => Promise.withResolvers<string>());
  const results = lookAhead(numbers(3), { ahead: 3, work: (n) => answers[n]!.promise, abort: () => undefined });
  for (const n of [2, 0, 1]) answers[n]!.resolve(`answer ${n}`);

  assert.deepEqual(await Array.fromAsync(results), ['answer 0', 'answer 1', 'answer 2']);
});

test('the source is read no further ahead than allowed', async () => {
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

test('when one item fails the rest is aborted and waited for', async () => {
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

test('a gate lets in as many at once as it has places, in the order they came', async () => {
  const gate = openGate(2);
  const began: number[] = [];
  const doors = Array.from({ length: 4 }, () => Promise.withResolvers<void>());
  const all = doors.map(({ promise }, n) =>
    gate(async () => {
      began.push(n);
      await promise;
    }),
  );
  await turns();
  assert.deepEqual(began, [0, 1]);

  doors[1]!.resolve();
  await turns();
  assert.deepEqual(began, [0, 1, 2]);

  for (const door of doors) door.resolve();
  await Promise.all(all);
  assert.deepEqual(began, [0, 1, 2, 3]);
});

test('who gives up waiting at a gate takes no place', async () => {
  const gate = openGate(1);
  const first = Promise.withResolvers<void>();
  const holding = gate(() => first.promise);
  const impatient = new AbortController();
  const waiting = gate(() => assert.fail('let in'), impatient.signal);

  impatient.abort(new Error('enough'));
  await assert.rejects(waiting, /enough/);
  first.resolve();
  await holding;

  assert.equal(await gate(async () => 'in'), 'in');
});

test('work that fails leaves its place', async () => {
  const gate = openGate(1);

  await assert.rejects(gate(() => Promise.reject(new Error('broken'))));

  assert.equal(await gate(async () => 'in'), 'in');
});
