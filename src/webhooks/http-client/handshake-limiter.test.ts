import assert from 'node:assert/strict';
import test from 'node:test';
import type { Deadline } from './deadlines.ts';
import { openHandshakeGate } from './handshake-limiter.ts';

/** A gate of 12 places whose deadlines never end by themselves. */
function openEnvironment() {
  const wheel = {
    start: (): Deadline => ({ isOver: false, onOver: () => undefined, cancel: () => undefined }),
    expireAll: () => undefined,
  };
  const gate = openHandshakeGate({ places: 12, maxWaitMs: 5_000, wheel });
  const entered: string[] = [];
  const leaves = new Map<string, () => void>();
  async function come(name: string, isDegraded: boolean): Promise<void> {
    const leave = await gate.enter(isDegraded);
    entered.push(name);
    leaves.set(name, leave!);
  }
  /** Lets everybody in who has a place. */
  const settle = () => new Promise<void>((resolve) => setImmediate(resolve));
  return { come: (name: string, isDegraded: boolean) => void come(name, isDegraded), entered, leaves, settle };
}

test('receivers of which nothing good is known have a sixth of the places, the others all', async () => {
  const { come, entered, settle } = openEnvironment();

  for (let at = 0; at < 14; at++) come(`suspect ${at}`, true);
  for (let at = 0; at < 14; at++) come(`proven ${at}`, false);
  await settle();

  assert.deepEqual(entered.filter((name) => name.startsWith('suspect')).length, 2);
  assert.deepEqual(entered.filter((name) => name.startsWith('proven')).length, 10);
});

test('a place that falls free goes to a proven receiver first, and to nobody past the share of the others', async () => {
  const { come, entered, leaves, settle } = openEnvironment();
  for (let at = 0; at < 10; at++) come(`proven ${at}`, false);
  for (let at = 0; at < 4; at++) come(`suspect ${at}`, true);
  come('late', false);
  await settle();

  leaves.get('proven 0')!();
  leaves.get('proven 1')!();
  await settle();
  const afterProven = entered.slice(12);
  leaves.get('suspect 0')!();
  await settle();

  assert.deepEqual([afterProven, entered.slice(13)], [['late'], ['suspect 2']]);
});
