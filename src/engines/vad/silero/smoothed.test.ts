import assert from 'node:assert/strict';
import test from 'node:test';
import { Smoothed } from './smoothed.ts';

const CASES: { what: string; probabilities: number[]; decisions: string }[] = [
  { what: 'speech begins at the second probability above', probabilities: [0.6, 0.6, 0.6], decisions: '-++' },
  { what: 'one probability above is no speech', probabilities: [0.9, 0.4, 0.9, 0.4], decisions: '----' },
  { what: 'a little below, speech goes on', probabilities: [0.6, 0.6, 0.4, 0.36, 0.4], decisions: '-++++' },
  {
    what: 'speech ends at the second probability clearly below',
    probabilities: [0.6, 0.6, 0.1, 0.1],
    decisions: '-++-',
  },
  { what: 'a pause of one window is none', probabilities: [0.6, 0.6, 0.1, 0.6, 0.1, 0.6], decisions: '-+++++' },
  { what: 'a pause may have a window in its middle', probabilities: [0.6, 0.6, 0.1, 0.4, 0.1], decisions: '-+++-' },
  { what: 'after the end it begins anew', probabilities: [0.6, 0.6, 0.1, 0.1, 0.6, 0.6], decisions: '-++--+' },
];

for (const { what, probabilities, decisions } of CASES) {
  test(what, () => {
    const smoothed = new Smoothed(0.5);

    assert.equal(probabilities.map((one) => (smoothed.next(one) ? '+' : '-')).join(''), decisions);
  });
}

test('after a reset it begins anew', () => {
  const smoothed = new Smoothed(0.5);
  smoothed.next(0.9);
  smoothed.reset();

  assert.equal(smoothed.next(0.9), false);
  assert.equal(smoothed.next(0.9), true);
});
