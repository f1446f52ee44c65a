import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import { test } from 'node:test';
import type { LiveUpdate } from '#sdk/client/index.ts';
import { Output, type OutputOptions } from '../terminal/output.ts';
import { LiveView } from './live-view.ts';

const CLEAR = '\r\u001b[K';

const partial = (text: string): LiveUpdate => ({ type: 'partial', index: 0, start: 61, end: 63, text, stable: 0 });
const segment = (text: string): LiveUpdate => ({
  type: 'segment',
  seq: 1,
  index: 0,
  start: 61,
  end: 63,
  text,
  confidence: null,
  reason: 'endpoint',
  words: [{ start: 61.5, end: 62, text, confidence: null }],
});
const WARNING: LiveUpdate = { type: 'warning', code: 'balance_low', message: 'Add credits.' };

function screen(isTerminal: boolean) {
  let text = '';
  const stream = new Writable({
    write(chunk, _encoding, done) {
      text += chunk;
      done();
    },
  });
  return { stream: Object.assign(stream, isTerminal ? { isTTY: true, columns: 20 } : {}), text: () => text };
}

function show(
  updates: LiveUpdate[],
  {
    isTerminal = [true, true],
    how = { isResult: true, hasWords: false },
    ...options
  }: Partial<OutputOptions> & {
    isTerminal?: [boolean, boolean];
    how?: { isResult: boolean; hasWords: boolean };
  } = {},
) {
  const [stdout, stderr] = [screen(isTerminal[0]), screen(isTerminal[1])];
  const view = new LiveView(
    new Output({ stdout: stdout.stream, stderr: stderr.stream, env: {}, color: 'never', ...options }),
    how,
  );
  for (const update of updates) view.show(update);
  view.end();
  return [stdout.text(), stderr.text()];
}

test('on a terminal the open words stand in one line, cut at their beginning, and the final text replaces them', () => {
  const updates = [partial('so my'), partial('so my fellow \u001b[2J americans'), segment('So my fellow Americans')];

  assert.deepEqual(show(updates), [
    `${CLEAR}so my${CLEAR}… \\x1b[2J americans${CLEAR}1:01  So my fellow Americans\n`,
    '',
  ]);
});

test('into a pipe only final texts are written, or their words with times', () => {
  const updates = [partial('hel'), segment('hello'), partial('wor')];

  assert.deepEqual(show(updates, { isTerminal: [false, false] }), ['hello\n', '']);
  assert.deepEqual(show(updates, { isTerminal: [false, false], how: { isResult: true, hasWords: true } }), [
    '1:01.50  1:02.00  hello\n',
    '',
  ]);
});

test('where the transcript is written at the end, the texts are notes', () => {
  const how = { isResult: false, hasWords: false };

  assert.deepEqual(show([partial('hel'), segment('hello')], { isTerminal: [false, true], how }), [
    '',
    `${CLEAR}hel${CLEAR}1:01  hello\n`,
  ]);
});

test('with --json each update is a line; with -q nothing is shown but warnings', () => {
  const [lines] = show([partial('hel'), segment('hello')], { json: true });

  assert.deepEqual(
    lines!
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).event),
    ['partial', 'segment'],
  );
  assert.deepEqual(show([partial('hel'), segment('hello'), WARNING], { quiet: true }), ['', 'Add credits.\n']);
});

test('a warning does not stand in the line of the open words', () => {
  const updates = [partial('hello'), WARNING, partial('hello world')];

  assert.deepEqual(show(updates), [`${CLEAR}hello${CLEAR}${CLEAR}hello world${CLEAR}`, 'Add credits.\n']);
});
