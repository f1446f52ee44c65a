import assert from 'node:assert/strict';
import test from 'node:test';
import { AttemptLimit } from './attempt-limit.ts';

function openLimit() {
  const time = { nowMs: 0 };
  const tokens = new AttemptLimit(undefined, () => time.nowMs);
  const add = (client: string, count: number) => {
    for (let i = 0; i < count; i++) tokens.add(client);
  };
  return { time, tokens, add };
}

test('a client with ten wrong tokens in a minute is refused until the minute is over', () => {
  const { time, tokens, add } = openLimit();
  add('192.0.2.1', 9);
  const before = tokens.retryAfterSeconds('192.0.2.1');
  time.nowMs = 20_500;
  add('192.0.2.1', 1);
  const refused = tokens.retryAfterSeconds('192.0.2.1');
  time.nowMs = 59_999;
  const last = tokens.retryAfterSeconds('192.0.2.1');
  time.nowMs = 60_000;

  assert.deepEqual([before, refused, last], [null, 40, 1]);
  assert.equal(tokens.retryAfterSeconds('192.0.2.1'), null);
});

test('other clients are not refused', () => {
  const { tokens, add } = openLimit();
  add('192.0.2.1', 50);

  assert.equal(tokens.retryAfterSeconds('192.0.2.2'), null);
});

test('after a hundred wrong tokens in a minute, whoever has sent one is refused, and a new client is not', () => {
  const { time, tokens, add } = openLimit();
  for (let i = 0; i < 99; i++) add(`192.0.2.${i}`, 1);
  const before = tokens.retryAfterSeconds('192.0.2.5');
  time.nowMs = 30_000;
  add('192.0.2.99', 1);

  assert.deepEqual([before, tokens.retryAfterSeconds('192.0.2.5')], [null, 30]);
  assert.equal(tokens.retryAfterSeconds('198.51.100.1'), null);
  time.nowMs = 60_000;
  assert.equal(tokens.retryAfterSeconds('192.0.2.99'), null);
});

test('the oldest of too many clients is deleted first', () => {
  const { tokens, add } = openLimit();
  add('first', 10);
  add('second', 10);
  for (let i = 0; i < 9_999; i++) add(`client ${i}`, 1);

  assert.equal(tokens.retryAfterSeconds('first'), null);
  assert.equal(tokens.retryAfterSeconds('second'), 60);
});
