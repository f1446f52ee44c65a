import assert from 'node:assert/strict';
import { test } from 'node:test';
import { namePattern } from './name-pattern.ts';

const PATTERNS: [string, string][] = [
  ['a1', '(?:a|A)1'],
  ['É', '(?:É|é)'],
  ['ß', '(?:ß|SS)'],
  ['会', '会'],
  ['.*(x)', '\\.\\*\\((?:x|X)\\)'],
  ['\\d _', '\\\\(?:d|D)\\ \\_'],
];
for (const [text, pattern] of PATTERNS) {
  test(`the pattern of ${JSON.stringify(text)} is ${pattern}`, () => {
    assert.equal(namePattern(text), pattern);
  });
}
