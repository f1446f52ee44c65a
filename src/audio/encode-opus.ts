import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Pcm, SAMPLE_RATE } from '../engines/engine.ts';
import type { ToolPaths } from '../platform/tools.ts';
import { openSandboxed } from './sandbox/bounded-process.ts';

type OpusOptions = { tools: ToolPaths; maxAudioSeconds: number; signal: AbortSignal };

/** Bytes of a second of audio, at most: 48 kbit/s, and the pages of the container. */
export const OPUS_BYTES_PER_SECOND = 8_192;
const MEMORY_MAX_BYTES = 2 ** 30;
// Encoding takes 3 ms for each second of audio.
const CPU_SECONDS = { base: 60, perAudioSecond: 1 / 10 };
const ARGUMENTS = [
  ...['-nostdin', '-hide_banner', '-v', 'error', '-threads', '1', '-filter_threads', '1'],
  ...['-f', 's16le', '-ar', String(SAMPLE_RATE), '-ac', '1', '-i', 'pipe:0'],
  // ffmpeg's own encoder is in every build, and takes half the time of libopus. It calls itself experimental.
  ...['-c:a', 'opus', '-strict', 'experimental', '-b:a', '48k', '-ar', '48000'],
  // The same samples give the same bytes.
  ...['-fflags', '+bitexact', '-flags', '+bitexact', '-f', 'ogg', 'pipe:1'],
];

/**
 * The samples as an Ogg file with Opus, made only as fast as it is consumed. Ogg: a player finds the length and each
 * position of a file that was written into a pipe by reading parts of it, which WebM has an index for.
 * @throws Error  what reading the samples throws; or when ffmpeg fails
 * @throws unknown  the reason of the signal
 */
export async function* encodeOpus(samples: AsyncIterable<Pcm>, options: OpusOptions): AsyncGenerator<Buffer> {
  const { tools, maxAudioSeconds, signal } = options;
  const sandboxed = await openSandboxed('ffmpeg', ARGUMENTS, {
    hasStdin: true,
    tools,
    signal,
    memoryMaxBytes: MEMORY_MAX_BYTES,
    cpuMaxSeconds: Math.ceil(CPU_SECONDS.base + maxAudioSeconds * CPU_SECONDS.perAudioSecond),
  });
  let failure: { cause: unknown } | null = null;
  const written = writeAll(samples, sandboxed.stdin!).catch((cause: unknown) => {
    failure = { cause };
    sandboxed.kill();
  });
  try {
    yield* sandboxed.stdout;
    await written;
    signal.throwIfAborted();
    const { code } = await sandboxed.ended;
    if (failure !== null && !isBrokenPipe(failure)) throw (failure as { cause: unknown }).cause;
    if (code !== 0) throw new Error(`ffmpeg ended with ${code}: ${sandboxed.stderrEnd()}`);
  } finally {
    sandboxed.close();
    // Ends the decoding.
    sandboxed.stdin!.destroy();
    await written;
  }
}

async function writeAll(samples: AsyncIterable<Pcm>, stdin: Writable): Promise<void> {
  await pipeline(bytesOf(samples), stdin);
}

async function* bytesOf(samples: AsyncIterable<Pcm>): AsyncGenerator<Buffer> {
  for await (const { buffer, byteOffset, byteLength } of samples) yield Buffer.from(buffer, byteOffset, byteLength);
}

/** ffmpeg has ended: its exit code says why. */
function isBrokenPipe({ cause }: { cause: unknown }): boolean {
  return ['EPIPE', 'ERR_STREAM_PREMATURE_CLOSE'].includes(String((cause as { code?: unknown }).code));
}
