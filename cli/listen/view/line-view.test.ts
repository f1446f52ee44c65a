import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import { test } from 'node:test';
import { ConnectionError } from '#sdk/client/index.ts';
import { Output } from '../../terminal/output.ts';
import type { Attempt } from '../delivery/forwarder.ts';
import type { Outcome } from '../delivery/post.ts';
import { openLineView } from './line-view.ts';

function open({ hasKeys = true, quiet = false } = {}) {
  const lines: string[] = [];
  const sink = new Writable({ write: (chunk, _encoding, done) => done(void lines.push(String(chunk).trimEnd())) });
  const out = new Output({ stdout: sink, stderr: sink, env: {}, quiet });
  return { view: openLineView(out, { hasKeys }), lines };
}

const answered = (status: number): Outcome => ({ kind: 'answered', status, headers: {}, body: '' });
const refused: Outcome = { kind: 'failed', reason: 'refused', message: 'nothing listens on localhost:3000' };
const attemptOf = (outcome: Outcome, more: Partial<Attempt> = {}): Attempt => ({
  event: { id: 'evt_1', type: 'transcription.completed', body: '' },
  url: new URL('http://localhost:3000/hooks?token=hidden'),
  attempt: 1,
  request: { headers: {}, body: '' },
  outcome,
  durationMs: 9.4,
  retryInMs: null,
  ...more,
});
const lineOf = (attempt: Attempt, options = {}) => {
  const { view, lines } = open(options);
  view.attempt(attempt);
  return lines[0]!.replace(/^\d\d:\d\d:\d\d/, 'TIME');
};

test('an attempt is a line with its event, its time and the answer', () => {
  const head = 'transcription.completed  evt_1';

  assert.equal(lineOf(attemptOf(answered(204))), `TIME  →  ${head}     9 ms  204  /hooks`);
  assert.equal(lineOf(attemptOf(answered(500))), `TIME  →  ${head}     9 ms  500  /hooks kept, r sends it again`);
  assert.equal(lineOf(attemptOf(answered(500)), { hasKeys: false }), `TIME  →  ${head}     9 ms  500  /hooks`);
  assert.equal(
    lineOf(attemptOf(answered(302), { retryInMs: 29_500, attempt: 2 })),
    `TIME  ↻  ${head}     9 ms  302  /hooks redirects are not followed again in 30 s`,
  );
  assert.equal(
    lineOf(attemptOf(refused)),
    `TIME  →  ${head}  nothing listens on localhost:3000 kept, r sends it again`,
  );
});

test('with --quiet an attempt is the id of its event', () => {
  assert.equal(lineOf(attemptOf(refused), { quiet: true }), 'evt_1');
});

test('text from outside cannot control the terminal', () => {
  const event = { id: 'evt_\u001b[2J', type: 'a\nb', body: '' };

  assert.match(lineOf(attemptOf(refused, { event })), /a\\x0ab .* evt_\\x1b\[2J/);
});

test('the connection is reported when it is lost, and when it is back', () => {
  const { view, lines } = open();
  const error = new ConnectionError('No answer.');

  view.connection({ state: 'connected' });
  view.connection({ state: 'lost', error, retryInMs: 1_500 });
  view.connection({ state: 'connected' });

  assert.deepEqual(lines, ['connection lost: No answer. Again in 2 s.', 'connected again']);
});

test('the start of the secret is shown, never the rest', () => {
  const { view, lines } = open();
  const account = { name: 'Acme', plan: 'pro' };

  const targets = 'http://localhost:3000/hooks';
  view.start({ account, targets, secret: 'whsec_Zm9vYmFyYmF6', secretSource: 'kept' });
  open({ hasKeys: false }).view.start({ account, targets: '', secret: 'whsec_Zm9vYmFyYmF6', secretSource: 'kept' });

  assert.deepEqual(lines, [
    'listening as Acme (pro) · to http://localhost:3000/hooks · secret whsec_Zm9v…  (kept)',
    'r sends again what failed, q quits; --tui shows events and their details',
  ]);
});

test('events that are no longer kept are reported', () => {
  const { view, lines } = open();

  view.frame({ type: 'gap', data: { from: 'evt_0', oldest_id: 'evt_5' }, resumeId: null }, false);

  assert.deepEqual(lines, ['Events after evt_0 are no longer kept; the oldest is evt_5.']);
});
