import assert from 'node:assert/strict';
import test from 'node:test';
import { LargeBodies } from './large-bodies.ts';

const MIB = 1024 * 1024;
const attempt = (accountId: string, bodyBytes = MIB) => ({
  delivery: { shard: accountId === 'a' ? 1 : 2, accountId, bodyBytes },
});
const accountsOf = (attempts: ReturnType<typeof attempt>[]) =>
  attempts.map(({ delivery }) => delivery.accountId).join('');

function takeAll(bodies: LargeBodies<ReturnType<typeof attempt>>) {
  const all: ReturnType<typeof attempt>[] = [];
  for (let taken = bodies.take(); taken.length > 0; taken = bodies.take()) all.push(...taken);
  return all;
}

test('accounts take turns, and one read brings at most 2 MiB', () => {
  const bodies = new LargeBodies<ReturnType<typeof attempt>>();
  for (const accountId of 'aaaaabc') bodies.add(attempt(accountId));

  const reads = [bodies.take(), bodies.take(), bodies.take(), bodies.take(), bodies.take()].map(accountsOf);

  assert.deepEqual(reads, ['ab', 'ca', 'aa', 'a', '']);
});

test('an account has a quarter of what is free in flight, and others get theirs at once', () => {
  const bodies = new LargeBodies<ReturnType<typeof attempt>>();
  for (let i = 0; i < 200; i++) bodies.add(attempt('a'));

  const first = takeAll(bodies);
  bodies.add(attempt('b'));
  const other = takeAll(bodies);
  bodies.ended(first[0]!.delivery);
  const next = takeAll(bodies);

  assert.equal(first.length, 25);
  assert.deepEqual([accountsOf(other), accountsOf(next)], ['b', 'a']);
});

test('many accounts together have at most 128 MiB in flight, and more when one ends', () => {
  const bodies = new LargeBodies<ReturnType<typeof attempt>>();
  for (let i = 0; i < 2_000; i++) bodies.add(attempt(`account ${i % 200}`));

  const first = takeAll(bodies);
  bodies.ended(first[0]!.delivery);

  assert.deepEqual([first.length, takeAll(bodies).length], [128, 1]);
});

test('what waits in a shard is removed, and a body larger than a read is read alone', () => {
  const bodies = new LargeBodies<ReturnType<typeof attempt>>();
  for (const one of [attempt('a'), attempt('b', 5 * MIB), attempt('b')]) bodies.add(one);

  const removed = bodies.remove(({ shard }) => shard === 1);

  assert.deepEqual([accountsOf(removed), accountsOf(bodies.take()), accountsOf(bodies.take())], ['a', 'b', 'b']);
});
