import { hasText } from './stated-size.ts';

/**
 * Uncompressed samples behind a header that the decoder refuses.
 * @property offset  of the first sample, in bytes from the start of the header
 * @property format  ffmpeg's name of such samples without a header
 */
export type UnsizedSamples = { offset: number; format: RawFormat; sampleRateHz: number; channels: number };

/** Samples without a header, as ffmpeg names them: their codecs, and their size in bits. */
const RAW_FORMATS = {
  u8: { codec: 'pcm_u8', bits: 8 },
  s8: { codec: 'pcm_s8', bits: 8 },
  s16le: { codec: 'pcm_s16le', bits: 16 },
  s16be: { codec: 'pcm_s16be', bits: 16 },
  s24le: { codec: 'pcm_s24le', bits: 24 },
  s24be: { codec: 'pcm_s24be', bits: 24 },
  s32le: { codec: 'pcm_s32le', bits: 32 },
  s32be: { codec: 'pcm_s32be', bits: 32 },
  f32le: { codec: 'pcm_f32le', bits: 32 },
  f32be: { codec: 'pcm_f32be', bits: 32 },
  f64le: { codec: 'pcm_f64le', bits: 64 },
  f64be: { codec: 'pcm_f64be', bits: 64 },
  alaw: { codec: 'pcm_alaw', bits: 8 },
  mulaw: { codec: 'pcm_mulaw', bits: 8 },
} as const;
export type RawFormat = keyof typeof RAW_FORMATS;

/** In `COMM` of AIFF-C; big-endian integers without one. */
const AIFF_COMPRESSIONS: Readonly<Record<string, RawFormat>> = {
  sowt: 's16le',
  fl32: 'f32be',
  FL32: 'f32be',
  fl64: 'f64be',
  FL64: 'f64be',
  alaw: 'alaw',
  ALAW: 'alaw',
  ulaw: 'mulaw',
  ULAW: 'mulaw',
};
const AIFF_UNCOMPRESSED = ['NONE', 'twos', 'in24', 'in32'];
/** The format tags of WAV, which Wave64 has too. */
const WAVE_FORMATS = { integer: 1, float: 3, alaw: 6, mulaw: 7, extensible: 0xfffe };
/** The head of a chunk of Wave64: an id of 16 bytes, of which the first four are a name, and the chunk's whole size. */
const W64_HEAD_BYTES = 24;
const W64_START_BYTES = W64_HEAD_BYTES + 16;
const UNKNOWN_SIZE = 0xff_ff_ff_ff;
const HALF_UNKNOWN_SIZE = 0x7f_ff_ff_ff;

/**
 * The samples of an AIFF or Wave64 file that was written into a pipe: its header has 0 or the largest number where the
 * sizes belong, and ffmpeg refuses it. They end with the file.
 * @param start  the file's first bytes, 4 KiB or all
 * @returns null for every other file
 */
export function findUnsizedSamples(start: Buffer): UnsizedSamples | null {
  const samples = hasText(start, 0, 'FORM') ? findAiffSamples(start) : findW64Samples(start);
  return samples !== null && samples.sampleRateHz > 0 && samples.channels > 0 ? samples : null;
}

/** As ffprobe describes the track, in the fields of `ProbedFile`. */
export function describeUnsized(start: Buffer) {
  const samples = findUnsizedSamples(start);
  if (samples === null) return null;
  const { codec, bits } = RAW_FORMATS[samples.format];
  const stream = {
    codec_type: 'audio',
    codec_name: codec,
    sample_rate: String(samples.sampleRateHz),
    channels: samples.channels,
    bits_per_sample: bits,
  };
  return { format: { format_name: hasText(start, 0, 'FORM') ? 'aiff' : 'w64' }, streams: [stream] };
}

