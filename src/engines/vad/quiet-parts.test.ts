import assert from 'node:assert/strict';
import test from 'node:test';
import type { Interval } from '../../rules/transcript/intervals.ts';
import { type Pcm, SAMPLE_RATE } from '../engine.ts';
import { quietParts } from './quiet-parts.ts';

const CASES: {
  what: string;
  seconds: [length: number, amplitude: number][];
  speech: number[][];
  expected: number[][];
}[] = [
  {
    what: 'after speech',
    seconds: [
      [3, 20_000],
      [4, 200],
    ],
    speech: [[0, 3]],
    expected: [[3.1, 7]],
  },
  {
    what: 'before speech',
    seconds: [
      [4, 200],
      [3, 20_000],
    ],
    speech: [[4, 7]],
    expected: [[0, 3.9]],
  },
  {
    what: 'between speech',
    seconds: [
      [3, 20_000],
      [4, 200],
      [3, 20_000],
    ],
    speech: [
      [0, 3],
      [7, 10],
    ],
    expected: [[3.1, 6.9]],
  },
  {
    what: '6 dB below speech',
    seconds: [
      [3, 20_000],
      [4, 9900],
    ],
    speech: [[0, 3]],
    expected: [[3.1, 7]],
  },
  {
    what: 'not 5 dB below speech',
    seconds: [
      [3, 20_000],
      [4, 11_200],
    ],
    speech: [[0, 3]],
    expected: [],
  },
  {
    what: 'not a short pause',
    seconds: [
      [3, 20_000],
      [1.1, 200],
      [3, 20_000],
    ],
    speech: [
      [0, 3],
      [4.1, 7.1],
    ],
    expected: [],
  },
  {
    what: 'not silence',
    seconds: [
      [3, 20_000],
      [4, 10],
    ],
    speech: [[0, 3]],
    expected: [],
  },
  {
    what: 'not what was detected',
    seconds: [
      [3, 20_000],
      [4, 200],
    ],
    speech: [
      [0, 3],
      [3.5, 7],
    ],
    expected: [],
  },
  { what: 'not audio of one loudness', seconds: [[7, 200]], speech: [], expected: [] },
  { what: 'nothing of no audio', seconds: [], speech: [], expected: [] },
];

function audio(parts: [seconds: number, amplitude: number][]): Pcm {
  return Int16Array.from(
    parts.flatMap(([seconds, amplitude]) => Array(Math.round(seconds * SAMPLE_RATE)).fill(amplitude)),
  );
}

for (const { what, seconds, speech, expected } of CASES) {
  test(`a part to look at again: ${what}`, () => {
    const intervals = speech.map(([startSeconds, endSeconds]) => ({ startSeconds, endSeconds })) as Interval[];

    const found = quietParts(audio(seconds), intervals);

    const rounded = found.map((part) =>
      [part.startSeconds, part.endSeconds].map((value) => Math.round(value * 100) / 100),
    );
    assert.deepEqual(rounded, expected);
  });
}
