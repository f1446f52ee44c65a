import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import type { Attempt } from '../delivery/forwarder.ts';
import type { Outcome } from '../delivery/post.ts';
import { KeptEvents, readKeys } from './keys.ts';

const attemptOf = (id: string, status: number, retryInMs: number | null = null): Attempt => {
  const outcome: Outcome = { kind: 'answered', status, headers: {}, body: '' };
  const event = { id, type: 'webhook.test', body: '' };
  return {
    event,
    url: new URL('http://a'),
    attempt: 1,
    request: { headers: {}, body: '' },
    outcome,
    durationMs: 1,
    retryInMs,
  };
};

function resent(kept: KeptEvents): string[] {
  const ids: string[] = [];
  kept.resend({ accept: async ({ id }) => ({ ended: Promise.resolve(void ids.push(id)) }) });
  return ids;
}

test('events whose attempts are used up are sent again, once', () => {
  const kept = new KeptEvents();
  for (const attempt of [attemptOf('a', 500), attemptOf('b', 204), attemptOf('c', 500, 1_000), attemptOf('d', 404)]) {
    kept.add(attempt);
  }

  assert.deepEqual([resent(kept), resent(kept)], [['a', 'd'], []]);
});

test('one that succeeds later is not kept, and of very many the last 100 are', () => {
  const kept = new KeptEvents();
  for (let i = 0; i < 150; i++) kept.add(attemptOf(`evt_${i}`, 500));
  kept.add(attemptOf('evt_149', 200));

  const ids = resent(kept);

  assert.deepEqual([ids.length, ids[0], ids.at(-1)], [99, 'evt_50', 'evt_148']);
});

test('keys call their actions until the end, and the terminal is left as it was', () => {
  const modes: boolean[] = [];
  const keyboard = Object.assign(new PassThrough(), { setRawMode: (isRaw: boolean) => modes.push(isRaw) });
  const pressed: string[] = [];

  const actions = { r: () => pressed.push('r'), q: () => pressed.push('q'), '\u001b[A': () => pressed.push('up') };
  const keys = readKeys(keyboard, actions);
  keyboard.emit('data', 'rxq');
  // As an arrow key sends it, in one piece with another key.
  keyboard.emit('data', '\u001b[Ar');
  keys[Symbol.dispose]();
  keyboard.emit('data', 'r');

  assert.deepEqual(
    [pressed, modes],
    [
      ['r', 'q', 'up', 'r'],
      [true, false],
    ],
  );
});

test('while the keys are suspended, another program has the terminal', async () => {
  const modes: boolean[] = [];
  const keyboard = Object.assign(new PassThrough(), { setRawMode: (isRaw: boolean) => modes.push(isRaw) });
  const pressed: string[] = [];
  using keys = readKeys(keyboard, { r: () => pressed.push('r') });

  const result = await keys.suspend(async () => {
    keyboard.emit('data', 'r');
    return modes.at(-1);
  });
  keyboard.emit('data', 'r');

  assert.deepEqual([result, pressed, modes], [false, ['r'], [true, false, true]]);
});
