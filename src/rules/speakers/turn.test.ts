import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomFrom } from '../../../test/fixtures/random.ts';
import { labelVoices } from './labels.ts';
import { renumberTurns, secondsOfVoices, soloParts, type Turn } from './turn.ts';

function turn(voice: number, startSeconds: number, endSeconds: number): Turn {
  return { startSeconds, endSeconds, voice };
}

test('turns of voices that are one speaker become one where the pause between them is short', () => {
  const turns = [turn(7, 0, 2), turn(1, 1.5, 3), turn(8, 2.2, 4), turn(7, 5, 6)];

  assert.deepEqual(
    renumberTurns(turns, (voice) => (voice === 1 ? 1 : 0)),
    [turn(0, 0, 4), turn(1, 1.5, 3), turn(0, 5, 6)],
  );
});

test('the solo parts are those in which one voice speaks alone', () => {
  const turns = [turn(0, 0, 4), turn(1, 1, 2), turn(2, 3, 6)];

  assert.deepEqual(soloParts(turns), [turn(0, 0, 1), turn(0, 2, 3), turn(2, 4, 6)]);
});

test('at any moment a solo part is there exactly when one voice speaks', () => {
  const random = randomFrom(3);
  for (let run = 0; run < 300; run++) {
    const turns = Array.from({ length: random.integer(12) }, () => {
      const startSeconds = random.integer(20);
      return turn(random.integer(3), startSeconds, startSeconds + 1 + random.integer(6));
    });
    const parts = soloParts(turns);
    for (let moment = 0.5; moment < 27; moment++) {
      const at = (all: Turn[]) =>
        new Set(all.filter((one) => one.startSeconds < moment && one.endSeconds > moment).map(({ voice }) => voice));
      const speaking = at(turns);
      assert.deepEqual(at(parts), speaking.size === 1 ? speaking : new Set(), `run ${run}, ${moment} s`);
    }
  }
});

test('seconds are summed for each voice', () => {
  assert.deepEqual(
    [...secondsOfVoices([turn(1, 0, 2), turn(0, 1, 4), turn(1, 5, 6)])],
    [
      [1, 3],
      [0, 3],
    ],
  );
});

test('speakers are A to Z, then AA', () => {
  const labels = labelVoices(Array(703).keys());

  assert.deepEqual(
    [0, 1, 25, 26, 27, 51, 52, 701, 702].map((voice) => labels.get(voice)),
    ['A', 'B', 'Z', 'AA', 'AB', 'AZ', 'BA', 'ZZ', 'AAA'],
  );
});

test('labels follow the order in which voices first speak', () => {
  assert.deepEqual(
    [...labelVoices([5, 2, 5, 9])],
    [
      [5, 'A'],
      [2, 'B'],
      [9, 'C'],
    ],
  );
});
