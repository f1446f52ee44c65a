import { hasText } from '../media/stated-size.ts';
import { findUnsizedSamples, type UnsizedSamples } from '../media/unsized-samples.ts';

/** `read` gives fewer bytes at the end of the file. */
export type MediaFile = { sizeBytes: number; read(at: number, bytes: number): Promise<Buffer> };

/**
 * A range of bytes that is a media file of its own.
 * @property isLongerThanStated  its header states fewer samples than follow: it was not updated after the last ones
 * @property hasTimes            its packets have times, so that there can be holes between them
 * @property unsized             where its samples are, as the decoder refuses its header; null for all others
 */
export type Recording = {
  start: number;
  end: number;
  isLongerThanStated: boolean;
  hasTimes: boolean;
  unsized: UnsizedSamples | null;
};

/** @property unreadBytes  what follows the last recording and is neither a recording nor a tag */
export type Recordings = { recordings: Recording[]; unreadBytes: number };

/** The header of a page of Ogg is the longest: 27 bytes and one for each of its segments. */
const HEAD_BYTES = 27 + 255;
/** What is shorter holds no word: padding and tags that no container knows. */
const REST_MIN_BYTES = 4096;
const HEADER_BYTES = 4096;
/** Places that are looked at to tell padding from sound that begins with silence. */
const PADDING_READS = 256;
/** A recorder that starts a new recording at each pause; each one costs a start of the decoder. */
const RECORDINGS_MAX = 1000;
/** Chunks of a file that are read to find its end. A file with more is taken as one recording. */
const CHUNKS_MAX = 5000;
const ASF_HEADER = Buffer.from('3026b2758e66cf11a6d900aa0062ce6c', 'hex');
const W64_RIFF = Buffer.from('726966662e91cf11a5d628db04c10000', 'hex');
/** The boxes of a file of MP4 or QuickTime. */
const BOXES = [
  ...['ftyp', 'styp', 'moov', 'moof', 'mfra', 'mdat', 'sidx', 'ssix', 'emsg', 'prft', 'pdin', 'free', 'skip', 'wide'],
  ...['meta', 'udta', 'uuid', 'junk', 'pnot', 'PICT'],
];
/** Tags that players append to files of any format. */
const TAGS = ['TAG', 'ID3', 'APETAGEX', 'LYRICSBEGIN'];

/**
 * The recordings that a file holds one after the other: recorders append to a file after a pause, and people join files
 * byte by byte. Containers that state their size end before the second one, and decoders stop there. In all other
 * formats the decoder reads on by itself, up to the end of the file.
 */
export async function findRecordings(file: MediaFile): Promise<Recordings> {
  const recordings: Recording[] = [];
  for (let at = 0; at < file.sizeBytes; ) {
    const head = await file.read(at, HEAD_BYTES);
    const end = await endOfRecording(file, head, at);
    const isRecording = end !== null || recordings.length === 0 || isStream(head);
    if (!isRecording || recordings.length === RECORDINGS_MAX)
      return { recordings, unreadBytes: await rest(file, head, at) };
    const unsized = isAiff(head) || isW64(head) ? findUnsizedSamples(await file.read(at, HEADER_BYTES)) : null;
    const stated = unsized === null ? end : null;
    recordings.push({ ...wholeFile(file.sizeBytes), start: at, hasTimes: hasTimes(head), unsized, ...stated });
    at = recordings.at(-1)!.end;
  }
  return { recordings, unreadBytes: 0 };
}

/** A recording up to the end of the file. */
export function wholeFile(sizeBytes: number): Recording {
  return { start: 0, end: sizeBytes, isLongerThanStated: false, hasTimes: false, unsized: null };
}

type End = { end: number; isLongerThanStated?: boolean };

/** Null where the container states no end, or nothing that is known begins here. */
async function endOfRecording(file: MediaFile, head: Buffer, at: number): Promise<End | null> {
  if (isWav(head)) return await endOfWav(file, at);
  if (isAiff(head)) return stated(file, at, 8 + head.readUInt32BE(4));
  if (isAu(head)) return endOfAu(file, head, at);
  if (isW64(head)) return stated(file, at, Number(head.readBigUInt64LE(16)));
  if (isCaf(head)) return await endOfChunks(file, at + 8, readCafChunk);
  if (isMp4(head)) return await endOfChunks(file, at, readBox);
  if (isAsf(head)) return await endOfChunks(file, at, readAsfObject);
  if (isOgg(head)) return await endOfOgg(file, at);
  return null;
}

