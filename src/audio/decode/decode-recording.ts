import { SAMPLE_RATE } from '../../engines/engine.ts';
import { AudioError, noSound, tooLong } from '../audio-error.ts';
import { openSandboxed, type SandboxedProcess } from '../sandbox/bounded-process.ts';
import { INPUT, inputRange, inputSamples, UNTRUSTED_INPUT } from '../sandbox/ffmpeg-arguments.ts';
import type { DecodeOptions } from './decode-options.ts';
import { type Frames, fillHoles } from './fill-holes.ts';
import { fitEnd } from './fit-end.ts';
import type { Recording } from './recordings.ts';
import { type TimedSamples, TimedSamplesReader, timedOutput } from './timed-samples.ts';

const MEMORY_MAX_BYTES = 2 ** 30;
// The slowest codec measured decodes 500 times faster than real time; this allows for a machine 50 times slower.
const CPU_SECONDS = { base: 60, perAudioSecond: 1 / 10 };
// Counts only the time that ffmpeg takes for a chunk: between chunks, decoding pauses while the engine transcribes.
const STALL_MAX_MS = 60_000;

/**
 * A recording as a part of its file.
 * @property isWhole  the file holds nothing else that the decoder reads: it is given the file as it is
 * @property filter   of ffmpeg, for the channels; null for all of them
 */
export type RecordingToDecode = Recording & { isWhole: boolean; filter: string | null };

/**
 * An audio track of one recording, decoded by ffmpeg in the sandbox: 16 000 samples per second and channel, with
 * silence where its packets have holes.
 * @throws AudioError, AudioGoneError, StorageAwayError  as `decodePcm`
 */
export async function* decodeRecording(
  path: string,
  recording: RecordingToDecode,
  options: DecodeOptions,
): AsyncGenerator<Frames> {
  const { tools, maxAudioSeconds, signal, stallMaxMs = STALL_MAX_MS } = options;
  const isFloat = options.probed?.codec?.startsWith('pcm_f') ?? false;
  const sandboxed = await openSandboxed('ffmpeg', decodeArguments(recording, isFloat, options), {
    tools,
    input: path,
    signal,
    memoryMaxBytes: MEMORY_MAX_BYTES,
    cpuMaxSeconds: Math.ceil(CPU_SECONDS.base + maxAudioSeconds * CPU_SECONDS.perAudioSecond),
  });
  try {
    let samples = 0;
    const blocks = readBlocks(withStallLimit(sandboxed, stallMaxMs), isFloat);
    const filled = fillHoles(blocks, {
      hasTimes: recording.hasTimes,
      maxSeconds: maxAudioSeconds,
      tooLong: () => tooLong(maxAudioSeconds),
    });
    for await (const frames of recording.start === 0 ? fitEnd(filled, options.probed) : filled) {
      samples += frames.samples.length;
      yield frames;
    }
    signal?.throwIfAborted();
    await assertDecoded(sandboxed, samples);
  } finally {
    sandboxed.close();
  }
}

function decodeArguments(recording: RecordingToDecode, isFloat: boolean, options: DecodeOptions): string[] {
  const { track = 0, probed } = options;
  return [
    ...['-nostdin', '-filter_threads', '1', ...UNTRUSTED_INPUT],
    // The decoder of AMR takes the frames of a pause for errors, and gives up when they are most.
    ...(probed?.format === 'amr' ? ['-max_error_rate', '1'] : []),
    ...(recording.isLongerThanStated ? ['-ignore_length', '1'] : []),
    ...selectInput(recording),
    ...['-map', `0:a:${track}`, '-vn', '-sn', '-dn', '-ar', String(SAMPLE_RATE)],
    ...(recording.filter === null ? [] : ['-af', recording.filter]),
    ...[...timedOutput({ isFloat }), 'pipe:1'],
  ];
}

function selectInput(recording: RecordingToDecode): string[] {
  if (recording.unsized !== null) return inputSamples(recording, recording.unsized);
  return recording.isWhole ? INPUT : inputRange(recording);
}

async function* readBlocks(chunks: AsyncIterable<Buffer>, isFloat: boolean): AsyncGenerator<TimedSamples[]> {
  const reader = new TimedSamplesReader({ isFloat });
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
