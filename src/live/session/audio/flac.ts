import { bytesPerSample, decodeSamples, type LiveFormat } from '../../../rules/live/encoding.ts';
import type { StoredPart } from './live-audio.ts';

const SAMPLE_BYTES = 2;
const BLOCK_SAMPLES = 4_096;
const BLOCK_SAMPLES_CODE = 0xc0;
/** The size of the block follows in the header, as 16 bits. */
const OTHER_SAMPLES_CODE = 0x70;
const MONO_16_BITS = 0x08;
const CONSTANT_SUBFRAME = 0x00;
const VERBATIM_SUBFRAME = 0x02;
const STREAM_HEADER_BYTES = 42;
/** Of a frame: 4 bytes, 4 of its number, 2 of its size, a checksum; the kind of its samples; a checksum of 2 bytes. */
const FRAME_MAX_OVERHEAD_BYTES = 14;
const CRC_8 = crcTable(0x07, 8);
const CRC_16 = crcTable(0x8005, 16);

/** The most bytes that `flacOf` makes of this number of bytes of audio. */
export function flacMaxBytes(format: LiveFormat, bytes: number): number {
  const samples = samplesIn(format, bytes);
  const frames = Math.ceil(samples / BLOCK_SAMPLES);
  return STREAM_HEADER_BYTES + samples * SAMPLE_BYTES + frames * FRAME_MAX_OVERHEAD_BYTES;
}

/**
 * A FLAC file (RFC 9639) of the audio of a live session that has gaps: samples of 16 bits as they were received, and a
 * gap as silence. A block of silence takes 10 bytes, so that a gap of an hour takes 150 KB, and the times of the file
 * are those of the session.
 * @param bytes  of the session, gaps included
 */
export async function* flacOf(
  format: LiveFormat,
  bytes: number,
  audio: AsyncIterable<StoredPart>,
): AsyncGenerator<Uint8Array> {
  yield streamHeader(format.sampleRate, samplesIn(format, bytes));
  const blocks = new BlockWriter();
  let at = 0;
  // Half a sample, which the next part completes.
  let rest: Uint8Array = new Uint8Array(0);
  for await (const part of audio) {
    const end = at + (part.kind === 'gap' ? part.bytes : part.bytes.length);
    const halfBytes = end % bytesPerSample(format.encoding);
    if (part.kind === 'gap') {
      yield* blocks.addSilence(samplesIn(format, end) - samplesIn(format, at));
      rest = new Uint8Array(halfBytes);
    } else {
      const all = rest.length === 0 ? part.bytes : Buffer.concat([rest, part.bytes]);
      yield* blocks.add(decodeSamples(format.encoding, all));
      rest = all.slice(all.length - halfBytes);
    }
    at = end;
  }
  yield* blocks.end();
}

/** Gathers samples to blocks, and makes a frame of each. */
class BlockWriter {
  readonly #samples = new Int16Array(BLOCK_SAMPLES);
  #length = 0;
  #isSilent = true;
  #frames = 0;

  *add(samples: Int16Array): Generator<Buffer> {
    for (let at = 0; at < samples.length; ) {
      const part = samples.subarray(at, at + BLOCK_SAMPLES - this.#length);
      this.#samples.set(part, this.#length);
      this.#length += part.length;
      this.#isSilent = false;
      at += part.length;
      if (this.#length === BLOCK_SAMPLES) yield this.#frame();
    }
  }

  *addSilence(samples: number): Generator<Buffer> {
    for (let left = samples; left > 0; ) {
      const part = Math.min(left, BLOCK_SAMPLES - this.#length);
      this.#samples.fill(0, this.#length, this.#length + part);
      this.#length += part;
      left -= part;
      if (this.#length === BLOCK_SAMPLES) yield this.#frame();
    }
  }

  *end(): Generator<Buffer> {
    if (this.#length > 0) yield this.#frame();
  }

  #frame(): Buffer {
    const samples = this.#samples.subarray(0, this.#isSilent ? 1 : this.#length);
    const header = frameHeader(this.#frames, this.#length);
    const frame = Buffer.alloc(header.length + 1 + samples.length * SAMPLE_BYTES + 2);
    frame.set(header);
    frame[header.length] = this.#isSilent ? CONSTANT_SUBFRAME : VERBATIM_SUBFRAME;
    const body = new DataView(frame.buffer, frame.byteOffset + header.length + 1);
    for (let at = 0; at < samples.length; at++) body.setInt16(SAMPLE_BYTES * at, samples[at]!);
    frame.writeUInt16BE(crc16(frame.subarray(0, -2)), frame.length - 2);
    this.#frames += 1;
    this.#length = 0;
    this.#isSilent = true;
    return frame;
  }
}

function streamHeader(sampleRate: number, samples: number): Buffer {
  const header = Buffer.alloc(STREAM_HEADER_BYTES);
  header.write('fLaC');
  // The only block of metadata, and the last: 34 bytes.
  header[4] = 0x80;
  header[7] = 34;
  header.writeUInt16BE(BLOCK_SAMPLES, 8);
  header.writeUInt16BE(BLOCK_SAMPLES, 10);
  // The sizes of frames and the MD5 of the samples stay 0: not known. 20 bits of rate, 3 of channels, 5 of bits less 1.
  header.writeUIntBE(sampleRate * 16, 18, 3);
  header[20]! |= (16 - 1) >> 4;
  header[21] = ((16 - 1) & 0xf) * 16 + Math.floor(samples / 2 ** 32);
  header.writeUInt32BE(samples % 2 ** 32, 22);
  return header;
}

function frameHeader(number: number, samples: number): Buffer {
  const isWhole = samples === BLOCK_SAMPLES;
  const bytes = [0xff, 0xf8, isWhole ? BLOCK_SAMPLES_CODE : OTHER_SAMPLES_CODE, MONO_16_BITS, ...codedNumber(number)];
  if (!isWhole) bytes.push((samples - 1) >> 8, (samples - 1) & 0xff);
  return Buffer.from([...bytes, crc8(bytes)]);
}

/** As UTF-8 codes a character: the number of a frame of a session is below 2 ** 21. */
function codedNumber(number: number): Buffer {
  if (number < 0x80) return Buffer.from([number]);
  if (number < 0x800) return Buffer.from([0xc0 | (number >> 6), 0x80 | (number & 0x3f)]);
  const last = [0x80 | ((number >> 6) & 0x3f), 0x80 | (number & 0x3f)];
  if (number < 0x10000) return Buffer.from([0xe0 | (number >> 12), ...last]);
  return Buffer.from([0xf0 | (number >> 18), 0x80 | ((number >> 12) & 0x3f), ...last]);
}

function samplesIn({ encoding }: LiveFormat, bytes: number): number {
  return Math.floor(bytes / bytesPerSample(encoding));
}

function crc8(bytes: Iterable<number>): number {
  let crc = 0;
  for (const byte of bytes) crc = CRC_8[crc ^ byte]!;
  return crc;
}

function crc16(bytes: Uint8Array): number {
  let crc = 0;
  for (let at = 0; at < bytes.length; at++) crc = ((crc << 8) & 0xffff) ^ CRC_16[(crc >> 8) ^ bytes[at]!]!;
  return crc;
}

function crcTable(polynomial: number, bits: 8 | 16): Uint16Array {
  const top = 1 << (bits - 1);
  const mask = 2 * top - 1;
  return Uint16Array.from({ length: 256 }, (_, byte) => {
    let crc = byte << (bits - 8);
    for (let bit = 0; bit < 8; bit++) crc = crc & top ? ((crc << 1) ^ polynomial) & mask : crc << 1;
    return crc;
  });
}
