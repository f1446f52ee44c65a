import assert from 'node:assert/strict';
import test from 'node:test';
import type { HandshakePermit } from './handshake-limiter.ts';
import { HandshakeLimiter } from './handshake-limiter.ts';

/** A limiter of 12 permits whose waits never end by time. */
function openEnvironment() {
  const deadlines = { start: () => ({ isExpired: false, onExpired: () => undefined, cancel: () => undefined }) };
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
