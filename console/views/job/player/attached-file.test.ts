import assert from 'node:assert/strict';
import test from 'node:test';
import { checkFile } from './attached-file.ts';

const AUDIO = { size_bytes: 1000, duration_seconds: 100 };

test('a file of the same size is the audio; one of the same length may be', () => {
  assert.deepEqual(checkFile({ sizeBytes: 1000, durationSeconds: Number.NaN }, AUDIO), { kind: 'same' });
  assert.deepEqual(checkFile({ sizeBytes: 999, durationSeconds: 100.9 }, AUDIO), { kind: 'same-length' });
});

test('a file of another length is not', () => {
  assert.deepEqual(checkFile({ sizeBytes: 999, durationSeconds: 98.9 }, AUDIO), {
    kind: 'other',
    why: 'It is 98.9 s long, the audio of the job 100.0 s.',
  });
  for (const durationSeconds of [Number.NaN, Number.POSITIVE_INFINITY]) {
    assert.equal(checkFile({ sizeBytes: 999, durationSeconds }, AUDIO).kind, 'other');
  }
});
