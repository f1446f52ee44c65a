import assert from 'node:assert/strict';
import test from 'node:test';
import { openTestFolder, TONE_MODEL } from '../../../test/fixtures/audio/test-audio.ts';
import { SECONDS_PER_SIGN, toneSpeech } from '../../../test/fixtures/audio/tone/speech.ts';
import { TEST_TOOLS } from '../../../test/fixtures/tools.ts';
import { decodePcm } from '../../audio/decode/decode.ts';
import { probeAudio } from '../../audio/media/probe.ts';
import { cutPieces } from '../../audio/split.ts';
import { openLog } from '../../platform/log.ts';
import type { Word } from '../engine.ts';
import { openSherpa } from '../sherpa/sherpa.ts';

const TEXT = "the quick brown fox doesn't jump over a lazy dog";
const audioOptions = { tools: TEST_TOOLS, maxAudioSeconds: 60 };

const FORMATS: { file: string; format: string; encode: string[] }[] = [
  { file: 'speech.wav', format: 'wav', encode: [] },
  { file: 'stereo-48k.wav', format: 'wav', encode: ['-ac', '2', '-ar', '48000'] },
  { file: 'eight-channels.wav', format: 'wav', encode: ['-ac', '8'] },
  { file: 'speech.mp3', format: 'mp3', encode: ['-b:a', '64k'] },
  { file: 'speech.m4a', format: 'm4a', encode: ['-c:a', 'aac', '-b:a', '96k'] },
  { file: 'opus.ogg', format: 'ogg', encode: ['-c:a', 'libopus', '-b:a', '32k'] },
  { file: 'vorbis.ogg', format: 'ogg', encode: ['-c:a', 'libvorbis'] },
  { file: 'speech.flac', format: 'flac', encode: [] },
  { file: 'speech.webm', format: 'webm', encode: ['-c:a', 'libopus', '-b:a', '32k'] },
  { file: 'speech.aac', format: 'aac', encode: ['-b:a', '96k'] },
  { file: 'live.webm', format: 'webm', encode: ['-c:a', 'libopus', '-b:a', '32k', '-f', 'webm', '-live', '1'] },
  { file: 'video.mp4', format: 'mp4', encode: [...picture('mpeg4'), '-c:a', 'aac', '-b:a', '96k'] },
  { file: 'video.mkv', format: 'mkv', encode: [...picture('mpeg4'), '-c:a', 'flac'] },
];

/** A video track that is longer than the audio. */
function picture(codec: string): string[] {
  return ['-f', 'lavfi', '-i', 'color=c=blue:s=64x64:r=10:d=15', '-c:v', codec, '-map', '0:a', '-map', '1:v'];
}

test('every format gives the exact text and word times with the tone model', async (t) => {
  await using folder = await openTestFolder();
  await using engine = await openSherpa(TONE_MODEL, {
    modelsDir: folder.path,
    slots: 1,
    threadsPerSlot: 1,
    apiKey: null,
    tools: TEST_TOOLS,
    log: openLog('silent'),
  });
  const speech = toneSpeech(TEXT);

  for (const { file, format, encode } of FORMATS) {
    await t.test(file, async () => {
      const path = await folder.encode(file, speech, ...encode);

      const probed = await probeAudio(path, audioOptions);
      const pieces = await Array.fromAsync(cutPieces(decodePcm(path, audioOptions)));
      const transcript = await engine.transcribe(pieces[0]!.samples, {
        language: null,
        timeoutMs: 60_000,
        signal: new AbortController().signal,
      });

      assert.equal(probed.kind === 'audio' && probed.format, format);
      assert.ok(probed.kind === 'audio' && Math.abs(probed.durationMs - (speech.length / 16_000) * 1000) < 500);
      assert.equal(pieces.length, 1);
      assert.equal(transcript.segments.map((segment) => segment.text).join(' '), TEXT);
      assertTimes(transcript.segments.flatMap((segment) => segment.words));
    });
  }
});

/** Each word starts with its first letter and ends with its last, within two steps of the model (40 ms each). */
function assertTimes(words: Word[]): void {
  let sign = 0;
  for (const word of words) {
    assert.ok(
      Math.abs(word.startSeconds - sign * SECONDS_PER_SIGN) < 0.1,
      `${word.text} begins at ${word.startSeconds}`,
    );
    sign += word.text.length;
    assert.ok(Math.abs(word.endSeconds - sign * SECONDS_PER_SIGN) < 0.2, `${word.text} ends at ${word.endSeconds}`);
    sign += 1;
  }
}
