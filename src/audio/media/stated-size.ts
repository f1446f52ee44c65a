import { readWavHeader } from '../plain-wav.ts';

// Encoders that cannot go back to the header write nearly 2 or 4 GiB there.
const UNKNOWN_BYTES = 0x7e00_0000;
const EBML_ID = 0x1a45dfa3;
const SEGMENT_ID = 0x18538067;
const XING_BYTES_FLAG = 2;

/** Whether the bytes at the offset are this text in ASCII. */
export function hasText(bytes: Buffer, at: number, text: string): boolean {
  return bytes.toString('latin1', at, at + text.length) === text;
}

/** The size of the tag that MP3 and FLAC files may have before their audio; 0 without one. */
export function tagBytes(start: Buffer): number {
  if (!hasText(start, 0, 'ID3') || start.length < 10) return 0;
  return 10 + [...start.subarray(6, 10)].reduce((size, byte) => size * 128 + byte, 0);
}

/** The length of a FLAC file by STREAMINFO, its first block; 0 where the encoder did not know it. */
export function flacSeconds(start: Buffer): number {
  if (start.length < 26) return 0;
  // 20 bits of samples per second, 8 of the samples' form, 36 of the number of samples.
  const samples = (start[21]! % 16) * 2 ** 32 + start.readUInt32BE(22);
  return samples / Math.max(1, start.readUIntBE(18, 3) >> 4);
}

/**
 * The size in bytes that a WAV, AIFF, Matroska, WebM or MP3 file states for itself, up to the end of its audio.
 * @param start  the file's first bytes after a tag, 4 KiB or all
 * @returns null where it states none, as live recordings, or is of another format
 */
export function statedBytes(start: Buffer): number | null {
  const bytes = wavBytes(start) ?? aiffBytes(start) ?? matroskaBytes(start) ?? mp3Bytes(start);
  return bytes !== null && bytes < UNKNOWN_BYTES ? bytes : null;
}

function wavBytes(start: Buffer): number | null {
  const wav = readWavHeader(start);
  return wav && wav.offset + wav.claimedBytes;
}

function aiffBytes(start: Buffer): number | null {
  return hasText(start, 0, 'FORM') && hasText(start, 8, 'AIF') ? 8 + start.readUInt32BE(4) : null;
}

function matroskaBytes(start: Buffer): number | null {
  if (readId(start, 0) !== EBML_ID) return null;
  const segmentAt = endOfElement(start, 0);
  return readId(start, segmentAt) === SEGMENT_ID ? endOfElement(start, segmentAt) : null;
}

function readId(bytes: Buffer, at: number): number | null {
  return at + 4 <= bytes.length ? bytes.readUInt32BE(at) : null;
}

/** Where an element ends whose id has 4 bytes. The leading zeros of its size are the number of bytes that follow. */
function endOfElement(bytes: Buffer, at: number): number {
  const [first = 0, ...others] = bytes.subarray(at + 4, at + 12);
  const following = Math.clz32(first) - 24;
  const size = others.slice(0, following).reduce((sum, byte) => sum * 256 + byte, first % 2 ** (7 - following));
  return at + 5 + following + size;
}

/** By the tag Xing, or Info where the bit rate is constant, in the first frame. Without it the size is not known. */
function mp3Bytes(start: Buffer): number | null {
  if (start.length < 256 || start.readUInt16BE(0) < 0xffe0) return null;
  const at = Math.max(...['Xing', 'Info'].map((name) => start.subarray(0, 64).indexOf(name)));
  const flags = at === -1 ? 0 : start.readUInt32BE(at + 4);
  if ((flags & XING_BYTES_FLAG) === 0) return null;
  // The number of frames comes before it.
  return start.readUInt32BE(at + (flags % 2 === 0 ? 8 : 12));
}
