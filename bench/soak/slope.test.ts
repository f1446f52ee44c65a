import assert from 'node:assert/strict';
import test from 'node:test';
import { randomFrom } from '../../test/fixtures/random.ts';
import { type Slope, slopeOf } from './slope.ts';

const HOURS = Array.from({ length: 120 }, (_, at) => at / 40);

function verdictOf(valueAt: (hour: number, random: number) => number | null, noise = 2): Slope['verdict'] {
  const random = randomFrom(7);
  const values = HOURS.map((hour) => valueAt(hour, random.next()));
  return slopeOf({ name: 'memory', unit: 'MiB', noise, values }, HOURS).verdict;
}

test('a series is flat with noise, with single high values and with a warm-up', () => {
  assert.equal(
    verdictOf((_, random) => 150 + 20 * random),
    'flat',
  );
  assert.equal(
    verdictOf((_, random) => (random > 0.9 ? 900 : 150)),
    'flat',
  );
  assert.equal(
    verdictOf((hour) => (hour < 0.5 ? 100 + 100 * hour : 150)),
    'flat',
  );
});

test('a leak of 10 % in the run is found under noise of the same size', () => {
  assert.equal(
    verdictOf((hour, random) => 150 + 6 * hour + 15 * random),
    'grows',
  );
  assert.equal(
    verdictOf((hour, random) => 150 - 6 * hour + 15 * random),
    'falls',
  );
});

test('growth within the noise of a series is flat, and missing values are left out', () => {
  assert.equal(
    verdictOf((hour) => hour, 4),
    'flat',
  );
  assert.equal(
    verdictOf((hour, random) => (random < 0.5 ? null : 100 + 20 * hour)),
    'grows',
  );
  assert.equal(
    verdictOf(() => null),
    'too few values',
  );
});

test('the slope is per hour', () => {
  const { perHour, level } = slopeOf(
    { name: 'rows', unit: '', noise: 1, values: HOURS.map((hour) => 10 * hour) },
    HOURS,
  );
  assert.ok(Math.abs(perHour - 10) < 1e-9);
  assert.ok(level > 15 && level < 21);
});
