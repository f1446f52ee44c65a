import assert from 'node:assert/strict';
import test from 'node:test';
import type { Deadline } from '../../egress/deadlines.ts';
import { HandshakeLimiter, type HandshakePermit } from './handshake-limiter.ts';

/** A limiter of 12 permits; no time passes but by `expireAll`. */
function openEnvironment() {
  const open: Deadline[] = [];
  const deadlines = {
    start() {
      const deadline = { isExpired: false, onExpired: () => undefined, cancel: () => undefined };
      open.push(deadline);
      return deadline;
    },
  };
  const limiter = new HandshakeLimiter({ permits: 12, maxWaitMs: 5_000, deadlines });
  const granted: string[] = [];
  const permits = new Map<string, HandshakePermit>();
  async function acquire(name: string, isDegraded: boolean): Promise<void> {
    const permit = await limiter.acquire(isDegraded);
    granted.push(name);
    permits.set(name, permit!);
  }
  return {
    granted,
    acquire: (name: string, isDegraded: boolean) => void acquire(name, isDegraded),
    expireAll: () => open.splice(0).forEach((deadline) => void deadline.onExpired()),
    release: (name: string) => permits.get(name)!.release(),
    settle: () => new Promise<void>((resolve) => setImmediate(resolve)),
  };
}

test('degraded receivers get a sixth of the permits, healthy ones get all', async () => {
  const { acquire, granted, settle } = openEnvironment();

  for (let at = 0; at < 14; at++) acquire(`degraded ${at}`, true);
  for (let at = 0; at < 14; at++) acquire(`healthy ${at}`, false);
  await settle();

  assert.equal(granted.filter((name) => name.startsWith('degraded')).length, 2);
  assert.equal(granted.filter((name) => name.startsWith('healthy')).length, 10);
});

test('a released permit goes to a healthy receiver first, and to a degraded one only within its share', async () => {
  const { acquire, granted, release, settle } = openEnvironment();
  for (let at = 0; at < 10; at++) acquire(`healthy ${at}`, false);
  for (let at = 0; at < 4; at++) acquire(`degraded ${at}`, true);
  acquire('late', false);
  await settle();

  release('healthy 0');
  release('healthy 1');
  await settle();
  const afterHealthy = granted.slice(12);
  release('degraded 0');
  await settle();

  assert.deepEqual([afterHealthy, granted.slice(13)], [['late'], ['degraded 2']]);
});

test('a permit held for too long is free again after the answers that have arrived are processed', async () => {
  const { acquire, granted, expireAll, settle } = openEnvironment();
  for (let at = 0; at < 12; at++) acquire(`hanging ${at}`, false);
  await settle();

  expireAll();
  acquire('late', false);
  await Promise.resolve();
  const before = granted.slice(12);
  await settle();

  assert.deepEqual([before, granted.slice(12)], [[], ['late']]);
});
