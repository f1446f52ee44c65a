import type { Pcm } from '../../engines/engine.ts';
import { SAMPLE_RATE } from '../../engines/engine.ts';
import { AudioError, AudioGoneError, tooLong } from '../audio-error.ts';
import { openPlainWav } from '../plain-wav.ts';
import type { SandboxedProcess } from '../sandbox/bounded-process.ts';
import { openSandboxed } from '../sandbox/bounded-process.ts';
import { INPUT, UNTRUSTED_INPUT } from '../sandbox/ffmpeg-arguments.ts';
import type { AudioOptions } from './probe.ts';

const BYTES_PER_SAMPLE = 2;
const MEMORY_MAX_BYTES = 2 ** 30;
// The slowest codec measured decodes 500 times faster than real time; this allows for a machine 50 times slower.
const CPU_SECONDS = { base: 60, perAudioSecond: 1 / 10 };
// Counts only the time that ffmpeg takes for a chunk: between chunks, decoding pauses while the engine transcribes.
const STALL_MAX_MS = 60_000;

type DecodeOptions = AudioOptions & { stallMaxMs?: number };

/**
 * The first audio track as chunks of samples, mono, 16 000 per second, decoded only as fast as they are consumed.
 * The limit applies to the decoded samples, whatever the header claims.
 * @throws AudioError  when nothing can be decoded, or the audio is longer than the limit
 * @throws AudioGoneError  when there is no file
 */
export async function* decodePcm(path: string, options: DecodeOptions): AsyncGenerator<Pcm> {
  const { maxAudioSeconds, signal } = options;
  const plain = await openPlainWav(path).catch(rethrowGone);
  let samples = 0;
  for await (const pcm of plain ?? decodeSandboxed(path, options)) {
    signal?.throwIfAborted();
    samples += pcm.length;
    if (samples > maxAudioSeconds * SAMPLE_RATE) throw tooLong(maxAudioSeconds);
    yield pcm;
  }
  signal?.throwIfAborted();
}

function rethrowGone(cause: NodeJS.ErrnoException): never {
  throw cause.code === 'ENOENT' ? new AudioGoneError({ cause }) : cause;
}

async function* decodeSandboxed(path: string, options: DecodeOptions): AsyncGenerator<Pcm> {
  const { tools, maxAudioSeconds, signal, stallMaxMs = STALL_MAX_MS } = options;
  const sandboxed = await openSandboxed('ffmpeg', decodeArguments(maxAudioSeconds), {
    tools,
    input: path,
    signal,
    memoryMaxBytes: MEMORY_MAX_BYTES,
    cpuMaxSeconds: Math.ceil(CPU_SECONDS.base + maxAudioSeconds * CPU_SECONDS.perAudioSecond),
  });
  try {
    let samples = 0;
    for await (const pcm of wholeSamples(withStallLimit(sandboxed, stallMaxMs))) {
      samples += pcm.length;
      yield pcm;
    }
    signal?.throwIfAborted();
    await assertDecoded(sandboxed, samples);
  } finally {
    sandboxed.close();
  }
}

function decodeArguments(maxAudioSeconds: number): string[] {
  return [
    ...['-nostdin', ...UNTRUSTED_INPUT],
    // Before -i it limits the input: decoded silence is a thousand times the size of its file. One second past the limit
    // shows that the audio is too long.
    ...['-t', String(maxAudioSeconds + 1), ...INPUT],
    ...['-map', '0:a:0', '-vn', '-sn', '-dn', '-ac', '1', '-ar', String(SAMPLE_RATE), '-f', 's16le', 'pipe:1'],
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

/** Bytes as samples, copied; a sample may be split over two chunks. */
async function* wholeSamples(chunks: AsyncIterable<Buffer>): AsyncGenerator<Pcm> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of chunks) {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const samples = Math.floor(bytes.length / BYTES_PER_SAMPLE);
    const pcm = new Int16Array(samples);
    bytes.copy(Buffer.from(pcm.buffer), 0, 0, samples * BYTES_PER_SAMPLE);
    rest = bytes.subarray(samples * BYTES_PER_SAMPLE);
    if (samples > 0) yield pcm;
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
  if (samples === 0) throw new AudioError('The file holds no sound that can be decoded.', { cause });
}
