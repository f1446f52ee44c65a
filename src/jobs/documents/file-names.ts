import type { Job } from '../job.ts';

/** The name of a file that is called like the job; null for a job without a title. */
export function titleAsFile({ title }: Pick<Job, 'title'>, extension: string): string | null {
  return title === null ? null : `${title}.${extension}`;
}
