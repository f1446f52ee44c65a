import assert from 'node:assert/strict';
import test from 'node:test';
import { voiceOf, voicesOf, withMerges } from './voices.ts';

const part = (start: number, end: number, voice: { speaker?: string | null; channel?: number } = {}) => ({
  start,
  end,
  ...voice,
});

test('speakers are listed in the order of their first words, with the time that they speak', () => {
  const voices = voicesOf([part(0, 2, { speaker: 'B' }), part(2, 3, { speaker: 'A' }), part(3, 4.5, { speaker: 'B' })]);

  assert.deepEqual(
    [...voices.values()].map(({ label, color, seconds }) => [label, color, seconds]),
    [
      ['Speaker B', 0, 3.5],
      ['Speaker A', 1, 1],
    ],
  );
});

test('channels are counted from one; a speaker of a channel is another voice than the same letter elsewhere', () => {
  const voices = voicesOf([part(0, 1, { channel: 0 }), part(0, 1, { channel: 1, speaker: null })]);
  const both = voicesOf([part(0, 1, { channel: 0, speaker: 'A' }), part(0, 1, { channel: 1, speaker: 'A' })]);

  assert.deepEqual(
    [...voices.values()].map(({ label }) => label),
    ['Channel 1', 'Channel 2'],
  );
  assert.deepEqual(
    [...both.values()].map(({ label }) => label),
    ['Speaker A, channel 1', 'Speaker A, channel 2'],
  );
});

test('without speakers and channels there is no legend, and more voices than colours share them', () => {
  const many = voicesOf(Array.from({ length: 9 }, (_, channel) => part(0, 1, { channel })));

  assert.deepEqual([voiceOf(part(0, 1)), voicesOf([part(0, 1), part(1, 2, { speaker: null })]).size], [null, 0]);
  assert.equal([...many.values()].at(-1)!.color, 0);
});

test('a speaker who was given a name has it', () => {
  const parts = [part(0, 2, { speaker: 'A' }), part(2, 3, { speaker: 'B' }), part(3, 4, { speaker: 'A', channel: 0 })];

  const labels = [...voicesOf(parts, { A: 'Anna' }).values()].map(({ label }) => label);

  assert.deepEqual(labels, ['Anna', 'Speaker B', 'Anna, channel 1']);
});

test('a merged speaker is heard as the other one', () => {
  const parts = [part(0, 2, { speaker: 'A' }), part(2, 3, { speaker: 'B' }), part(3, 4, { speaker: null })];

  const voices = voicesOf(parts.map((each) => withMerges(each, { B: 'A' })));

  assert.deepEqual(
    [...voices.values()].map(({ label, speaker, seconds }) => [label, speaker, seconds]),
    [['Speaker A', 'A', 3]],
  );
});