/** A file that was cut off states more than there is; one that was written into a pipe states nothing. */
function stated({ sizeBytes }: MediaFile, at: number, bytes: number): End {
  const end = at + bytes + (bytes % 2);
  return { end: bytes <= 8 || end > sizeBytes ? sizeBytes : end };
}

function endOfAu(file: MediaFile, head: Buffer, at: number): End {
  if (head.length < 12) return { end: file.sizeBytes };
  const bytes = head.readUInt32BE(8);
  return stated(file, at, bytes === 0xff_ff_ff_ff ? 0 : head.readUInt32BE(4) + bytes);
}

const isWav = (head: Buffer) =>
  ['RIFF', 'RF64', 'BW64'].some((name) => hasText(head, 0, name)) && hasText(head, 8, 'WAVE');
const isAiff = (head: Buffer) => hasText(head, 0, 'FORM') && hasText(head, 8, 'AIF');
const isAu = (head: Buffer) => hasText(head, 0, '.snd');
const isW64 = (head: Buffer) => head.subarray(0, W64_RIFF.length).equals(W64_RIFF);
const isCaf = (head: Buffer) => hasText(head, 0, 'caff');
const isMp4 = (head: Buffer) => hasText(head, 4, 'ftyp');
const isAsf = (head: Buffer) => head.subarray(0, ASF_HEADER.length).equals(ASF_HEADER);
const isOgg = (head: Buffer) => hasText(head, 0, 'OggS');
/** Formats that are read up to the end of the file. */
const isStream = (head: Buffer) => ['fLaC', '\x1aE\xdf\xa3', '#!AMR'].some((name) => hasText(head, 0, name));

/** Raw audio has none, with or without a header; what a decoder takes for them follows from the first frames. */
function hasTimes(head: Buffer): boolean {
  const isFrame = head.length > 1 && ((head.readUInt16BE(0) & 0xffe0) === 0xffe0 || head.readUInt16BE(0) === 0x0b77);
  const isRaw = ['fLaC', 'ID3'].some((name) => hasText(head, 0, name));
  return !(isFrame || isRaw || [isWav, isAiff, isAu, isW64, isCaf].some((isFormat) => isFormat(head)));
}

const startsRecording = (head: Buffer) =>
  [isWav, isAiff, isAu, isW64, isCaf, isMp4, isAsf, isOgg, isStream].some((isFormat) => isFormat(head));

/**
 * The chunks of a WAV file up to the start of another file. Samples that go on where a chunk should begin were written
 * after the header, whose size is then too small.
 */
async function endOfWav(file: MediaFile, start: number): Promise<End> {
  let at = start + 12;
  let dataBytes: number | null = null;
  for (let count = 0; count < CHUNKS_MAX && at + 8 <= file.sizeBytes; count += 1) {
    const head = await file.read(at, HEAD_BYTES);
    if (startsRecording(head)) return { end: at };
    const bytes = head.readUInt32LE(4);
    if (hasText(head, 0, 'ds64') && head.length >= 24) dataBytes = Number(head.readBigUInt64LE(16));
    if (hasText(head, 0, 'data')) {
      const claimed = bytes === 0xff_ff_ff_ff ? (dataBytes ?? 0) : bytes;
      if (claimed === 0) return { end: file.sizeBytes };
      at += 8 + claimed;
      if (claimed % 2 === 1 && !startsChunk(await file.read(at, HEAD_BYTES), file.sizeBytes - at)) at += 1;
      continue;
    }
    if (!startsChunk(head, file.sizeBytes - at)) return await endOfSamples(file, head, at);
    at += 8 + bytes + (bytes % 2);
  }
  return { end: file.sizeBytes };
}

