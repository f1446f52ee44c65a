import { stat } from 'node:fs/promises';
import { type Pcm, SAMPLE_RATE } from '../../engines/engine.ts';
import { AudioError, AudioGoneError, noSound, tooLong } from '../audio-error.ts';
import { openPlainWav, type ReadOptions } from '../plain-wav.ts';
import { openSandboxed, type SandboxedProcess } from '../sandbox/bounded-process.ts';
import { INPUT, UNTRUSTED_INPUT } from '../sandbox/ffmpeg-arguments.ts';
import type { AudioOptions } from './probe.ts';

const BYTES_PER_SAMPLE = 2;
const MEMORY_MAX_BYTES = 2 ** 30;
// The slowest codec measured decodes 500 times faster than real time; this allows for a machine 50 times slower.
const CPU_SECONDS = { base: 60, perAudioSecond: 1 / 10 };
// Counts only the time that ffmpeg takes for a chunk: between chunks, decoding pauses while the engine transcribes.
const STALL_MAX_MS = 60_000;
/** All channels as one. */
const MIXED = ['-ac', '1', '-f', 's16le'];

/**
 * @property track  index of the audio track; the first when absent
 * @property sizeBytes, isInMemory  as for `openPlainWav`
 */
export type DecodeOptions = AudioOptions & ReadOptions & { stallMaxMs?: number; track?: number };

/**
 * An audio track as chunks of samples, mono, 16 000 per second, decoded only as fast as they are consumed.
 * The limit applies to the decoded samples, whatever the header claims.
 * @throws AudioError  when nothing can be decoded, or the audio is longer than the limit
 * @throws AudioGoneError  when there is no file, or only a part of it
 */
export async function* decodePcm(path: string, options: DecodeOptions): AsyncGenerator<Pcm> {
  const { maxAudioSeconds, signal, track = 0 } = options;
  const plain = track === 0 ? await openPlainWav(path, options).catch(rethrowGone) : null;
  let samples = 0;
  for await (const pcm of plain ?? wholeFrames(decodeSandboxed(path, MIXED, options), 1)) {
    signal?.throwIfAborted();
    samples += pcm.length;
    if (samples > maxAudioSeconds * SAMPLE_RATE) throw tooLong(maxAudioSeconds);
    yield pcm;
  }
  signal?.throwIfAborted();
}

/**
 * The output of ffmpeg, in the sandbox, for an audio track at 16 000 samples per second and channel.
 * @param output  ffmpeg's options for the channels and the form of the output
 * @throws AudioError, AudioGoneError  as `decodePcm`, but for the limit of the length
 */
export async function* decodeSandboxed(
  path: string,
  output: readonly string[],
  options: DecodeOptions,
): AsyncGenerator<Buffer> {
  const { tools, maxAudioSeconds, signal, stallMaxMs = STALL_MAX_MS, track = 0, sizeBytes = 0 } = options;
  if ((await stat(path).catch(rethrowGone)).size < sizeBytes) throw new AudioGoneError();
  const sandboxed = await openSandboxed('ffmpeg', [...decodeArguments(maxAudioSeconds, track), ...output, 'pipe:1'], {
    tools,
    input: path,
    signal,
    memoryMaxBytes: MEMORY_MAX_BYTES,
    cpuMaxSeconds: Math.ceil(CPU_SECONDS.base + maxAudioSeconds * CPU_SECONDS.perAudioSecond),
  }).catch(rethrowGone);
  try {
    let bytes = 0;
    for await (const chunk of withStallLimit(sandboxed, stallMaxMs)) {
      bytes += chunk.length;
      yield chunk;
    }
    signal?.throwIfAborted();
    await assertDecoded(sandboxed, bytes);
  } finally {
    sandboxed.close();
  }
}

function rethrowGone(cause: NodeJS.ErrnoException): never {
  throw cause.code === 'ENOENT' ? new AudioGoneError({ cause }) : cause;
}

function decodeArguments(maxAudioSeconds: number, track: number): string[] {
  return [
    ...['-nostdin', ...UNTRUSTED_INPUT],
    // Before -i it limits the input: decoded silence is a thousand times the size of its file. One second past the
    // limit shows that the audio is too long.
    ...['-t', String(maxAudioSeconds + 1), ...INPUT],
    ...['-map', `0:a:${track}`, '-vn', '-sn', '-dn', '-ar', String(SAMPLE_RATE)],
  ];
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

/**
 * Bytes as samples, copied, in chunks of whole frames of so many channels;
 * a frame may be split over two chunks of bytes.
 */
export async function* wholeFrames(chunks: AsyncIterable<Buffer>, channels: number): AsyncGenerator<Pcm> {
  const frameBytes = channels * BYTES_PER_SAMPLE;
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of chunks) {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const used = bytes.length - (bytes.length % frameBytes);
    const pcm = new Int16Array(used / BYTES_PER_SAMPLE);
    bytes.copy(Buffer.from(pcm.buffer), 0, 0, used);
    rest = bytes.subarray(used);
    if (used > 0) yield pcm;
  }
}

async function assertDecoded(sandboxed: SandboxedProcess, bytes: number): Promise<void> {
  const { code } = await sandboxed.ended;
  const cause = new Error(`ffmpeg ended with ${code}: ${sandboxed.stderrEnd()}`);
  if (code === null) throw new AudioError('The audio takes too much time or memory to decode.', { cause });
  if (code !== 0 && bytes > 0) {
    throw new AudioError('The audio cannot be decoded to its end; the file may be damaged.', { cause });
  }
  // ffmpeg ends with 0 for a truncated file, after its samples, and for some damaged files, without any.
  if (bytes === 0) throw noSound(cause);
}
