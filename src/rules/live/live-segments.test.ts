import assert from 'node:assert/strict';
import test from 'node:test';
import { randomFrom } from '../../../test/fixtures/random.ts';
import { FLOOR_FRAMES, LiveSegments, type SegmentChange, type SegmentOptions } from './live-segments.ts';

const OPTIONS: SegmentOptions = { endpointingMs: 600, maxSegmentSeconds: 20 };
const QUIET = 100;
const LOUD = 1e6;

/** Powers of parts in turn: seconds and power. */
function powers(...parts: [seconds: number, power: number][]): number[] {
  return parts.flatMap(([seconds, power]) => Array<number>(Math.round(seconds * 100)).fill(power));
}

function changesOf(segments: LiveSegments, frames: number[]): SegmentChange[] {
  return frames.flatMap((power) => segments.push(power));
}

/** Speech in bursts with random levels, pauses and noise. */
function randomSession(seed: number, frames: number): number[] {
  const random = randomFrom(seed);
  const noise = 10 ** random.integer(4);
  const session: number[] = [];
  while (session.length < frames) {
    const speech = 20 + random.integer(1_200);
    const pause = random.integer(3) === 0 ? 60 + random.integer(300) : random.integer(50);
    for (let at = 0; at < speech; at++) session.push(noise + LOUD * random.next() ** 4);
    for (let at = 0; at < pause; at++) session.push(noise * (0.5 + random.next()));
  }
  return session.slice(0, frames);
}

test('a segment starts 0.3 s before speech of 80 ms, and ends after the silence of endpointing_ms', () => {
  const changes = changesOf(new LiveSegments(OPTIONS), powers([1, QUIET], [1, LOUD], [2, QUIET]));

  assert.deepEqual(changes, [
    { kind: 'start', start: 70 },
    { kind: 'end', start: 70, end: 220, until: 260, reason: 'endpoint' },
  ]);
});

test('sounds of less than 80 ms and silence start no segment, and noise counts as speech for 3 s', () => {
  const clicks = powers(
    ...Array.from({ length: 20 }, (): [number, number][] => [
      [0.07, LOUD],
      [0.2, QUIET],
    ]).flat(),
  );
  const steady = powers([3, QUIET], [10, 50 * QUIET]);

  assert.deepEqual(changesOf(new LiveSegments(OPTIONS), clicks), []);
  assert.deepEqual(changesOf(new LiveSegments(OPTIONS), powers([10, 0])), []);
  for (const noise of [steady, powers([30, 1e5])]) {
    const [start, end, ...others] = changesOf(new LiveSegments(OPTIONS), noise);
    assert.ok(start?.kind === 'start' && end?.kind === 'end');
    assert.ok(end.until - start.start <= 400, `${end.until - start.start} frames`);
    assert.deepEqual(others, []);
  }
});

test('a long segment is cut in the quietest 200 ms of its last 5 s, and the rest begins there', () => {
  const speech = powers([16, LOUD], [0.1, LOUD / 50], [0.1, LOUD / 40], [8, LOUD]);
  // The noise floor stays low by a dip of one frame in each second.
  const dipped = speech.map((power, at) => (at % 100 === 50 ? QUIET : power));

  const changes = changesOf(new LiveSegments(OPTIONS), dipped);

  const cut = changes[1]!;
  assert.ok(cut.kind === 'end' && cut.reason === 'max_length');
  assert.ok(cut.end >= 1_605 && cut.end <= 1_615, String(cut.end));
  assert.deepEqual([cut.until, changes[2]], [cut.end, { kind: 'start', start: cut.end }]);
});

test('endpointing_ms 0 leaves the end to the client', () => {
  const segments = new LiveSegments({ ...OPTIONS, endpointingMs: 0 });

  assert.equal(segments.end('finalize'), null);
  assert.deepEqual(changesOf(segments, powers([1, LOUD], [10, QUIET])), [{ kind: 'start', start: 0 }]);
  assert.deepEqual(segments.end('finalize'), { kind: 'end', start: 0, end: 1_100, until: 1_100, reason: 'finalize' });
  assert.equal(segments.end('finish'), null);
});

test('segments do not overlap, none is over the maximum, and all speech lies in one', () => {
  for (let seed = 1; seed <= 40; seed++) {
    const frames = randomSession(seed, 12_000);
    const segments = new LiveSegments({ endpointingMs: 300, maxSegmentSeconds: 5 + (seed % 20) });
    const changes = changesOf(segments, frames);
    const last = segments.end('finish');
    const ends = [...changes, ...(last ? [last] : [])].filter((change) => change.kind === 'end');
    let until = 0;
    for (const end of ends) {
      assert.ok(end.start >= until && end.end > end.start && end.until >= end.end, `seed ${seed}`);
      assert.ok(end.end - end.start <= 100 * (5 + (seed % 20)), `seed ${seed}: length`);
      until = end.until;
    }
    assert.deepEqual(
      changes.filter(({ kind }) => kind === 'start').map(({ start }) => start),
      ends.map(({ start }) => start),
      `seed ${seed}`,
    );
  }
});

test('a session that continues at any position decides as the one before', () => {
  for (let seed = 50; seed < 80; seed++) {
    const random = randomFrom(seed);
    const frames = randomSession(seed, 8_000);
    const options = { endpointingMs: 100 + random.integer(900), maxSegmentSeconds: 5 + random.integer(15) };
    const whole = new LiveSegments(options);
    const changes: SegmentChange[] = [];
    for (const [at, power] of frames.entries()) {
      changes.push(...whole.push(power));
      if (random.integer(400) !== 0) continue;
      const { frame, isSpeaking } = whole.position();
      const before = frames.slice(Math.max(0, frame - FLOOR_FRAMES), frame);
      const next = new LiveSegments(options, { frame, isSpeaking }, before);
      const known = changes.filter((change) => change.kind === 'end');
      const later = changesOf(next, frames.slice(frame)).filter((change) => change.kind === 'end');
      const expected = changesOf(new LiveSegments(options), frames).filter((change) => change.kind === 'end');
      assert.deepEqual([...known, ...later], expected, `seed ${seed}, frame ${at}`);
    }
  }
});

test('silence in a pause changes times only', () => {
  const before = powers([1, QUIET], [2, LOUD], [4, QUIET]);
  const longer = powers([1, QUIET], [2, LOUD], [9, QUIET]);
  const after = powers([2, LOUD], [2, QUIET]);

  const changes = changesOf(new LiveSegments(OPTIONS), [...before, ...after]);
  const shifted = changesOf(new LiveSegments(OPTIONS), [...longer, ...after]);

  const lengths = (all: SegmentChange[]) =>
    all.flatMap((change) => (change.kind === 'end' ? [change.end - change.start] : []));
  assert.deepEqual(lengths(shifted), lengths(changes));
});
