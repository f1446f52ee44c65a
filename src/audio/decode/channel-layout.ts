import { runSandboxed } from '../sandbox/bounded-process.ts';
import { INPUT, UNTRUSTED_INPUT } from '../sandbox/ffmpeg-arguments.ts';
import type { DecodeOptions } from './decode-options.ts';

const BOUNDS = { memoryMaxBytes: 2 ** 29, cpuMaxSeconds: 3, stdoutMaxBytes: 4096, wallMs: 5_000 };

/**
 * Whether a track has more than two channels and its file does not name their loudspeakers, such as a WAV file of a
 * recorder with many microphones.
 */
export async function hasUnnamedLayout(path: string, options: DecodeOptions): Promise<boolean> {
  const { tools, signal, track = 0, probed } = options;
  if ((probed?.channels ?? 0) <= 2) return false;
  const entries = ['-select_streams', `a:${track}`, '-show_entries', 'stream=channel_layout', '-of', 'csv=p=0'];
  const ran = await runSandboxed('ffprobe', [...UNTRUSTED_INPUT, ...entries, ...INPUT], {
    ...BOUNDS,
    tools,
    input: path,
    signal,
  });
  // A header that ffprobe cannot read names none.
  return ran !== null && (ran.code !== 0 || ['', 'unknown'].includes(ran.stdout.trim()));
}
