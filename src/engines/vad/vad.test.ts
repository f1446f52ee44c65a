import assert from 'node:assert/strict';
import { truncate, writeFile } from 'node:fs/promises';
import os from 'node:os';
import test from 'node:test';
import { openTestFolder } from '../../../test/fixtures/audio/test-audio.ts';
import { putVoiceModel, voiceModel } from '../../../test/fixtures/audio/voice-model.ts';
import { childProcesses } from '../../../test/fixtures/processes/children.ts';
import { TEST_TOOLS } from '../../../test/fixtures/tools.ts';
import { type Log, openLog } from '../../platform/log.ts';
import { type Pcm, SAMPLE_RATE } from '../engine.ts';
import { openVoiceDetector } from './vad.ts';

const settings = { slots: 4, tools: TEST_TOOLS, log: openLog('silent') };
const { signal } = new AbortController();

/**
 * Two loud tones at once; in the given intervals, in seconds, what the test model detects as speech, with two pitches
 * that follow each other as syllables do.
 */
function audio(seconds: number, speech: [number, number][] = []): Pcm {
  return Int16Array.from({ length: seconds * SAMPLE_RATE }, (_, at) => {
    const isSpeech = speech.some(([start, end]) => at >= start * SAMPLE_RATE && at < end * SAMPLE_RATE);
    const isLow = isSpeech && Math.floor((10 * at) / SAMPLE_RATE) % 2 === 1;
    return 4000 * Math.sin(at / (isLow ? 9 : 3)) + 1000 * Math.sin(at / 2) + (isSpeech ? 3000 : 0);
  });
}

function openNotes(): { log: Log; notes: string[] } {
  const notes: string[] = [];
  const note = (_fields: object, text: string) => void notes.push(text);
  return { log: { ...openLog('silent'), warn: note, error: note } as unknown as Log, notes };
}

test('the intervals of speech are found, independently in each call', async () => {
  await using folder = await openTestFolder();
  const model = await putVoiceModel(folder.path);
  await using detector = await openVoiceDetector({ ...settings, ...model });

  const found = [
    await detector!.find(audio(9, [[6, 9]]), signal),
    await detector!.find(
      audio(10, [
        [2, 4],
        [7, 8],
      ]),
      signal,
    ),
    await detector!.find(audio(10), signal),
  ];

  // A decision covers 32 ms, and the test model's delay is two of them shorter than Silero's.
  const rounded = found.map((one) => one!.map((it) => [it.startSeconds, it.endSeconds].map(Math.round)));
  const expected = [
    [[6, 9]],
    [
      [2, 4],
      [7, 8],
    ],
    [],
  ];
  assert.deepEqual(rounded, expected);
});

test('late, faint and short speech is found, and nothing is known of very short audio', async () => {
  await using folder = await openTestFolder();
  await using detector = await openVoiceDetector({ ...settings, ...(await putVoiceModel(folder.path)) });
  const faint = Int16Array.from(audio(10, [[9, 10]]), (sample) => sample / 500);
  const pieces = [
    audio(30),
    audio(30, [[29, 30]]),
    audio(12, [[3.9, 4.2]]),
    faint,
    audio(0.09),
    audio(0.5),
    new Int16Array(40_000),
  ];

  const found = await Promise.all(pieces.map((piece) => detector!.find(piece, signal)));

  assert.deepEqual(
    found.map((one) => one?.length),
    [0, 1, 1, 1, undefined, 0, 0],
  );
});

test('of a pure tone the network is not asked, which would take its start for speech', async () => {
  await using folder = await openTestFolder();
  const model = await putVoiceModel(folder.path, Buffer.from('no model, but pinned as one'));
  await using detector = await openVoiceDetector({ ...settings, ...model });
  const tone = Int16Array.from({ length: SAMPLE_RATE }, (_, at) => 5000 * Math.sin(at / 6));

  assert.deepEqual(await detector!.find(tone, signal), []);
  assert.equal(await detector!.find(audio(1), signal), null);
});

test('without a pulled model there is no detector, and no process', async () => {
  await using folder = await openTestFolder();

  assert.equal(await openVoiceDetector({ ...settings, modelsDir: folder.path }), null);
  assert.deepEqual(childProcesses(), []);
});

test('a truncated, altered or empty model is not used, and the log says so once', async () => {
  await using folder = await openTestFolder();
  const damages: ((file: string) => Promise<void>)[] = [
    (file) => truncate(file, 300),
    (file) => writeFile(file, voiceModel().reverse()),
    (file) => truncate(file, 0),
  ];
  for (const damage of damages) {
    const { log, notes } = openNotes();
    const model = await putVoiceModel(folder.path);
    await damage(model.file);
    await using detector = await openVoiceDetector({ ...settings, ...model, log });

    assert.equal(detector, null);
    assert.deepEqual(notes, ['voice detector not used: its file is damaged; remove the model and pull it again']);
    assert.deepEqual(childProcesses(), []);
  }
});

test('a model that crashes its process is no longer used after three failures, and callers do not wait', async () => {
  await using folder = await openTestFolder();
  const { log, notes } = openNotes();
  const model = await putVoiceModel(folder.path, Buffer.from('no model, but pinned as one'));
  await using detector = await openVoiceDetector({ ...settings, ...model, log });

  const answers = [];
  for (let call = 0; call < 4; call += 1) answers.push(await detector!.find(audio(10), signal));

  assert.deepEqual(answers, [null, null, null, null]);
  assert.equal(notes.filter((text) => text.startsWith('voice detector given up')).length, 1);
  assert.deepEqual(childProcesses(), []);
});

test('many slots start no more processes than there are cores', async () => {
  await using folder = await openTestFolder();
  const model = await putVoiceModel(folder.path);
  await using detector = await openVoiceDetector({ ...settings, ...model, slots: 400 });

  const found = await Promise.all(Array.from({ length: 20 }, () => detector!.find(audio(4, [[1, 3]]), signal)));

  assert.deepEqual(new Set(found.map((intervals) => intervals?.length)), new Set([1]));
  assert.ok(childProcesses().length <= os.availableParallelism());
});

test('an abort ends the calls at once', async () => {
  await using folder = await openTestFolder();
  await using detector = await openVoiceDetector({ ...settings, ...(await putVoiceModel(folder.path)) });
  const aborting = new AbortController();
  const reason = new Error('no longer wanted');

  const asked = [detector!.find(audio(20), aborting.signal), detector!.find(audio(20), aborting.signal)];
  aborting.abort(reason);

  for (const one of asked) await assert.rejects(one, reason);
});
