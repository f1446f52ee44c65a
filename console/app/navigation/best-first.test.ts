import assert from 'node:assert/strict';
import test from 'node:test';
import { bestFirst } from './best-first.ts';

const named = (...labels: string[]) => labels.map((label) => ({ label }));
const COMMANDS = named('Jobs', 'Webhooks', 'Keyboard shortcuts', 'Sign out', 'API reference');

for (const [text, jobs, wanted] of [
  [
    'board',
    ['Board meeting, November', 'Clipboard', 'The board'],
    ['Board meeting, November', 'The board', 'Keyboard shortcuts', 'Clipboard'],
  ],
  ['s', [], ['Sign out', 'Keyboard shortcuts', 'Jobs', 'Webhooks']],
  ['JOBS', [], ['Jobs']],
  ['zürich', ['Protokoll (Zürich)', 'call.wav'], ['Protokoll (Zürich)', 'call.wav']],
  ['', [], COMMANDS.map(({ label }) => label)],
] as [string, string[], string[]][]) {
  test(`“${text}” finds ${wanted.join(', ')}`, () => {
    const labels = bestFirst(text, COMMANDS, named(...jobs)).map(({ label }) => label);

    assert.deepEqual(labels, wanted);
  });
}
