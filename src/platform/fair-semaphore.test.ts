import assert from 'node:assert/strict';
import test from 'node:test';
import { setImmediate as nextEventLoopTurn } from 'node:timers/promises';
import { randomFrom } from '../../test/fixtures/random.ts';
import { openFairSemaphore } from './fair-semaphore.ts';

/** Work that the test ends by name; `started` lists the calls in the order of their start. */
function openWork(semaphore: ReturnType<typeof openFairSemaphore>) {
  const started: string[] = [];
  const ends: { name: string; end: () => void }[] = [];
  return {
    started,
    ends,
    run: (name: string) =>
      semaphore(name[0]!, () => {
        const { promise, resolve } = Promise.withResolvers<void>();
        started.push(name);
        ends.push({ name, end: resolve });
        return promise;
      }),
    async end(name: string) {
      const index = ends.findIndex((entry) => entry.name === name);
      ends.splice(index, 1)[0]!.end();
      await nextEventLoopTurn();
    },
  };
}

test('one owner never holds all permits, and waiting owners are served round-robin', async () => {
  const work = openWork(openFairSemaphore({ permits: 3, perOwner: 2 }));
  const done = ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1'].map(work.run);
  await nextEventLoopTurn();
  assert.deepEqual(work.started, ['a1', 'a2', 'b1']);

  await work.end('a1');
  await work.end('a2');
  await work.end('b1');
  await work.end('a3');

  assert.deepEqual(work.started, ['a1', 'a2', 'b1', 'a3', 'b2', 'c1', 'a4']);
  for (const name of ['b2', 'c1', 'a4']) await work.end(name);
  await Promise.all(done);
});

test('work that fails releases its permit', async () => {
  const semaphore = openFairSemaphore({ permits: 1, perOwner: 1 });

  await assert.rejects(
    semaphore('a', async () => Promise.reject(new Error('broken'))),
    /broken/,
  );

  assert.equal(await semaphore('a', async () => 'done'), 'done');
});

test('a call that is aborted while it waits takes no permit, and the owner keeps its turn', async () => {
  const semaphore = openFairSemaphore({ permits: 1, perOwner: 1 });
  const first = Promise.withResolvers<void>();
  const running = semaphore('a', () => first.promise);
  const aborting = new AbortController();
  const abandoned = semaphore('b', () => assert.fail('started'), aborting.signal);
  const kept = semaphore('b', async () => 'kept', new AbortController().signal);
  aborting.abort(new Error('hung up'));

  await assert.rejects(abandoned, /hung up/);
  first.resolve();
  await running;

  assert.equal(await kept, 'kept');
  await assert.rejects(
    semaphore('c', () => assert.fail('started'), aborting.signal),
    /hung up/,
  );
  assert.equal(await semaphore('c', async () => 'done'), 'done');
});

test('under random load both limits hold and all calls complete', async () => {
  const random = randomFrom(20261122);
  const semaphore = openFairSemaphore({ permits: 4, perOwner: 2 });
  const running: string[] = [];

  const all = Array.from({ length: 300 }, async () => {
    const owner = random.pick(['a', 'b', 'c', 'd', 'e']);
    await semaphore(owner, async () => {
      running.push(owner);
      assert.ok(running.length <= 4 && running.filter((other) => other === owner).length <= 2, running.join());
      for (let turns = random.integer(5); turns >= 0; turns--) await nextEventLoopTurn();
      running.splice(running.indexOf(owner), 1);
    });
  });

  await Promise.all(all);
  assert.deepEqual(running, []);
});
