import { readWavHeader } from '../../../audio/plain-wav.ts';
import type { LiveEncoding, LiveFormat } from '../../../rules/live/encoding.ts';

/** What to take of the bytes that came, or why the audio is not what the session takes. */
type Judged = { bytes: Uint8Array } | { refusal: string };

/** How much of a session's start is looked at: three frames of MP3 at the highest bit rate take 2,886 bytes. */
const START_BYTES = 4_096;
/** Starts of files as Latin-1. Each fixes four bytes or more: samples begin so once in 4,000,000,000 times. */
const FILES: readonly { name: string; start: RegExp }[] = [
  { name: 'a WebM or Matroska file', start: /^\x1aE\xdf\xa3/ },
  { name: 'an Ogg file', start: /^OggS\0/ },
  { name: 'a FLAC file', start: /^fLaC/ },
  { name: 'an MP4 file', start: /^\0\0..ftyp/s },
  { name: 'an MP3 file', start: /^ID3[\x02-\x04]\0/ },
  { name: 'an AIFF file', start: /^FORM....AIF[FC]/s },
  { name: 'a WAV file of another kind', start: /^(RF64|RIFX)....WAVE/s },
  { name: 'a Wave64 file', start: /^riff\x2e\x91\xcf\x11/ },
  { name: 'a CAF file', start: /^caff\0\x01/ },
  { name: 'an AU file', start: /^\.snd\0\0\0/ },
  { name: 'an AMR file', start: /^#!AMR/ },
  { name: 'a WMA file', start: /^0&\xb2u\x8ef\xcf\x11/ },
];
const ENCODINGS: Record<LiveEncoding, { tag: number; bits: number; name: string; silence: number }> = {
  pcm_s16le: { tag: 1, bits: 16, name: '16-bit PCM, little-endian', silence: 0 },
  alaw: { tag: 6, bits: 8, name: 'A-law', silence: 0xd5 },
  mulaw: { tag: 7, bits: 8, name: 'μ-law', silence: 0xff },
};
const WAV_FORMAT_BYTES = 16;
// The tag proper is the start of a GUID then.
const EXTENSIBLE = { tag: 0xfffe, tagAt: 24 };
const WAV_ENCODINGS: Record<number, string> = { 1: 'PCM', 3: 'float', 6: 'A-law', 7: 'μ-law' };
const MP3_FRAMES = 3;
// Of layer III in kbit/s, by MPEG 1 and by MPEG 2 and 2.5.
const MP3_RATES = [
  [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
];
const MP3_HERTZ = [44_100, 48_000, 32_000];

/**
 * Looks at the first bytes of a session: those of a file would be noise without a word, and would be charged. The
 * header of a WAV file whose samples are what the session takes becomes silence: offsets stay those of the client.
 */
export class FirstBytes {
  readonly #format: LiveFormat;
  /** Null once enough of them have come. */
  #start: Buffer | null = Buffer.alloc(0);

  constructor(format: LiveFormat) {
    this.#format = format;
  }

  push(bytes: Uint8Array): Judged {
    if (this.#start === null) return { bytes };
    const before = this.#start.length;
    const start = Buffer.concat([this.#start, bytes.subarray(0, START_BYTES - before)]);
    this.#start = start.length < START_BYTES ? start : null;
    const wav = readWavHeader(start);
    const file = wav === null ? fileOf(start) : wavUnlike(wav.format, this.#format);
    if (file !== null) return { refusal: refusalOf(file, this.#format) };
    if (wav === null || wav.offset <= before) return { bytes };
    return { bytes: Buffer.from(bytes).fill(ENCODINGS[this.#format.encoding].silence, 0, wav.offset - before) };
  }
}

function refusalOf(file: string, { encoding, sampleRate }: LiveFormat): string {
  const taken = `${ENCODINGS[encoding].name}, ${sampleRate} Hz, one channel`;
  return `The audio begins as ${file} does, and the session takes samples without a container: ${taken}. Send these, or the whole file to POST /v1/transcribe.`;
}

function fileOf(start: Buffer): string | null {
  const text = start.toString('latin1', 0, 16);
  const known = FILES.find((file) => file.start.test(text))?.name;
  if (known !== undefined) return known;
  if (repeats(start, mp3FrameBytes)) return 'an MP3 file';
  return repeats(start, adtsFrameBytes) ? 'an AAC file' : null;
}

/** A WAV file by its format chunk; null where its samples are what the session takes. */
function wavUnlike(chunk: Buffer, { encoding, sampleRate }: LiveFormat): string | null {
  if (chunk.length < WAV_FORMAT_BYTES) return 'a damaged WAV file';
  const first = chunk.readUInt16LE(0);
  const hasGuid = first === EXTENSIBLE.tag && chunk.length >= EXTENSIBLE.tagAt + 2;
  const tag = hasGuid ? chunk.readUInt16LE(EXTENSIBLE.tagAt) : first;
  const [channels, hertz, bits] = [chunk.readUInt16LE(2), chunk.readUInt32LE(4), chunk.readUInt16LE(14)];
  const taken = ENCODINGS[encoding];
  if (tag === taken.tag && channels === 1 && hertz === sampleRate && bits === taken.bits) return null;
  const kind = WAV_ENCODINGS[tag] ?? `encoding ${tag}`;
  return `a WAV file (${bits}-bit ${kind}, ${hertz} Hz, ${channels === 1 ? 'one channel' : `${channels} channels`})`;
}

/** Whether the bytes begin with frames one behind another: the first four bytes of one alone occur in speech. */
function repeats(start: Buffer, frameBytes: (start: Buffer, at: number) => number): boolean {
  let at = 0;
  for (let frame = 0; frame < MP3_FRAMES; frame++) {
    const bytes = at + 6 <= start.length ? frameBytes(start, at) : 0;
    if (bytes === 0) return false;
    at += bytes;
  }
  return true;
}

/** Of a frame of MPEG layer III that begins there; 0 where none does. */
function mp3FrameBytes(start: Buffer, at: number): number {
  const [sync, kind, rates] = [start[at]!, start[at + 1]!, start[at + 2]!];
  const version = (kind >> 3) & 3;
  const rate = rates >> 4;
  const hertz = MP3_HERTZ[(rates >> 2) & 3];
  const isLayer3 = sync === 0xff && kind >> 5 === 7 && version !== 1 && ((kind >> 1) & 3) === 1;
  if (!isLayer3 || rate === 0 || rate === 15 || hertz === undefined) return 0;
  const isMpeg1 = version === 3;
  const kbits = MP3_RATES[isMpeg1 ? 0 : 1]![rate - 1]!;
  const scale = version === 0 ? 4 : isMpeg1 ? 1 : 2;
  return Math.floor(((isMpeg1 ? 144_000 : 72_000) * kbits * scale) / hertz) + ((rates >> 1) & 1);
}

/** Of a frame of AAC with an ADTS header that begins there; 0 where none does. */
function adtsFrameBytes(start: Buffer, at: number): number {
  const isFrame = start[at] === 0xff && (start[at + 1]! & 0xf6) === 0xf0 && ((start[at + 2]! >> 2) & 15) < 13;
  const bytes = ((start[at + 3]! & 3) << 11) | (start[at + 4]! << 3) | (start[at + 5]! >> 5);
  return isFrame && bytes > 7 ? bytes : 0;
}
