import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomFrom } from '../../../test/fixtures/random.ts';
import {
  billedMs,
  chargedUnits,
  costUnits,
  creditsFromUnits,
  creditsToCover,
  creditsWithin,
  holdGrowthUnits,
  type PricedEnd,
  unitsFromCredits,
} from './price.ts';

const COSTS: [durationMs: number, creditsPerMinute: number, units: number, credits: number][] = [
  [0, 1, 0, 0],
  [1, 1, 1000, 0.000017],
  [60_000, 1, 60_000_000, 1],
  [60_000, 2, 120_000_000, 2],
  [12_345, 2, 24_690_000, 0.4115],
  [60_000, 0, 0, 0],
  [60_000, 0.001, 60_000, 0.001],
  [1, 0.001, 1, 0],
  [100, 0.3, 30_000, 0.0005],
  [90_000, 1.005, 90_450_000, 1.5075],
  [14_400_000, 1000, 14_400_000_000_000, 240_000],
  [1_000_000_000, 1000, 1_000_000_000_000_000, 16_666_666.666667],
];

for (const [durationMs, rate, units, credits] of COSTS) {
  test(`${durationMs} ms at ${rate} credits a minute cost ${credits} credits`, () => {
    assert.equal(costUnits(durationMs, rate), units);
    assert.equal(creditsFromUnits(units), credits);
  });
}

const BROKEN: [durationMs: number, creditsPerMinute: number][] = [
  [-1, 1],
  [0.5, 1],
  [Number.NaN, 1],
  [Number.POSITIVE_INFINITY, 1],
  [1, -1],
  [1, Number.NaN],
  [1, Number.POSITIVE_INFINITY],
  [2 ** 50, 1000],
];

for (const [durationMs, rate] of BROKEN) {
  test(`a cost of ${durationMs} ms at ${rate} is refused, not rounded`, () => {
    assert.throws(() => costUnits(durationMs, rate), RangeError);
  });
}

const BILLED: [samples: number, ms: number][] = [
  [0, 0],
  [1, 1],
  [16, 1],
  [17, 2],
  [16_000, 1000],
  [4_796_161, 299_761],
];

for (const [samples, ms] of BILLED) {
  test(`${samples} samples at 16 kHz are charged as ${ms} ms`, () => {
    assert.equal(billedMs(samples, 16_000), ms);
  });
}

const CHARGES: [end: PricedEnd, units: number][] = [
  ['completed', 900],
  ['canceled', 600],
  ['insufficient_balance', 600],
  ['unprocessable_audio', 600],
  ['engine_error', 0],
  ['engine_timeout', 0],
];

for (const [end, units] of CHARGES) {
  test(`a job that ends with ${end} after 600 of 900 units could be read costs ${units}`, () => {
    assert.equal(chargedUnits(end, { audioUnits: 900, transcribedUnits: 600 }), units);
  });
}

const GROWTHS: [heldUnits: number, decodedUnits: number, growth: number][] = [
  [0, 0, 0],
  [0, 500, 500],
  [300, 500, 200],
  [500, 500, 0],
  [501, 500, 0],
];

for (const [heldUnits, decodedUnits, growth] of GROWTHS) {
  test(`a hold of ${heldUnits} units grows by ${growth} when ${decodedUnits} were decoded`, () => {
    assert.equal(holdGrowthUnits({ heldUnits, decodedUnits }), growth);
  });
}

const CREDITS: [credits: number, units: number][] = [
  [0, 0],
  [1, 60_000_000],
  [-1, -60_000_000],
  [593.25, 35_595_000_000],
  [0.1, 6_000_000],
  [0.000001, 60],
  [-0.1, -6_000_000],
  [100_000_000, 6_000_000_000_000_000],
];

for (const [credits, units] of CREDITS) {
  test(`${credits} credits are ${units} units, there and back`, () => {
    assert.equal(unitsFromCredits(credits), units);
    assert.equal(creditsFromUnits(units), credits);
  });
}

test('credits that cannot be counted exactly are refused', () => {
  const tooMany = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 151_000_000, -151_000_000];

  for (const credits of tooMany) assert.throws(() => unitsFromCredits(credits), RangeError);
});

test('nothing is a negative zero', () => {
  assert.ok(Object.is(unitsFromCredits(-0), 0));
  assert.ok(Object.is(creditsFromUnits(-1), 0));
});

test('parts of a length cost together what the whole costs, and credits with six decimals survive the way', () => {
  const random = randomFrom(60_000_000);
  for (let i = 0; i < 5_000; i++) {
    const [first, second] = [random.integer(14_400_000), random.integer(14_400_000)];
    const rate = random.integer(1_000_001) / 1000;
    const credits = (random.integer(2_000_000_000) - 1_000_000_000) / 1_000_000;

    assert.equal(costUnits(first, rate) + costUnits(second, rate), costUnits(first + second, rate));
    assert.equal(creditsFromUnits(unitsFromCredits(credits)), credits + 0);
  }
});

test('a price is rounded up and what is available down, so that the price of a shortage is the greater one', () => {
  const second = costUnits(1000, 2);

  assert.deepEqual([creditsToCover(second), creditsWithin(second)], [0.033334, 0.033333]);
  assert.deepEqual([creditsToCover(60_000_000), creditsWithin(60_000_000)], [1, 1]);
  assert.ok(unitsFromCredits(creditsToCover(second)) >= second);
  assert.equal(creditsWithin(-1), -0.000001);
});
