import type { Pcm } from '../../engines/engine.ts';
import { FloatLevel } from './float-level.ts';

/** Samples of all channels, interleaved, and the time of the first one in the file. */
export type TimedSamples = { channels: number; startSeconds: number; samples: Pcm };

/**
 * The options of ffmpeg for its output that `TimedSamplesReader` reads: Matroska with uncompressed audio.
 * @param isFloat  the samples are in floating point, in the file too: they may be louder than 16 bits can say
 */
export function timedOutput({ isFloat }: { isFloat: boolean }): string[] {
  return [
    // Without the tags, which are the file's own text, and without checksums, that nobody reads.
    ...['-map_metadata', '-1', '-fflags', '+bitexact', '-write_crc32', '0'],
    ...['-c:a', isFloat ? 'pcm_f32le' : 'pcm_s16le', '-f', 'matroska'],
  ];
}

// The elements of Matroska that are read (RFC 9559), by their ids.
const CHANNELS = 0x9f;
const CLUSTER_TIMESTAMP = 0xe7;
const SIMPLE_BLOCK = 0xa3;
const BLOCK = 0xa1;
/** Elements whose content is read like the elements beside them: segment, cluster, tracks, track, audio, group. */
const CONTAINERS = new Set([0x18538067, 0x1f43b675, 0x1654ae6b, 0xae, 0xe1, 0xa0]);
/** The longest block seen is 1 MiB: a frame of FLAC with eight channels. */
const CONTENT_MAX_BYTES = 16 * 1024 * 1024;
const ID_MAX_BYTES = 4;
const SIZE_MAX_BYTES = 8;
const BYTES_PER_SAMPLE = { integer: 2, float: 4 };
const TICKS_PER_SECOND = 1000;
/** Track number, time relative to the cluster, flags. */
const BLOCK_HEAD_BYTES = 1 + 2 + 1;

type Element = { id: number; contentAt: number; bytes: number };

/**
 * Reads what ffmpeg writes with `timedOutput`: of all formats that can be written to a pipe, Matroska is the simplest
 * that keeps the time of the samples. A hole in the file's timestamps shows as a hole between two blocks.
 */
export class TimedSamplesReader {
  #unread: Buffer = Buffer.alloc(0);
  #skipBytes = 0;
  #channels = 1;
  #clusterTicks = 0;
  readonly #level: FloatLevel | null;

  constructor({ isFloat }: { isFloat: boolean }) {
    this.#level = isFloat ? new FloatLevel() : null;
  }

  /**
   * The blocks that are complete with these bytes.
   * @throws Error  when the bytes are not what ffmpeg writes
   */
  push(bytes: Buffer): TimedSamples[] {
    const found: TimedSamples[] = [];
    this.#unread = this.#unread.length === 0 ? bytes : Buffer.concat([this.#unread, bytes]);
    let at = 0;
    while (true) {
      const skipped = Math.min(this.#skipBytes, this.#unread.length - at);
      this.#skipBytes -= skipped;
      at += skipped;
      const element = readHead(this.#unread, at);
      if (element === null || (isRead(element.id) && element.contentAt + element.bytes > this.#unread.length)) break;
      at = element.contentAt;
      if (CONTAINERS.has(element.id)) continue;
      this.#skipBytes = element.bytes;
      if (isRead(element.id)) this.#read(element, found);
    }
    this.#unread = this.#unread.subarray(at);
    return found;
  }

  #read({ id, contentAt, bytes }: Element, found: TimedSamples[]): void {
    const content = this.#unread.subarray(contentAt, contentAt + bytes);
    if (id === CHANNELS) this.#channels = readNumber(content);
    else if (id === CLUSTER_TIMESTAMP) this.#clusterTicks = readNumber(content);
    else {
      const startSeconds = (this.#clusterTicks + content.readInt16BE(1)) / TICKS_PER_SECOND;
      found.push({
        channels: this.#channels,
        startSeconds,
        samples: this.#samplesOf(content.subarray(BLOCK_HEAD_BYTES)),
      });
    }
  }

  #samplesOf(bytes: Buffer): Pcm {
    const length = Math.floor(bytes.length / BYTES_PER_SAMPLE[this.#level ? 'float' : 'integer']);
    if (this.#level === null) return aligned(bytes, new Int16Array(length));
    return this.#level.toPcm(aligned(bytes, new Float32Array(length)));
  }
}

function isRead(id: number): boolean {
  return id === SIMPLE_BLOCK || id === BLOCK || id === CLUSTER_TIMESTAMP || id === CHANNELS;
}

/** Null when the bytes end within the head of an element. */
function readHead(bytes: Buffer, at: number): Element | null {
  if (at >= bytes.length) return null;
  const sizeAt = at + lengthOf(bytes[at]!, ID_MAX_BYTES);
  if (sizeAt >= bytes.length) return null;
  const sizeBytes = lengthOf(bytes[sizeAt]!, SIZE_MAX_BYTES);
  const contentAt = sizeAt + sizeBytes;
  if (contentAt > bytes.length) return null;
  const id = readNumber(bytes.subarray(at, sizeAt));
  // The highest bit of a size belongs to its length.
  const first = bytes[sizeAt]! - (0x80 >> (sizeBytes - 1));
  const length = first * 256 ** (sizeBytes - 1) + readNumber(bytes.subarray(sizeAt + 1, contentAt));
  if (isRead(id) && length > CONTENT_MAX_BYTES) throw new Error('ffmpeg wrote a block that is too long');
  return { id, contentAt, bytes: length };
}

/** The zeros before the first one in the first byte of a number tell how many bytes follow. */
function lengthOf(firstByte: number, maxBytes: number): number {
  const bytes = Math.clz32(firstByte) - 24 + 1;
  if (bytes > maxBytes) throw new Error('the output of ffmpeg is not Matroska');
  return bytes;
}

function readNumber(bytes: Buffer): number {
  return bytes.reduce((number, byte) => number * 256 + byte, 0);
}

/** The samples in a copy of the bytes, which aligns them. */
function aligned<Samples extends Int16Array | Float32Array>(bytes: Buffer, samples: Samples): Samples {
  bytes.copy(Buffer.from(samples.buffer), 0, 0, samples.byteLength);
  return samples;
}
