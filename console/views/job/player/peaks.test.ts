import assert from 'node:assert/strict';
import test from 'node:test';
import { barsOf, columnsOf, drawBars, peaksOfSamples, type Surface } from './peaks.ts';

const COLORS = { played: 'red', ahead: 'grey' };

function openSurface() {
  const drawn: { x: number; y: number; height: number; color: unknown }[] = [];
  const surface: Surface = {
    fillStyle: '',
    clearRect: () => drawn.splice(0),
    fillRect: (x, y, _width, height) => drawn.push({ x, y, height, color: surface.fillStyle }),
  };
  return { surface, drawn };
}

test('more points than columns keep the loudest of each column, fewer are repeated', () => {
  const peaks = { min: [-10, -60, 0, -1], max: [120, 5, 0, 1] };

  const two = barsOf(peaks, 2);
  const eight = barsOf(peaks, 8);

  assert.deepEqual(
    [...two.low].map((low) => Math.round(low * 120)),
    [-60, -1],
  );
  assert.deepEqual(
    [...two.high].map((high) => Math.round(high * 120)),
    [120, 1],
  );
  assert.deepEqual(
    [...eight.high].map((high) => Math.round(high * 120)),
    [120, 120, 5, 5, 0, 0, 1, 1],
  );
  assert.deepEqual([...barsOf({ min: [], max: [] }, 2).high], [0, 0]);
});

test('quiet speech fills the height, the noise of silence does not', () => {
  assert.equal(barsOf({ min: [-20], max: [10] }, 1).low[0], -1);
  assert.ok(barsOf({ min: [-1], max: [1] }, 1).high[0]! < 0.1);
});

test('the peaks of samples are those of the loudest channel, in the range of the API', () => {
  const left = Float32Array.from([0, 0.5, -1, 0.1]);
  const right = Float32Array.from([-0.25, 0, 0, 1]);

  assert.deepEqual(peaksOfSamples([left, right], 2), { min: [-32, -128], max: [64, 127] });
  assert.deepEqual(peaksOfSamples([left], 100).max.length, 4);
  assert.deepEqual(peaksOfSamples([], 100), { min: [], max: [] });
});

test('what is played has its colour, and silence is a line', () => {
  const { surface, drawn } = openSurface();
  const bars = barsOf({ min: [-100, 0, -100, 0], max: [100, 0, 100, 0] }, 4);

  drawBars(surface, bars, { width: 12, height: 40, step: 3, fill: 2, played: 0.5, colors: COLORS });

  assert.deepEqual(
    drawn.map(({ x, y, height, color }) => [x, y, height, color]),
    [
      [0, 0, 40, 'red'],
      [3, 20, 1, 'red'],
      [6, 0, 40, 'grey'],
      [9, 20, 1, 'grey'],
    ],
  );
  assert.deepEqual([columnsOf({ width: 100, step: 3 }), columnsOf({ width: 1, step: 3 })], [33, 1]);
});
