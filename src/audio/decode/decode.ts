import { type Pcm, SAMPLE_RATE } from '../../engines/engine.ts';
import { AudioError, noSound, tooLong } from '../audio-error.ts';
import type { AudioOptions } from '../media/probe.ts';
import { openPlainWav, type ReadOptions } from '../plain-wav.ts';
import { openSandboxed, type SandboxedProcess } from '../sandbox/bounded-process.ts';
import { INPUT, UNTRUSTED_INPUT } from '../sandbox/ffmpeg-arguments.ts';
import { openAudio } from '../storage/open-audio.ts';
import { AudioGoneError } from '../storage/storage.ts';
import { type Frames, fillHoles } from './fill-holes.ts';
import { StereoMixer } from './mix-stereo.ts';
import { TIMED_OUTPUT, type TimedSamples, TimedSamplesReader } from './timed-samples.ts';

const MEMORY_MAX_BYTES = 2 ** 30;
// The slowest codec measured decodes 500 times faster than real time; this allows for a machine 50 times slower.
const CPU_SECONDS = { base: 60, perAudioSecond: 1 / 10 };
// Counts only the time that ffmpeg takes for a chunk: between chunks, decoding pauses while the engine transcribes.
const STALL_MAX_MS = 60_000;
/** More than two channels are mixed to two by their loudspeakers. */
const ONE_OR_TWO_CHANNELS = 'aformat=channel_layouts=mono|stereo';

/**
 * @property track  index of the audio track; the first when absent
 * @property sizeBytes, isInMemory  as for `openPlainWav`
 */
export type DecodeOptions = AudioOptions & ReadOptions & { stallMaxMs?: number; track?: number };

/**
 * An audio track as chunks of samples, mono, 16 000 per second, decoded only as fast as they are consumed. Each sample
 * stands where a player plays it.
 * The limit applies to the decoded samples, whatever the header claims.
 * @throws AudioError  when nothing can be decoded, or the audio is longer than the limit
 * @throws AudioGoneError  when there is no file, or only a part of it
 * @throws StorageAwayError  when the file cannot be read
 */
export async function* decodePcm(path: string, options: DecodeOptions): AsyncGenerator<Pcm> {
  const { maxAudioSeconds, signal, track = 0 } = options;
  const plain = track === 0 ? await openPlainWav(path, options) : null;
  let samples = 0;
  for await (const pcm of plain ?? mixed(decodeSandboxed(path, ONE_OR_TWO_CHANNELS, options))) {
    signal?.throwIfAborted();
    samples += pcm.length;
    if (samples > maxAudioSeconds * SAMPLE_RATE) throw tooLong(maxAudioSeconds);
    yield pcm;
  }
  signal?.throwIfAborted();
}

async function* mixed(frames: AsyncIterable<Frames>): AsyncGenerator<Pcm> {
  const mixer = new StereoMixer();
  for await (const chunk of frames) yield mixer.mix(chunk);
}

/**
 * An audio track, decoded by ffmpeg in the sandbox: 16 000 samples per second and channel, with silence where its
 * timestamps have holes.
 * @param filter  of ffmpeg, for the channels; null for all of them
 * @throws AudioError, AudioGoneError  as `decodePcm`; for the limit of the length only where a hole goes beyond it
 */
export async function* decodeSandboxed(
  path: string,
  filter: string | null,
  options: DecodeOptions,
): AsyncGenerator<Frames> {
  const { tools, maxAudioSeconds, signal, stallMaxMs = STALL_MAX_MS, track = 0, sizeBytes = 0 } = options;
  await requireWhole(path, sizeBytes);
  const sandboxed = await openSandboxed('ffmpeg', decodeArguments(track, filter), {
    tools,
    input: path,
    signal,
    memoryMaxBytes: MEMORY_MAX_BYTES,
    cpuMaxSeconds: Math.ceil(CPU_SECONDS.base + maxAudioSeconds * CPU_SECONDS.perAudioSecond),
  });
  try {
    let samples = 0;
    const blocks = readBlocks(withStallLimit(sandboxed, stallMaxMs));
    for await (const frames of fillHoles(blocks, {
      maxSeconds: maxAudioSeconds,
      tooLong: () => tooLong(maxAudioSeconds),
    })) {
      samples += frames.samples.length;
      yield frames;
    }
    signal?.throwIfAborted();
    await assertDecoded(sandboxed, samples);
  } finally {
    sandboxed.close();
  }
}

async function requireWhole(path: string, sizeBytes: number): Promise<void> {
  using file = await openAudio(path);
  if (file.sizeBytes < sizeBytes) throw new AudioGoneError();
}

function decodeArguments(track: number, filter: string | null): string[] {
  return [
    ...['-nostdin', '-filter_threads', '1', ...UNTRUSTED_INPUT, ...INPUT],
    ...['-map', `0:a:${track}`, '-vn', '-sn', '-dn', '-ar', String(SAMPLE_RATE)],
    ...(filter === null ? [] : ['-af', filter]),
    ...[...TIMED_OUTPUT, 'pipe:1'],
  ];
}

async function* readBlocks(chunks: AsyncIterable<Buffer>): AsyncGenerator<TimedSamples[]> {
  const reader = new TimedSamplesReader();
  for await (const chunk of chunks) yield reader.push(chunk);
}

async function* withStallLimit(sandboxed: SandboxedProcess, stallMaxMs: number): AsyncGenerator<Buffer> {
  const chunks: AsyncIterator<Buffer> = sandboxed.stdout[Symbol.asyncIterator]();
  while (true) {
    const timer = setTimeout(sandboxed.kill, stallMaxMs);
    const { done, value } = await chunks.next().finally(() => clearTimeout(timer));
    if (done) return;
    yield value;
  }
}

async function assertDecoded(sandboxed: SandboxedProcess, samples: number): Promise<void> {
  const { code } = await sandboxed.ended;
  const cause = new Error(`ffmpeg ended with ${code}: ${sandboxed.stderrEnd()}`);
  if (code === null) throw new AudioError('The audio takes too much time or memory to decode.', { cause });
  if (code !== 0 && samples > 0) {
    throw new AudioError('The audio cannot be decoded to its end; the file may be damaged.', { cause });
  }
  // ffmpeg ends with 0 for a truncated file, after its samples, and for some damaged files, without any.
  if (samples === 0) throw noSound(cause);
}
