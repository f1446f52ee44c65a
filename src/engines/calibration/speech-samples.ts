import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { ROOT } from '../../platform/installation.ts';
import { type Pcm, SAMPLE_RATE } from '../engine.ts';

/** Recorded speech, and the words that are spoken in it. */
export type SpeechSample = { pcm: Pcm; text: string };

const FOLDER = path.join(ROOT, 'assets/speech');
/** The recordings of each length, one after the other; silence up to the length follows. */
const RECORDINGS: Record<number, readonly string[]> = {
  3: ['librivox-0880.wav'],
  6: ['librivox-0890.wav'],
  9: ['librivox-0890.wav', 'librivox-0930.wav'],
  12: ['jfk.wav'],
  20: ['jfk.wav', 'librivox-0870.wav'],
  29: ['jfk.wav', 'librivox-0870.wav', 'librivox-0890.wav', 'librivox-0880.wav'],
};

/** The lengths of the samples in seconds, ascending. */
export const SAMPLE_SECONDS: readonly number[] = Object.keys(RECORDINGS).map(Number);

/** Real speech of exactly this length in seconds: one of SAMPLE_SECONDS. */
export async function readSpeechSample(seconds: number): Promise<SpeechSample> {
  const texts = JSON.parse(await readFile(path.join(FOLDER, 'texts.json'), 'utf8')) as { file: string; text: string }[];
  const pcm = new Int16Array(seconds * SAMPLE_RATE);
  const spoken: string[] = [];
  let at = 0;
  for (const name of RECORDINGS[seconds]!) {
    const recording = samplesOf(await readFile(path.join(FOLDER, name)));
    pcm.set(recording, at);
    at += recording.length;
    spoken.push(texts.find(({ file }) => file === name)!.text);
  }
  return { pcm, text: spoken.join(' ') };
}

/** Of a WAV file in the engines' format. */
function samplesOf(file: Buffer): Pcm {
  const start = file.indexOf('data') + 8;
  const bytes = file.subarray(start, start + file.readUInt32LE(start - 4));
  return new Int16Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
}
