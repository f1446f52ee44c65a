import assert from 'node:assert/strict';
import { readSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { openFileStorage } from '../../audio/storage/storage.ts';
import { EngineError, type Pcm, type Transcript } from '../../engines/engine.ts';
import type { FoundSpeakers, SpeakerFinder } from '../../engines/speakers/speakers.ts';
import { openLog } from '../../platform/log.ts';
import type { FoundWarning } from '../../rules/jobs/warnings.ts';
import { findSpeakers } from './find-speakers.ts';
import { Recording, type RecordingStorage } from './recording.ts';

const SPOKEN: Transcript = {
  segments: [{ text: 'hello', startSeconds: 0, endSeconds: 1, confidence: null, words: [] }],
  language: 'en',
};
const FOUND: FoundSpeakers = { turns: [{ startSeconds: 0, endSeconds: 1, voice: 4 }], isUncertain: false };
const CHUNKS = [Int16Array.of(1, -2, 3), Int16Array.of(4), new Int16Array(0), Int16Array.of(-32_768, 32_767)];

const folder = await mkdtemp(path.join(os.tmpdir(), 'recording-'));
after(() => rm(folder, { recursive: true }));
const storage = await openFileStorage(folder);

/** Records the chunks, and searches with a finder that gives `result`. */
async function search(result: FoundSpeakers | Error | null, given = SPOKEN, from: RecordingStorage = storage) {
  await using recording = new Recording(from, 1);
  for (const chunk of CHUNKS) await recording.add(chunk);
  const found: FoundWarning[] = [];
  const heard: Pcm[] = [];
  const finder: SpeakerFinder = {
    async find({ file, samples }) {
      const bytes = Buffer.alloc(2 * samples);
      readSync(file.fd, bytes, 0, bytes.length, 0);
      heard.push(new Int16Array(bytes.buffer, bytes.byteOffset, samples));
      if (result instanceof Error || result === null) throw result;
      return result;
    },
  };
  const answer = await findSpeakers(given, {
    finder: result === null ? null : finder,
    recording,
    found,
    log: openLog('silent'),
    bounds: { min: 1, max: 32 },
    onProgress: () => undefined,
    signal: new AbortController().signal,
  });
  const codes = found.map(({ code }) => code);
  return { speakers: answer.speakers, speaker: answer.transcript.segments[0]?.speaker, codes, heard };
}

test('the finder is given all of the audio, and the transcript its names', async () => {
  const { heard, ...rest } = await search(FOUND);

  assert.deepEqual(rest, { speakers: [{ id: 'A', seconds: 1 }], speaker: 'A', codes: [] });
  assert.deepEqual(
    heard.map((pcm) => [...pcm]),
    [[1, -2, 3, 4, -32_768, 32_767]],
  );
});

test('an uncertain result is a warning beside the names', async () => {
  const { speaker, codes } = await search({ ...FOUND, isUncertain: true });

  assert.deepEqual([speaker, codes], ['A', ['speakers_uncertain']]);
});

test('without a finder, and when it fails, nobody is named and a warning says so', async () => {
  for (const result of [null, new EngineError('engine_error', 'it ended')]) {
    const { heard: _, ...rest } = await search(result);
    assert.deepEqual(rest, { speakers: null, speaker: null, codes: ['speakers_unavailable'] });
  }
});

test('a transcript without text is not searched', async () => {
  const { heard, speakers, codes } = await search(FOUND, { segments: [], language: null });

  assert.deepEqual([heard, speakers, codes], [[], [], []]);
});

test('a disk that is full or fails ends the recording only', async () => {
  const broken = { ...storage, openScratch: () => Promise.reject(new Error('ENOSPC')) };
  const full = { ...storage, freeBytes: async () => 0 };

  for (const from of [broken, full]) {
    const { speakers, codes } = await search(FOUND, SPOKEN, from);
    assert.deepEqual([speakers, codes], [null, ['speakers_unavailable']]);
  }
});

test('a recording has no name on the disk', async () => {
  await search(FOUND);
  await using recording = new Recording(storage, 1);
  for (const chunk of CHUNKS) await recording.add(chunk);

  assert.deepEqual(await Array.fromAsync(storage.listOlderThan(-1)), []);
  assert.equal(recording.audio().samples, 6);
});