async function endOfSamples(file: MediaFile, head: Buffer, at: number): Promise<End> {
  if ((await rest(file, head, at)) === 0) return { end: file.sizeBytes };
  return startsRecording(head) ? { end: at } : { end: file.sizeBytes, isLongerThanStated: true };
}

/** Whether a chunk of a WAV file begins here, which has a name in ASCII and ends in the file. */
function startsChunk(head: Buffer, bytesLeft: number): boolean {
  return /^[\w ]{4}$/.test(head.toString('latin1', 0, 4)) && 8 + head.readUInt32LE(4) <= bytesLeft;
}

/** The bytes of a chunk; null for one up to the end of the file, 0 for what is none. */
type ReadChunk = (head: Buffer) => number | null;

/** Where a file ends that is a list of chunks: at what is no chunk, or where another file begins. */
async function endOfChunks(file: MediaFile, start: number, readChunk: ReadChunk): Promise<End> {
  let at = start;
  for (let count = 0; count < CHUNKS_MAX && at < file.sizeBytes; count += 1) {
    const head = await file.read(at, HEAD_BYTES);
    if (count > 0 && startsRecording(head)) return { end: at };
    const bytes = head.length < 8 ? 0 : readChunk(head);
    if (bytes === 0) return { end: at };
    if (bytes === null || at + bytes > file.sizeBytes) return { end: file.sizeBytes };
    at += bytes;
  }
  return { end: file.sizeBytes };
}

function readBox(head: Buffer): number | null {
  if (!BOXES.includes(head.toString('latin1', 4, 8))) return 0;
  const bytes = head.readUInt32BE(0);
  if (bytes === 0) return null;
  if (bytes === 1 && head.length >= 16) return Number(head.readBigUInt64BE(8));
  return bytes < 8 ? 0 : bytes;
}

function readCafChunk(head: Buffer): number | null {
  if (head.length < 12 || !/^[\w ]{4}$/.test(head.toString('latin1', 0, 4))) return 0;
  const bytes = head.readBigInt64BE(4);
  return bytes < 0 ? null : 12 + Number(bytes);
}

/** An object of ASF begins with an id of 16 bytes and its size. */
function readAsfObject(head: Buffer): number | null {
  if (head.length < 24) return 0;
  const bytes = Number(head.readBigUInt64LE(16));
  return bytes < 24 || !Number.isSafeInteger(bytes) ? 0 : bytes;
}

/**
 * Where the next streams of an Ogg file begin. The decoder reads on by itself, but takes the header of the next stream
 * for a packet that lasts a second.
 */
async function endOfOgg(file: MediaFile, start: number): Promise<End> {
  let at = start;
  let isInside = false;
  for (let count = 0; count < CHUNKS_MAX && at < file.sizeBytes; count += 1) {
    const head = await file.read(at, HEAD_BYTES);
    if (!isOgg(head) && startsRecording(head)) return { end: at };
    // The decoder looks for the next page by itself.
    if (!isOgg(head) || head.length < 27) break;
    const isFirstOfStream = (head[5]! & 2) !== 0;
    if (isFirstOfStream && isInside) return { end: at };
    isInside ||= !isFirstOfStream;
    const sizes = head.subarray(27, 27 + head[26]!);
    at += sizes.reduce((bytes, size) => bytes + size, 27 + sizes.length);
  }
  return { end: file.sizeBytes };
}

/** The bytes from here to the end of the file; 0 for tags, padding and what is too short to hold a word. */
async function rest(file: MediaFile, head: Buffer, at: number): Promise<number> {
  const bytes = file.sizeBytes - at;
  const isTag = TAGS.some((name) => hasText(head, 0, name));
  return bytes < REST_MIN_BYTES || isTag || (await isPadding(file, at)) ? 0 : bytes;
}

/** Whether nothing but zeros is found from here to the end of the file. */
async function isPadding(file: MediaFile, start: number): Promise<boolean> {
  const step = Math.max(HEAD_BYTES, Math.floor((file.sizeBytes - start) / PADDING_READS));
  for (let at = start; at < file.sizeBytes; at += step) {
    if ((await file.read(at, HEAD_BYTES)).some((byte) => byte !== 0)) return false;
  }
  return true;
}
