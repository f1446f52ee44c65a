import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomFrom } from '../../../test/fixtures/random.ts';
import { mergeVoices, unitVector, type Voice } from './merge-voices.ts';
import { SPEAKERS_MAX } from './turn.ts';

const ANY = { min: 1, max: SPEAKERS_MAX };
const THRESHOLD = 0.45;

/** A voice in a plane: the distance of two is 1 - cos of the angle between them. */
function voice(degrees: number, seconds: number): Voice {
  const angle = (degrees / 180) * Math.PI;
  return { seconds, centroid: [Math.cos(angle), Math.sin(angle)] };
}

for (const { title, voices, bounds = ANY, speakers, isAbsorbed = false } of [
  {
    title: 'voices that are alike are one speaker',
    voices: [voice(0, 60), voice(90, 60), voice(10, 60)],
    speakers: [0, 1, 0],
  },
  {
    title: 'voices that differ remain apart',
    voices: [voice(0, 60), voice(90, 60), voice(180, 60)],
    speakers: [0, 1, 2],
  },
  {
    title: 'a voice with little speech is counted as the nearest',
    voices: [voice(0, 300), voice(120, 300), voice(190, 5)],
    speakers: [0, 1, 1],
    isAbsorbed: true,
  },
  {
    title: 'a voice of 15 s is not little, however long the others are',
    voices: [voice(0, 3000), voice(120, 16)],
    speakers: [0, 1],
  },
  {
    title: 'a voice with a thirtieth of the speech is not little',
    voices: [voice(0, 20), voice(120, 1)],
    speakers: [0, 1],
  },
  {
    title: 'more voices than allowed: the nearest become one',
    voices: [voice(0, 60), voice(90, 60), voice(150, 60)],
    bounds: { min: 1, max: 2 },
    speakers: [0, 1, 1],
  },
  {
    title: 'as many voices as asked for remain, though they are alike',
    voices: [voice(0, 60), voice(90, 60), voice(5, 60)],
    bounds: { min: 3, max: 3 },
    speakers: [0, 1, 2],
  },
  {
    title: 'a voice without an embedding is counted as another when it is short',
    voices: [voice(0, 60), { seconds: 0.2, centroid: [] }],
    speakers: [0, 0],
    isAbsorbed: true,
  },
  { title: 'no voices, no speakers', voices: [], speakers: [] },
] as { title: string; voices: Voice[]; bounds?: typeof ANY; speakers: number[]; isAbsorbed?: boolean }[]) {
  test(title, () => {
    assert.deepEqual(mergeVoices(voices, bounds, THRESHOLD), { speakerOf: speakers, wasAbsorbed: isAbsorbed });
  });
}

test('speakers are numbered without gaps, and are as many as the bounds say where the voices allow it', () => {
  const random = randomFrom(46);
  for (let run = 0; run < 500; run++) {
    const voices = Array.from({ length: 1 + random.integer(30) }, () => ({
      seconds: random.next() * random.pick([1, 20, 500]),
      centroid: unitVector(Array.from({ length: 8 }, () => random.next() - 0.5)),
    }));
    const min = 1 + random.integer(5);
    const max = min + random.integer(5);

    const { speakerOf } = mergeVoices(voices, { min, max }, THRESHOLD);

    const count = new Set(speakerOf).size;
    assert.equal(speakerOf.length, voices.length);
    assert.deepEqual(
      [...new Set(speakerOf)].sort((one, other) => one - other),
      Array.from({ length: count }, (_, at) => at),
    );
    assert.ok(count <= max && count >= Math.min(min, voices.length), `run ${run}: ${count} of ${min} to ${max}`);
  }
});

test('an embedding gets the length 1; one without a direction becomes zeros', () => {
  assert.deepEqual(unitVector([3, 4]), [0.6, 0.8]);
  assert.deepEqual(unitVector([0, 0]), [0, 0]);
  assert.deepEqual(unitVector([Number.NaN, 1]), [0, 0]);
});
