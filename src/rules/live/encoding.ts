/** Encodings of the audio of a live session, all of one channel. */
export const LIVE_ENCODINGS = ['pcm_s16le', 'mulaw', 'alaw'] as const;
export type LiveEncoding = (typeof LIVE_ENCODINGS)[number];

/** Samples per second that a live session can have. Each has a whole number of samples in 10 ms. */
export const LIVE_SAMPLE_RATES = [8_000, 16_000, 24_000, 32_000, 44_100, 48_000] as const;
export type LiveSampleRate = (typeof LIVE_SAMPLE_RATES)[number];

export type LiveFormat = { encoding: LiveEncoding; sampleRate: LiveSampleRate };

const G711_TABLES = { mulaw: tableOf(mulawSample), alaw: tableOf(alawSample) };

/** Bytes of one sample. */
export function bytesPerSample(encoding: LiveEncoding): 1 | 2 {
  return encoding === 'pcm_s16le' ? 2 : 1;
}

/** Bytes of one second of audio. */
export function bytesPerSecond({ encoding, sampleRate }: LiveFormat): number {
  return bytesPerSample(encoding) * sampleRate;
}

/** Bytes of one frame of 10 ms. */
export function bytesPerFrame(format: LiveFormat): number {
  return bytesPerSecond(format) / 100;
}

/** The whole milliseconds of audio in this number of bytes, rounded down. */
export function durationMs(format: LiveFormat, bytes: number): number {
  return Math.floor((bytes * 1000) / bytesPerSecond(format));
}

/**
 * Samples of 16 bits from the bytes of the encoding; half a sample at the end is dropped.
 * G.711 follows ITU-T G.711, with samples scaled to 16 bits.
 */
export function decodeSamples(encoding: LiveEncoding, bytes: Uint8Array): Int16Array {
  if (encoding !== 'pcm_s16le') {
    const table = G711_TABLES[encoding];
    const samples = new Int16Array(bytes.length);
    // Int16Array.from takes ten times as long.
    for (let at = 0; at < samples.length; at++) samples[at] = table[bytes[at]!]!;
    return samples;
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const samples = new Int16Array(bytes.byteLength >> 1);
  for (let at = 0; at < samples.length; at++) samples[at] = view.getInt16(2 * at, true);
  return samples;
}

function tableOf(sampleOf: (byte: number) => number): Int16Array {
  return Int16Array.from({ length: 256 }, (_, byte) => sampleOf(byte));
}

function mulawSample(byte: number): number {
  const code = ~byte & 0xff;
  const exponent = (code >> 4) & 7;
  const magnitude = ((((code & 0xf) << 3) + 0x84) << exponent) - 0x84;
  return code & 0x80 ? -magnitude : magnitude;
}

function alawSample(byte: number): number {
  const code = byte ^ 0x55;
  const exponent = (code >> 4) & 7;
  const mantissa = ((code & 0xf) << 4) + 8;
  const magnitude = exponent === 0 ? mantissa : (mantissa + 0x100) << (exponent - 1);
  return code & 0x80 ? magnitude : -magnitude;
}
