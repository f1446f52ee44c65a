import assert from 'node:assert/strict';
import test from 'node:test';
import { randomFrom } from '../../../test/fixtures/random.ts';
import { layOutPhases } from './waterfall.ts';

const timings = (
  dns_ms: number | null,
  connect_ms: number | null,
  tls_ms: number | null,
  first_byte_ms: number | null,
) => ({
  timings: { dns_ms, connect_ms, tls_ms, first_byte_ms, reused: false },
});

test('the phases follow each other, and what is left is the time after the first byte', () => {
  const { phases, totalMs, deadlinePercent, usedPercent } = layOutPhases(
    { ...timings(100, 200, 300, 1400), duration_ms: 2500 },
    5000,
  )!;

  assert.deepEqual(
    phases.map(({ name, startMs, durationMs, startPercent, widthPercent }) => [
      ...[name, startMs, durationMs, startPercent, widthPercent],
    ]),
    [
      ['dns', 0, 100, 0, 2],
      ['connect', 100, 200, 2, 4],
      ['tls', 300, 300, 6, 6],
      ['first_byte', 600, 1400, 12, 28],
      ['rest', 2000, 500, 40, 10],
    ],
  );
  assert.deepEqual([totalMs, deadlinePercent, usedPercent], [2500, 100, 50]);
});

test('an attempt without an answer ends in the phase that did not finish', () => {
  const { phases } = layOutPhases({ ...timings(10, null, null, null), duration_ms: 5000 }, 5000)!;

  assert.deepEqual(
    phases.map(({ name, durationMs }) => [name, durationMs]),
    [
      ['dns', 10],
      ['unfinished', 4990],
    ],
  );
});

test('a short attempt fills the bar, and one past the deadline shows where it was', () => {
  const short = layOutPhases({ ...timings(1, 1, 1, 7), duration_ms: 10 }, 5000)!;
  const late = layOutPhases({ ...timings(1, 1, 1, 4997), duration_ms: 6250 }, 5000)!;

  assert.deepEqual([short.deadlinePercent, short.phases.at(-1)!.widthPercent, short.usedPercent], [null, 70, 0.2]);
  assert.deepEqual([late.deadlinePercent, late.usedPercent], [80, 100]);
});

test('an attempt that was not made has no phases; one refused at once has an empty bar', () => {
  assert.equal(layOutPhases({ ...timings(null, null, null, null), duration_ms: null }, 5000), null);
  assert.deepEqual(layOutPhases({ ...timings(null, null, null, null), duration_ms: 0 }, 5000)!.phases, []);
});

test('no phase leaves the bar, whatever the times are', () => {
  const random = randomFrom(20261122);
  for (let round = 0; round < 500; round++) {
    const time = () => (random.integer(4) === 0 ? null : random.integer(3) === 0 ? 0 : random.integer(4000) / 10);
    const attempt = { ...timings(time(), time(), time(), time()), duration_ms: random.integer(60_000) / 10 };
    for (const { startPercent, widthPercent } of layOutPhases(attempt, 500)!.phases) {
      assert.ok(
        startPercent >= 0 && widthPercent > 0 && startPercent + widthPercent <= 100 + 1e-9,
        `${JSON.stringify(attempt)}`,
      );
    }
  }
});
