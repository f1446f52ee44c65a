import { INPUT_PATH } from './sandbox-root.ts';

/**
 * The allowed containers. The list is essential: without it, a playlist or a script named .mp3 makes ffmpeg open other
 * files of this machine, whatever -protocol_whitelist says.
 */
const FORMATS = 'wav,w64,aiff,au,caf,mp3,flac,ogg,aac,ac3,eac3,amr,gsm,mov,matroska,asf,avi,flv,mpeg,mpegts';

/** The largest single allocation: a WAV file of 40 KB whose header claims 1 Hz requested 437 MB. */
const ALLOCATION_MAX_BYTES = 50_000_000;

/** Options of both programs for untrusted input, placed before `-i`. */
export const UNTRUSTED_INPUT = [
  ...['-hide_banner', '-v', 'error', '-threads', '1'],
  ...['-protocol_whitelist', 'file,pipe', '-format_whitelist', FORMATS],
  ...['-max_alloc', String(ALLOCATION_MAX_BYTES), '-max_streams', '64'],
];

/** Selects the input of the sandbox. */
export const INPUT = ['-i', `file:${INPUT_PATH}`];

/** Selects a range of bytes of it, as if it were a file of its own. */
export function inputRange({ start, end }: { start: number; end: number }): string[] {
  const range = `subfile,,start,${start},end,${end},,:file:${INPUT_PATH}`;
  return ['-protocol_whitelist', 'file,pipe,subfile', '-i', range];
}

/**
 * Selects the samples up to the end of a range, which are described here because the file does not.
 * @param offset  of the first sample, from the start of the range
 */
export function inputSamples(
  { start, end }: { start: number; end: number },
  {
    offset,
    format,
    sampleRateHz,
    channels,
  }: { offset: number; format: string; sampleRateHz: number; channels: number },
): string[] {
  const description = ['-f', format, '-ar', String(sampleRateHz), '-ac', String(channels)];
  return ['-format_whitelist', format, ...description, ...inputRange({ start: start + offset, end })];
}
