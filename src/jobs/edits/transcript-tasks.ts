import { renderTranscript } from '../transcript.ts';
import { applyChanges } from './apply-changes.ts';
import { editText } from './edited-transcript.ts';

/** What is computed of whole transcripts. Each takes a job first; arguments and results are plain values. */
export const TASKS = { applyChanges, editText, renderTranscript };

export type TaskName = keyof typeof TASKS;
export type TaskArguments<Name extends TaskName> = Parameters<(typeof TASKS)[Name]>;
export type TaskResult<Name extends TaskName> = ReturnType<(typeof TASKS)[Name]>;
