import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { Socket } from 'node:net';
import test, { type TestContext } from 'node:test';
import type { WebSocket } from 'ws';
import { Slices } from '../../platform/slices.ts';
import { MessageBudgets } from './message-budgets.ts';
import { OpenSocket } from './open-socket.ts';

const MIB = 2 ** 20;

/** A socket whose client does what the test sets, and a clock that the test advances. */
function openEnvironment(t: TestContext) {
  let nowMs = 0;
  t.mock.timers.enable({ apis: ['setInterval'] });
  t.mock.method(performance, 'now', () => nowMs);
  const calls: string[] = [];
  const raw = Object.assign(new EventEmitter(), {
    bufferedAmount: 0,
    isPaused: false,
    close: (code: number) => void calls.push(`close ${code}`),
    terminate: () => void calls.push('terminate'),
    ping: () => void calls.push('ping'),
    pause: () => undefined,
    resume: () => undefined,
  });
  const socket = new OpenSocket(
    raw as unknown as WebSocket,
    new Socket(),
    new MessageBudgets(new Slices()).of('acct_1'),
  );
  socket.use({ binary: () => undefined, text: () => undefined, closed: () => undefined });
  const advance = (seconds: number) => {
    for (let second = 0; second < seconds; second++) {
      nowMs += 1_000;
      t.mock.timers.tick(1_000);
    }
  };
  return { raw, calls, advance };
}

test('a client that leaves 1 MiB unread for 30 s is closed with 4003', (t) => {
  const { raw, calls, advance } = openEnvironment(t);
  const answer = () => raw.emit('pong');
  raw.bufferedAmount = MIB;
  advance(20);
  answer();
  // It has read some of it.
  raw.bufferedAmount = MIB - 1;
  advance(5);
  raw.bufferedAmount = MIB;
  advance(15);
  answer();
  advance(15);
  const before = calls.filter((call) => call !== 'ping');
  advance(5);

  assert.deepEqual(before, []);
  assert.deepEqual(calls.slice(-2), ['close 4003', 'terminate']);
});

test('a client is pinged every 15 s, and one that answers nothing for 35 s is closed with 4008', (t) => {
  const { raw, calls, advance } = openEnvironment(t);
  advance(15);
  raw.emit('pong');
  advance(34);
  const before = [...calls];
  advance(1);

  assert.deepEqual(before, ['ping', 'ping', 'ping']);
  assert.deepEqual(calls.slice(-2), ['close 4008', 'terminate']);
});

test('what a client that has to wait does not send is not held against it', (t) => {
  const { raw, calls, advance } = openEnvironment(t);
  raw.isPaused = true;
  advance(120);
  raw.isPaused = false;
  advance(30);

  assert.ok(calls.every((call) => call === 'ping'));
});
