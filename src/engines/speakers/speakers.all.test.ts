import assert from 'node:assert/strict';
import { mkdtemp, open, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { embeddingModel, putSpeakerModels, segmentationModel } from '../../../test/fixtures/audio/voices/models.ts';
import { conversation, inVoice, type Utterance } from '../../../test/fixtures/audio/voices/voices.ts';
import { isEngineError } from '../../../test/fixtures/engine-conformance.ts';
import { childProcesses } from '../../../test/fixtures/processes/children.ts';
import { TEST_TOOLS } from '../../../test/fixtures/tools.ts';
import { until } from '../../../test/fixtures/until.ts';
import { openLog } from '../../platform/log.ts';
import { SPEAKERS_MAX, type SpeakerBounds, type Turn } from '../../rules/speakers/turn.ts';
import type { Pcm } from '../engine.ts';
import { openSpeakerFinder } from './speakers.ts';

const ANY_NUMBER: SpeakerBounds = { min: 1, max: SPEAKERS_MAX };
const MAX_TIME_ERROR_SECONDS = 0.04;
const TALK: Utterance[] = [
  { voice: 1, text: 'good morning to you' },
  { voice: 0, text: 'hello how are you today' },
  { voice: 2, text: 'we are both well' },
  { voice: 1, text: 'that is nice' },
];

const folder = await mkdtemp(path.join(os.tmpdir(), 'speakers-'));
after(() => rm(folder, { recursive: true }));

async function openScratch() {
  return await open(path.join(folder, 'scratch'), 'w+');
}

type FinderWish = {
  segmentation?: Buffer;
  embedding?: Buffer;
  timeoutMs?: () => number;
  blockMaxSeconds?: number;
};

async function openFinder(name: string, { timeoutMs, blockMaxSeconds, ...models }: FinderWish = {}) {
  const modelsDir = path.join(folder, name);
  await putSpeakerModels(modelsDir, models);
  const common = { modelsDir, openScratch, tools: TEST_TOOLS, log: openLog('silent') };
  return await openSpeakerFinder({
    ...common,
    ...(timeoutMs && { timeoutMs }),
    ...(blockMaxSeconds && { blockMaxSeconds }),
  });
}

const finder = (await openFinder('models'))!;

async function find(pcm: Pcm, bounds: SpeakerBounds = ANY_NUMBER, by = finder, signal = new AbortController().signal) {
  await using file = await openScratch();
  await file.write(new Uint8Array(pcm.buffer, pcm.byteOffset, pcm.byteLength));
  return await by.find({ file, samples: pcm.length }, { bounds, signal });
}

/** The turns with voices numbered in the order in which they first speak. */
function inOrder(turns: Turn[]): Turn[] {
  const order = [...new Set(turns.map(({ voice }) => voice))];
  return turns.map((turn) => ({ ...turn, voice: order.indexOf(turn.voice) }));
}

function assertTurns(found: Turn[], expected: Turn[]): void {
  assert.deepEqual(
    inOrder(found).map(({ voice }) => voice),
    inOrder(expected).map(({ voice }) => voice),
  );
  // The voices of these tests speak to the end of the audio.
  const lastEnd = (turns: Turn[]) => Math.max(...turns.map(({ endSeconds }) => endSeconds));
  assert.ok(lastEnd(found) <= lastEnd(expected));
  for (const [at, { startSeconds, endSeconds }] of found.entries()) {
    const errors = [startSeconds - expected[at]!.startSeconds, endSeconds - expected[at]!.endSeconds].map(Math.abs);
    assert.ok(Math.max(...errors) <= MAX_TIME_ERROR_SECONDS, `turn ${at} is off by ${errors.join(' and ')} s`);
  }
}

test('turns are found to 40 ms, whether or not the number of speakers is given', async () => {
  const { pcm, turns } = conversation(TALK);

  for (const bounds of [ANY_NUMBER, { min: 3, max: 3 }, { min: 2, max: 4 }]) {
    const found = await find(pcm, bounds);
    assertTurns(found.turns, turns);
    assert.equal(found.isUncertain, false);
  }
});

test('a speaker has one number in all blocks, and a turn over their border is one turn', async () => {
  const { pcm, turns } = conversation(TALK);
  const divided = (await openFinder('divided', { blockMaxSeconds: 4 }))!;

  for (const bounds of [ANY_NUMBER, { min: 3, max: 3 }]) assertTurns((await find(pcm, bounds, divided)).turns, turns);
});

test('audio of less than a window is divided too, also by number', async () => {
  const { pcm, turns } = conversation([
    { voice: 0, text: 'good day' },
    { voice: 2, text: 'and you sir' },
  ]);

  assertTurns((await find(pcm)).turns, turns);
  assertTurns((await find(pcm, { min: 2, max: 2 })).turns, turns);
});

test('two voices at once are two turns that overlap', async () => {
  const { pcm } = conversation([{ voice: 0, text: 'one two three four five six seven eight nine ten' }]);
  const both = pcm.slice();
  both.set(inVoice(2, pcm.subarray(48_000, 80_000)), 48_000);

  const { turns } = await find(both);

  assertTurns(turns, [
    { startSeconds: 0.5, endSeconds: pcm.length / 16_000, voice: 0 },
    { startSeconds: 3, endSeconds: 5, voice: 1 },
  ]);
});

test('silence, noise without voices and no audio have no turns', async () => {
  for (const pcm of [new Int16Array(16_000 * 15), new Int16Array(0), new Int16Array(100)]) {
    assert.deepEqual(await find(pcm), { turns: [], isUncertain: false });
  }
});

test('voices that are too many are merged by likeness, and too few are divided or reported', async () => {
  // Voices 1 and 2 are nearer to each other than either is to voice 0.
  const mixed = (await openFinder('mixed', {
    embedding: embeddingModel([
      [1, 0],
      [0.3, 1],
      [-0.3, 1],
    ]),
  }))!;
  const { pcm } = conversation(TALK);
  const voices = async (bounds: SpeakerBounds) => {
    const { turns, isUncertain } = await find(pcm, bounds, mixed);
    return [
      inOrder(turns)
        .map(({ voice }) => voice)
        .join(''),
      isUncertain,
    ];
  };

  assert.deepEqual(await voices({ min: 1, max: 2 }), ['0100', false]);
  assert.deepEqual(await voices(ANY_NUMBER), ['0100', false]);
  assert.deepEqual(await voices({ min: 3, max: 4 }), ['0120', false]);
  assert.deepEqual(await voices({ min: 1, max: 1 }), ['0000', false]);
  assert.deepEqual((await voices({ min: 5, max: 5 }))[1], true);
});

test('without models, or with models that cannot work, there is no finder', async () => {
  const options = { modelsDir: path.join(folder, 'none'), openScratch, tools: TEST_TOOLS, log: openLog('silent') };

  assert.equal(await openSpeakerFinder(options), null);
  assert.equal(await openFinder('cut', { segmentation: segmentationModel().subarray(0, 9_000) }), null);
  assert.equal(await openFinder('swapped', { segmentation: embeddingModel() }), null);
});

test('a process that is killed is started once more; a second end is an error', async () => {
  const { pcm } = conversation(Array.from({ length: 50 }, (_, at) => ({ voice: at % 3, text: 'good morning to you' })));
  const nextChild = async (but = 0) => {
    await until('the process to start', () => childProcesses().some((pid) => pid !== but));
    return childProcesses().find((pid) => pid !== but)!;
  };

  const once = find(pcm);
  process.kill(await nextChild(), 'SIGKILL');
  assert.ok((await once).turns.length >= 50);

  const twice = find(pcm);
  const first = await nextChild();
  process.kill(first, 'SIGKILL');
  process.kill(await nextChild(first), 'SIGKILL');
  await assert.rejects(twice, isEngineError('engine_error'));
  assert.deepEqual(childProcesses(), []);
});

test('a pass ends with its time and with its signal, and leaves no process', async () => {
  const { pcm } = conversation(TALK);
  let limitMs = 60_000;
  const slow = (await openFinder('slow', { timeoutMs: () => limitMs }))!;
  limitMs = 1;
  const stop = new AbortController();

  await assert.rejects(find(pcm, ANY_NUMBER, slow), isEngineError('engine_timeout'));
  const stopped = find(pcm, ANY_NUMBER, finder, stop.signal);
  stop.abort(new Error('canceled'));
  await assert.rejects(stopped, /canceled/);

  assert.deepEqual(childProcesses(), []);
});
