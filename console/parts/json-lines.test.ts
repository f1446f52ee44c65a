import assert from 'node:assert/strict';
import { test } from 'node:test';
import { prettyJson } from '../text/json-text.ts';
import { countLines, nestLines } from './json-lines.ts';

test('lines of JSON are nested, with their digits and empty parts', () => {
  const [object] = nestLines(prettyJson('{"id":12345678901234567890,"words":[{"a":"{"},{"b":[]}],"end":{}}'));

  assert.equal(object!.text, '{');
  assert.equal(object!.end, '}');
  assert.deepEqual(
    object!.inside.map(({ text, inside, end }) => [text, countLines(inside), end]),
    [
      ['"id": 12345678901234567890,', 0, null],
      ['"words": [', 4, '],'],
      ['"end": {}', 0, null],
    ],
  );
});

test('text that is not JSON stays as it is', () => {
  assert.deepEqual(
    nestLines('plain\n}text').map(({ text }) => text),
    ['plain', '}text'],
  );
});