function findAiffSamples(start: Buffer): UnsizedSamples | null {
  if (!hasText(start, 8, 'AIF') || start.length < 12) return null;
  const isCompressed = hasText(start, 8, 'AIFC');
  let isUnsized = [0, UNKNOWN_SIZE].includes(start.readUInt32BE(4));
  let form: Omit<UnsizedSamples, 'offset'> | null = null;
  for (let at = 12; at + 16 <= start.length; ) {
    const bytes = start.readUInt32BE(at + 4);
    if (hasText(start, at, 'COMM') && at + 30 <= start.length) {
      isUnsized ||= start.readUInt32BE(at + 10) === UNKNOWN_SIZE;
      form = readAiffForm(start.subarray(at + 8), isCompressed);
    }
    if (hasText(start, at, 'SSND')) {
      isUnsized ||= bytes === 0 || bytes >= HALF_UNKNOWN_SIZE;
      return form !== null && isUnsized ? { ...form, offset: at + 16 + start.readUInt32BE(at + 8) } : null;
    }
    at += 8 + bytes + (bytes % 2);
  }
  return null;
}

/** Channels, number of frames, bits of a sample, rate as a number of 80 bits; in AIFF-C the compression too. */
function readAiffForm(comm: Buffer, isCompressed: boolean): Omit<UnsizedSamples, 'offset'> | null {
  const compression = isCompressed ? comm.toString('latin1', 18, 22) : 'NONE';
  const format = AIFF_UNCOMPRESSED.includes(compression)
    ? integerFormat(comm.readUInt16BE(6), 'be')
    : AIFF_COMPRESSIONS[compression];
  if (format === undefined) return null;
  const exponent = (comm.readUInt16BE(8) & 0x7fff) - 16_383;
  return {
    format,
    channels: comm.readUInt16BE(0),
    sampleRateHz: Math.round(comm.readUInt32BE(10) * 2 ** (exponent - 31)),
  };
}

function findW64Samples(start: Buffer): UnsizedSamples | null {
  if (!hasText(start, 0, 'riff') || !hasText(start, W64_HEAD_BYTES, 'wave')) return null;
  let isUnsized = isUnsizedW64(start.readBigUInt64LE(16));
  let form: Omit<UnsizedSamples, 'offset'> | null = null;
  for (let at = W64_START_BYTES; at + W64_HEAD_BYTES <= start.length; ) {
    const bytes = start.readBigUInt64LE(at + 16);
    const contentAt = at + W64_HEAD_BYTES;
    if (hasText(start, at, 'data')) {
      isUnsized ||= isUnsizedW64(bytes);
      return form !== null && isUnsized ? { ...form, offset: contentAt } : null;
    }
    if (hasText(start, at, 'fmt ')) form = readWaveForm(start.subarray(contentAt));
    // Chunks begin at multiples of 8 bytes.
    at += Math.max(W64_HEAD_BYTES, Number((bytes + 7n) & ~7n));
  }
  return null;
}

const isUnsizedW64 = (bytes: bigint) => bytes === 0n || bytes >= 2n ** 63n - 1n;

function readWaveForm(format: Buffer): Omit<UnsizedSamples, 'offset'> | null {
  if (format.length < 16) return null;
  const tag = format.readUInt16LE(0);
  const bits = format.readUInt16LE(14);
  const kind = tag === WAVE_FORMATS.extensible && format.length >= 26 ? format.readUInt16LE(24) : tag;
  const raw = waveFormat(kind, bits);
  return raw === undefined
    ? null
    : { format: raw, channels: format.readUInt16LE(2), sampleRateHz: format.readUInt32LE(4) };
}

function waveFormat(kind: number, bits: number): RawFormat | undefined {
  if (kind === WAVE_FORMATS.integer) return bits === 8 ? 'u8' : integerFormat(bits, 'le');
  if (kind === WAVE_FORMATS.float) return bits === 64 ? 'f64le' : 'f32le';
  if (kind === WAVE_FORMATS.alaw) return 'alaw';
  return kind === WAVE_FORMATS.mulaw ? 'mulaw' : undefined;
}

function integerFormat(bits: number, order: 'le' | 'be'): RawFormat | undefined {
  if (bits === 8) return 's8';
  return ([16, 24, 32] as const).includes(bits as 16) ? `s${bits as 16 | 24 | 32}${order}` : undefined;
}
