import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { openFileStorage } from '../../audio/storage/storage.ts';
import type { Segment, Transcript } from '../../engines/engine.ts';
import type { SpeakerFinder } from '../../engines/speakers/speakers.ts';
import { openLog } from '../../platform/log.ts';
import type { FoundWarning } from '../../rules/jobs/warnings.ts';
import { findChannelSpeakers } from './find-channel-speakers.ts';
import { Recordings } from './recording.ts';

const said = (text: string, startSeconds: number, channel?: number): Segment => ({
  text,
  startSeconds,
  endSeconds: startSeconds + 1,
  confidence: null,
  words: [],
  ...(channel !== undefined && { channel }),
});
const shown = (transcript: Transcript) => transcript.segments.map(({ text, speaker }) => [text, speaker]);

const folder = await mkdtemp(path.join(os.tmpdir(), 'recordings-'));
after(() => rm(folder, { recursive: true }));
const storage = await openFileStorage(folder);

/** Searches the segments in channels whose recordings have 1, 2, … samples; the finder fails for `failing` samples. */
async function search(segments: Segment[], channels: (number | null)[], failing = 0) {
  await using recordings = new Recordings(channels.length, storage, 1);
  for (const [position, recording] of recordings.channels.entries()) await recording.add(new Int16Array(position + 1));
  const found: FoundWarning[] = [];
  const progress: number[] = [];
  const finder: SpeakerFinder = {
    async find({ samples }, { onProgress }) {
      if (samples === failing) throw new Error('it ended');
      onProgress?.(0.5);
      const turns = [0, 10, 20].map((startSeconds, voice) => ({ startSeconds, endSeconds: startSeconds + 9, voice }));
      return { turns, isUncertain: false };
    },
  };
  const recorded = channels.map((channel, position) => ({ channel, recording: recordings.channels[position]! }));
  const { transcript, speakers } = await findChannelSpeakers({ segments, language: 'en' }, recorded, {
    finder,
    found,
    log: openLog('silent'),
    bounds: { min: 1, max: 32 },
    onProgress: (share) => void progress.push(share),
    signal: new AbortController().signal,
  });
  return {
    said: shown(transcript),
    ids: speakers?.map(({ id }) => id),
    codes: found.map(({ code }) => code),
    progress,
  };
}

test('speakers are found in each channel, named after it, and the segments stay in the order of their starts', async () => {
  const segments = [said('a', 1, 0), said('b', 2, 3), said('c', 11, 0), said('d', 12, 3), said('e', 13, 0)];

  const result = await search(segments, [0, 3]);

  assert.deepEqual(result, {
    said: [
      ['a', '0A'],
      ['b', '3A'],
      ['c', '0B'],
      ['d', '3B'],
      ['e', '0B'],
    ],
    ids: ['0A', '0B', '3A', '3B'],
    codes: [],
    progress: [0.25, 0.75],
  });
});

test('the speakers of mixed channels have no channel in their names', async () => {
  const { said: texts, ids } = await search([said('a', 1), said('b', 11)], [null]);

  assert.deepEqual(texts, [
    ['a', 'A'],
    ['b', 'B'],
  ]);
  assert.deepEqual(ids, ['A', 'B']);
});

test('where the speakers of one channel cannot be found, those of the others are', async () => {
  const result = await search([said('a', 1, 0), said('b', 2, 1)], [0, 1], 1);

  assert.deepEqual(
    [result.said, result.ids, result.codes],
    [
      [
        ['a', null],
        ['b', '1A'],
      ],
      ['1A'],
      ['speakers_unavailable'],
    ],
  );
  assert.deepEqual((await search([said('a', 1, 0)], [0], 1)).ids, undefined);
});
