import { createReadStream } from 'node:fs';
import type { Pcm } from '../../engines/engine.ts';
import { SAMPLE_RATE } from '../../engines/engine.ts';
import { AudioError, tooLong } from '../audio-error.ts';
import type { PlainWav } from '../plain-wav.ts';
import { findPlainWav } from '../plain-wav.ts';
import type { JailedProcess } from '../sandbox/bounded-process.ts';
import { openJailed } from '../sandbox/bounded-process.ts';
import { DISTRUST, INPUT } from '../sandbox/ffmpeg-arguments.ts';
import type { AudioOptions } from './probe.ts';

const BYTES_PER_SAMPLE = 2;
const MEMORY_MAX_BYTES = 2 ** 30;
// The slowest codec that we measured decodes 500 times faster than real time; this leaves room for a machine 50 times slower.
const CPU_SECONDS = { base: 60, perAudioSecond: 1 / 10 };
// Only the wait for ffmpeg counts, not the time our reader takes: a long file is held back for as long as it is transcribed.
const STALL_MAX_MS = 60_000;

type DecodeOptions = AudioOptions & { stallMaxMs?: number };

/**
 * The first audio track as Int16Array chunks of length frames, mono, 16 000 per second; read only as fast as it is consumed.
 * What a header claims is not believed: the samples that come out are counted.
 * @throws AudioError  when nothing can be decoded, or the audio runs past the limit
 */
export async function* decodePcm(path: string, options: DecodeOptions): AsyncGenerator<Pcm> {
  const { maxAudioSeconds, signal } = options;
  const plain = await findPlainWav(path);
  let samples = 0;
  for await (const pcm of plain ? readPlain(path, plain) : decodeJailed(path, options)) {
    signal?.throwIfAborted();
    samples += pcm.length;
    if (samples > maxAudioSeconds * SAMPLE_RATE) throw tooLong(maxAudioSeconds);
    yield pcm;
  }
  signal?.throwIfAborted();
}

function readPlain(path: string, { offset, length }: PlainWav): AsyncGenerator<Pcm> {
  return wholeSamples(createReadStream(path, { start: offset, end: offset + length - 1 }));
}

async function* decodeJailed(path: string, options: DecodeOptions): AsyncGenerator<Pcm> {
  const { tools, maxAudioSeconds, signal, stallMaxMs = STALL_MAX_MS } = options;
  const jailed = await openJailed('ffmpeg', decodeArguments(maxAudioSeconds), {
    tools,
    input: path,
    signal,
    memoryMaxBytes: MEMORY_MAX_BYTES,
    cpuMaxSeconds: Math.ceil(CPU_SECONDS.base + maxAudioSeconds * CPU_SECONDS.perAudioSecond),
  });
  try {
    let samples = 0;
    for await (const pcm of wholeSamples(withStallLimit(jailed, stallMaxMs))) {
      samples += pcm.length;
      yield pcm;
    }
    signal?.throwIfAborted();
    await judgeEnd(jailed, samples);
  } finally {
    jailed.close();
  }
}

function decodeArguments(maxAudioSeconds: number): string[] {
  return [
    ...['-nostdin', ...DISTRUST],
    // Before -i, where it bounds what is read: a file of silence grows a thousandfold. One second more shows that there was more.
    ...['-t', String(maxAudioSeconds + 1), ...INPUT],
    ...['-map', '0:a:0', '-vn', '-sn', '-dn', '-ac', '1', '-ar', String(SAMPLE_RATE), '-f', 's16le', 'pipe:1'],
  ];
}

async function* withStallLimit(jailed: JailedProcess, stallMaxMs: number): AsyncGenerator<Buffer> {
  const chunks: AsyncIterator<Buffer> = jailed.stdout[Symbol.asyncIterator]();
  while (true) {
    const timer = setTimeout(jailed.kill, stallMaxMs);
    const { done, value } = await chunks.next().finally(() => clearTimeout(timer));
    if (done) return;
    yield value;
  }
}

/** Chunks of bytes as whole samples in memory of their own; a pipe may split a sample in two. */
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

async function judgeEnd(jailed: JailedProcess, samples: number): Promise<void> {
  const { code } = await jailed.ended;
  const cause = new Error(`ffmpeg ended with ${code}: ${jailed.lastWords()}`);
  if (code === null) throw new AudioError('The audio takes too much time or memory to decode.', { cause });
  if (code !== 0 && samples > 0) {
    throw new AudioError('The audio cannot be decoded to its end; the file may be damaged.', { cause });
  }
  // A truncated file ends with code 0 and gives what it holds; some damaged ones end with 0 and give nothing.
  if (samples === 0) throw new AudioError('The file holds no sound that can be decoded.', { cause });
}
