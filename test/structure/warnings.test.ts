import assert from 'node:assert/strict';
import test from 'node:test';
import { WARNING_MESSAGES } from '../../src/rules/jobs/warnings.ts';
import { readSources } from './sources.ts';

test('every warning that the docs list is expected by a test', () => {
  const tests = readSources(['src', 'test'], '.ts').filter(({ isTest }) => isTest);

  const unexpected = Object.keys(WARNING_MESSAGES).filter((code) => !tests.some(({ text }) => text.includes(code)));

  assert.deepEqual(unexpected, []);
});
