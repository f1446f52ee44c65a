import { INPUT_PATH } from './sandbox-root.ts';

/**
 * The containers that we read. This list is the control that matters: without it a playlist or a script that is named
 * .mp3 makes ffmpeg open other files of this machine, whatever -protocol_whitelist says.
 */
const FORMATS = 'wav,w64,aiff,au,caf,mp3,flac,ogg,aac,ac3,eac3,amr,mov,matroska,asf,avi,flv,mpeg,mpegts';

/** The largest single allocation: a 40 KB wav file whose header says 1 Hz asked for 437 MB. */
const ALLOCATION_MAX_BYTES = 50_000_000;

/** What both programs are told about a stranger's file, up to and without `-i`. */
export const DISTRUST = [
  ...['-hide_banner', '-v', 'error', '-threads', '1'],
  ...['-protocol_whitelist', 'file,pipe', '-format_whitelist', FORMATS],
  ...['-max_alloc', String(ALLOCATION_MAX_BYTES), '-max_streams', '64'],
];

/** Both programs read the input of their sandbox. */
export const INPUT = ['-i', `file:${INPUT_PATH}`];
