import { segmentEvents } from '../../rules/transcript/segment-events.ts';
import { renderDocx, renderMarkdown, renderPdf } from '../documents/document-tasks.ts';
import type { Job } from '../job.ts';
import { renderTranscript } from '../transcript.ts';
import { applyChanges } from './apply-changes.ts';
import { editText, segmentsOf } from './edited-transcript.ts';

/** What is computed of whole transcripts. Each takes a job first; arguments and results are plain values. */
export const TASKS = {
  applyChanges,
  editText,
  listSegmentEvents,
  renderDocx,
  renderMarkdown,
  renderPdf,
  renderTranscript,
};

export type TaskName = keyof typeof TASKS;
export type TaskArguments<Name extends TaskName> = Parameters<(typeof TASKS)[Name]>;
export type TaskResult<Name extends TaskName> = Awaited<ReturnType<(typeof TASKS)[Name]>>;

function listSegmentEvents(job: Job, firstIndex: number): string[] {
  return segmentEvents(segmentsOf(job).slice(firstIndex), firstIndex);
}
