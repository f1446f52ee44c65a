import { type OpenAudio, openAudio } from '../storage/open-audio.ts';
import { flacSeconds, hasText, statedBytes, tagBytes } from './stated-size.ts';

type MediaFile = { sizeBytes: number; read(at: number, bytes: number): Promise<Buffer> };

/**
 * The length that a container states: in seconds, or in bytes of the file as a share of those that are there. 0 seconds
 * where it states nothing.
 */
export type StatedLength = { seconds: number } | { share: number };

/** Less than either is what encoders and tag editors are off by. */
const MISSING_MIN = { seconds: 1, share: 0.02 };
const START_BYTES = 4096;
const PAGE_HEADER_BYTES = 27;
const PAGE_MAX_BYTES = PAGE_HEADER_BYTES + 255 + 255 * 255;
const BOXES_MAX = 100;
// Of MP4, and of QuickTime files that are older.
const FIRST_BOXES = ['ftyp', 'moov', 'mdat', 'wide'];

/**
 * What the container of a file states about its length. Most state their size in bytes, FLAC its samples. Ogg states
 * nothing, but a file that ends within a page was cut off: its length is infinite.
 * @param from  as for `openAudio`
 * @throws AudioGoneError, StorageAwayError  as `openAudio`
 */
export async function readStatedLength(path: string, from: { isInMemory: boolean }): Promise<StatedLength> {
  using file = await openAudio(path, from);
  return await statedLength(mediaFile(file, from));
}

/**
 * Whether a file lacks its end: its container states at least 1 s and 2 % more than it holds. A size in bytes is
 * compared with the file's, and not with what was decoded: that may be shorter for gaps and edits.
 */
export function isCutOff(stated: StatedLength, decodedSeconds: number): boolean {
  const statedSeconds = 'share' in stated ? stated.share * decodedSeconds : stated.seconds;
  return statedSeconds - decodedSeconds > Math.max(MISSING_MIN.seconds, MISSING_MIN.share * decodedSeconds);
}

/**
 * Whether a file is an MP4 of which a part is missing:
 * its index, or the index's end, without which nothing can be decoded.
 */
export async function lacksIndex(path: string): Promise<boolean> {
  using file = await openAudio(path);
  const boxes = await readBoxes(file);
  return boxes !== null && (!boxes.hasIndex || boxes.endsAt > file.sizeBytes);
}

function mediaFile(file: OpenAudio, from: { isInMemory: boolean }): MediaFile {
  return { sizeBytes: file.sizeBytes, read: (at, bytes) => file.read(at, bytes, from) };
}

async function statedLength(file: MediaFile): Promise<StatedLength> {
  const head = await file.read(0, START_BYTES);
  const startsAt = tagBytes(head);
  const start = startsAt === 0 ? head : await file.read(startsAt, START_BYTES);
  if (hasText(start, 0, 'fLaC')) return { seconds: flacSeconds(start) };
  if (hasText(start, 0, 'OggS')) return { seconds: (await endsWithinPage(file)) ? Number.POSITIVE_INFINITY : 0 };
  const bytes = statedBytes(start) ?? (await readBoxes(file))?.endsAt ?? 0;
  return { share: bytes / (file.sizeBytes - startsAt) };
}

async function endsWithinPage(file: MediaFile): Promise<boolean> {
  const end = await file.read(Math.max(0, file.sizeBytes - PAGE_MAX_BYTES), PAGE_MAX_BYTES);
  const page = end.subarray(Math.max(0, end.lastIndexOf('OggS')));
  const segments = page.subarray(PAGE_HEADER_BYTES, PAGE_HEADER_BYTES + (page[PAGE_HEADER_BYTES - 1] ?? 0));
  return page.length < segments.reduce((bytes, segment) => bytes + segment, PAGE_HEADER_BYTES + segments.length);
}

/**
 * The end of the boxes of an MP4 as they state it, which is after the end of the file where it was cut off; null for
 * other files. Those of a live recording are many: the first ones are read.
 */
async function readBoxes(file: MediaFile): Promise<{ endsAt: number; hasIndex: boolean } | null> {
  const first = await file.read(0, 8);
  if (!FIRST_BOXES.includes(first.toString('latin1', 4, 8))) return null;
  let hasIndex = false;
  let endsAt = 0;
  for (let count = 0; count < BOXES_MAX && endsAt < file.sizeBytes; count += 1) {
    const header = await file.read(endsAt, 16);
    hasIndex ||= header.toString('latin1', 4, 8) === 'moov';
    const bytes = boxBytes(header);
    if (bytes === null) return { endsAt: file.sizeBytes, hasIndex };
    endsAt += bytes;
  }
  return { endsAt, hasIndex };
}

/** Null for a box up to the end of the file, and for what is none. */
function boxBytes(header: Buffer): number | null {
  if (header.length < 8) return null;
  const bytes = header.readUInt32BE(0);
  if (bytes === 1 && header.length === 16) return header.readUInt32BE(8) * 2 ** 32 + header.readUInt32BE(12);
  return bytes < 8 ? null : bytes;
}
