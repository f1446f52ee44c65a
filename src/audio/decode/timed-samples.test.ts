import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import test from 'node:test';
import { promisify } from 'node:util';
import { channelsWav, openTestFolder } from '../../../test/fixtures/audio/test-audio.ts';
import { TEST_TOOLS } from '../../../test/fixtures/tools.ts';
import { findProgram, toolEnvironment } from '../../platform/tools.ts';
import { TimedSamplesReader, timedOutput } from './timed-samples.ts';

const INTEGERS = { isFloat: false };

test('the blocks that ffmpeg writes are read whole, however the bytes are cut', async () => {
  await using folder = await openTestFolder();
  const channels = [0, 1, 2].map((channel) => Int16Array.from({ length: 5000 }, (_, at) => at * 3 + channel));
  const file = await folder.write('upload.wav', channelsWav(channels));
  const ffmpeg = findProgram(TEST_TOOLS, 'ffmpeg') ?? 'ffmpeg';
  const args = ['-v', 'error', '-i', file, ...timedOutput(INTEGERS), 'pipe:1'];
  const written = await promisify(execFile)(ffmpeg, args, { env: toolEnvironment(TEST_TOOLS), encoding: 'buffer' });
  const whole = new TimedSamplesReader(INTEGERS).push(written.stdout);

  for (const chunkBytes of [1, 7, 1000]) {
    const reader = new TimedSamplesReader(INTEGERS);
    const blocks = [];
    for (let at = 0; at < written.stdout.length; at += chunkBytes) {
      blocks.push(...reader.push(written.stdout.subarray(at, at + chunkBytes)));
    }
    assert.deepEqual(blocks, whole);
  }
  assert.ok(whole.length > 1 && whole.every((block) => block.channels === 3));
  assert.deepEqual(
    whole.flatMap(({ samples }) => [...samples]),
    Array.from({ length: 15_000 }, (_, at) => at),
  );
});

test('bytes that are no Matroska are refused', () => {
  assert.throws(() => new TimedSamplesReader(INTEGERS).push(Buffer.alloc(100)), /not Matroska/);
});
