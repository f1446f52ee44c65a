import assert from 'node:assert/strict';
import test from 'node:test';
import { randomFrom } from '../../test/fixtures/random.ts';
import { type Pcm, SAMPLE_RATE } from '../engines/engine.ts';
import { compareChannels } from './distinct-channels.ts';

const random = randomFrom(2_026);
// The last second is not a whole one.
const SECONDS = 5.4;

const noise = (amplitude: number, seconds = SECONDS): Pcm =>
  Int16Array.from({ length: seconds * SAMPLE_RATE }, () => (random.next() * 2 - 1) * amplitude);
const silence = (seconds = SECONDS): Pcm => new Int16Array(seconds * SAMPLE_RATE);
const louder = (pcm: Pcm, decibels: number): Pcm => pcm.map((sample) => sample * 10 ** (decibels / 20));
const sum = (left: Pcm, right: Pcm, atSeconds = 0): Pcm =>
  left.map((sample, at) => sample + (right[at - Math.round(atSeconds * SAMPLE_RATE)] ?? 0));

/** In chunks of random lengths, the same for each channel. */
async function* inChunks(channels: Pcm[]): AsyncGenerator<Pcm[]> {
  for (let at = 0; at < channels[0]!.length; ) {
    const end = at + 1 + random.integer(40_000);
    yield channels.map((pcm) => pcm.slice(at, end));
    at = end;
  }
}

const [voice, other] = [noise(8_000), noise(8_000)];

const PAIRS: [what: string, left: Pcm, right: Pcm, isSame: boolean][] = [
  ['the same samples', voice, voice, true],
  ['different sounds', voice, other, false],
  ['the same with noise of a codec', voice, sum(voice, noise(200)), true],
  ['the same at 0.4 dB less', voice, louder(voice, -0.4), true],
  ['the same at 0.6 dB less', voice, louder(voice, -0.6), false],
  ['the same with the sign changed', voice, louder(voice, 0).map((sample) => -sample), false],
  ['a difference that is silent', voice, sum(voice, noise(60)), true],
  ['a word on one of them only', voice, sum(voice, noise(1_000, 0.25), 2.5), false],
  ['a quiet word beside pauses', silence(), sum(silence(), noise(300, 0.25), 2.5), false],
  ['a quiet word at the end', voice, sum(voice, noise(2_000, 0.25), SECONDS - 0.25), false],
  ['sound and silence', voice, silence(), false],
  ['silence and digital silence', noise(60), silence(), true],
];

for (const [what, left, right, isSame] of PAIRS) {
  test(`${what}: the two channels are ${isSame ? 'equal' : 'distinct'}`, async () => {
    const { channels, distinct, copies } = await compareChannels(inChunks([left, right]));

    assert.deepEqual(
      { channels, distinct, copies },
      isSame ? { channels: 2, distinct: [0], copies: [1] } : { channels: 2, distinct: [0, 1], copies: [] },
    );
  });
}

test('of eight channels each distinct one is found once, by its lowest number', async () => {
  const late = sum(voice, noise(3_000, 0.5), 4);

  const found = await compareChannels(inChunks([voice, other, silence(), voice, late, silence(), other, late]));

  assert.deepEqual(found, { channels: 8, distinct: [0, 1, 2, 4], copies: [3, 5, 6, 7], silent: [2, 5] });
});

test('a channel with one sound is not silent, and a single channel is distinct', async () => {
  const click = silence();
  click[70_000] = 64;

  assert.deepEqual(await compareChannels(inChunks([click, click])), {
    channels: 2,
    distinct: [0],
    copies: [1],
    silent: [],
  });
  assert.deepEqual(await compareChannels(inChunks([silence(0.01)])), {
    channels: 1,
    distinct: [0],
    copies: [],
    silent: [0],
  });
});
