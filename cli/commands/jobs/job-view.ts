import type { Job } from '#sdk/wire.ts';
import { clockTime, credits, facts, fileSize, state } from '../../terminal/format.ts';
import type { Output } from '../../terminal/output.ts';
import type { Part } from '../../terminal/part.ts';

/** A job in lines, without its text. */
export function describeJob(job: Job): Part[][] {
  const { audio, error } = job;
  const [progress, place] = [Math.round(job.progress * 100), job.queue_position];
  return facts([
    ['job', job.id],
    ['status', state(job.status)],
    ['progress', job.status === 'processing' ? `${progress} %` : place === undefined ? null : `place ${place}`],
    ['error', error && `${error.type}: ${error.message}`],
    ['title', job.title ?? null],
    ['tags', job.tags?.join(', ') || null],
    ['file', audio.filename ?? audio.source],
    ['size', audio.size_bytes === null ? null : fileSize(audio.size_bytes)],
    ['length', audio.duration_seconds === null ? null : clockTime(audio.duration_seconds)],
    ['plan', job.model === null ? job.plan : `${job.plan} (${job.model})`],
    ['language', job.language],
    ['translated to', job.translated_to],
    ['speakers', job.speakers?.map(({ id, seconds }) => `${id} ${clockTime(seconds)}`).join(', ') ?? null],
    ['credits', job.cost === null ? null : credits(job.cost)],
    ['metadata', job.metadata === null ? null : JSON.stringify(job.metadata)],
    ['created', job.created_at],
    ['started', job.started_at],
    ['ended', job.completed_at],
    ['erased from', job.expires_at],
    ...job.warnings.map(({ code, message }): [string, string] => ['warning', `${code}: ${message}`]),
  ]);
}

/**
 * Writes the warnings of a job on standard error, with --quiet and --json too: they say what the text lacks.
 * @param label  what the job is called there, such as the name of its file
 */
export function showWarnings(out: Output, { warnings }: Pick<Job, 'warnings'>, label: string): void {
  for (const { code, message, start, end } of warnings) {
    const part = start === undefined || end === undefined ? '' : `${clockTime(start)} to ${clockTime(end)}: `;
    out.warn({ text: `${label}: ${part}${code}: ${message}`, style: 'yellow' });
  }
}

/** How many seconds of audio were transcribed in a second; null when that is not known. */
export function speedOf({ audio, started_at, completed_at }: Job): number | null {
  if (audio.duration_seconds === null || started_at === null || completed_at === null) return null;
  const tookMs = Date.parse(completed_at) - Date.parse(started_at);
  return tookMs > 0 ? (audio.duration_seconds * 1000) / tookMs : null;
}
