import type { Account } from '../../accounts/account.ts';
import type { Sql } from '../../db/database.ts';
import type { Runtime } from '../../db/runtime.ts';
import { ApiError } from '../../http/api-error.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import { nullable, Type } from '../../http/schema.ts';
import { isId } from '../../rules/ids.ts';
import { NAME_MAX_CHARS } from '../../rules/speakers/speaker-names.ts';
import { transcriptSchema } from '../documents/transcript-schema.ts';
import type { Job } from '../job.ts';
import { replaceChunks } from '../search/chunk-store.ts';
import { longReads, reserveText } from '../store.ts';
import { transcriptJson } from '../transcript.ts';
import type { Changed, Changes } from './apply-changes.ts';
import { findForEdit, type StoredEdits, saveEdits } from './edit-store.ts';
import { withText } from './edited-transcript.ts';
import { runTask, type TaskCaller } from './run-task.ts';

const MAX_CHANGES = 500;
const MAX_NAMES = 256;
// Of an edit, each after another node has saved one.
const MAX_TRIES = 10;
const MAX_SEGMENT_CHARS = 20_000;

const changesSchema = Type.Object(
  {
    segments: Type.Optional(
      Type.Array(
        Type.Object(
          {
            index: Type.Integer({ minimum: 0, description: 'Which segment, from 0.' }),
            text: nullable(
              Type.String({ maxLength: MAX_SEGMENT_CHARS }),
              'The new text; null: the original one again.',
            ),
          },
          { additionalProperties: false, examples: [{ index: 3, text: 'What your country can do for you.' }] },
        ),
        { minItems: 1, maxItems: MAX_CHANGES, description: 'The segments to change; all others stay as they are.' },
      ),
    ),
    speakers: Type.Optional(
      Type.Record(Type.String(), nullable(Type.String({ maxLength: NAME_MAX_CHARS })), {
        minProperties: 1,
        maxProperties: MAX_NAMES,
        description: 'Names for speakers, by their labels; null: the label again. All others stay as they are.',
        examples: [{ A: 'Anna' }],
      }),
    ),
    merged_speakers: Type.Optional(
      Type.Record(Type.String(), nullable(Type.String({ maxLength: NAME_MAX_CHARS })), {
        minProperties: 1,
        maxProperties: MAX_NAMES,
        description:
          'Speakers to show as another one, by their labels: `{"B": "A"}` shows B as A; null: by itself again. All ' +
          'others stay as they are.',
        examples: [{ B: 'A' }],
      }),
    ),
  },
  { minProperties: 1 },
);

/** The route that edits the transcript of a completed job. */
export function editRoutes(deps: Runtime): Route[] {
  const { db } = deps;
  return [
    defineRoute({
      method: 'PATCH',
      path: '/v1/jobs/:id/transcript',
      auth: 'key',
      scope: 'jobs:write',
      event: 'transcript.edited',
      summary: "Edit the text of a completed job's segments, or name and merge its speakers",
      description:
        'The original stays beside the edited version. All formats of the transcript show the edited version, unless they ' +
        'are asked for `version=original`, and search finds its words. Where a speaker was named, `text` has a line for each ' +
        'turn, with names. The job, its events and the list of jobs show the original.',
      errors: ['conflict', 'too_large'],
      tag: 'Transcription',
      schema: {
        params: Type.Object({ id: Type.String({ description: 'job_…' }) }),
        body: changesSchema,
        answers: { 200: transcriptSchema },
      },
      async handle({ account, params, body, note, memory, signal }) {
        const { segments = [], speakers: names = {}, merged_speakers: merges = {} } = body;
        const texts = segments.map(({ index, text }) => ({ index, text: text?.toWellFormed() ?? null }));
        await reserveText(db, { shard: account.shard, accountId: account.id, id: params.id }, memory);
        const changes = { texts, names, merges };
        const caller = { clock: deps.clock, signal };
        const edit = () => editTranscript(deps, caller, { account, id: params.id, changes });
        const edited = await longReads(account.id, edit, signal);
        note({
          job_id: edited.id,
          edited_segments: texts.length,
          named_speakers: Object.keys(names).length,
          merged_speakers: Object.keys(merges).length,
        });
        return { status: 200, body: transcriptJson(edited) };
      },
    }),
  ];
}

/**
 * Two edits at the same time are made one after the other, and none is lost: where another edit was saved since the job
 * was read, the job is read again. No lock is held while a thread computes the text.
 */
async function editTranscript(
  { db, config }: Runtime,
  caller: TaskCaller,
  { account, id, changes }: { account: Account; id: string; changes: Changes },
) {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const { job, stored } = await findCompleted(db, account, id);
    const changed = await runTask(caller, 'applyChanges', job, stored, changes);
    if (changed.kind !== 'changed') throw refusal(changed);
    const { edits, speakerNames, speakerMerges, text, chunks } = changed;
    const saved = await db.transaction(async (tx) => {
      const edited = await saveEdits(tx, job, { edits, speakerNames, speakerMerges, before: stored });
      if (edited !== null && config.search === 'on') await replaceChunks(tx, job, chunks);
      return edited;
    });
    if (saved !== null) return withText(job, text, saved);
  }
  throw new ApiError('conflict', 'Others edited the transcript at the same time. Send the edit again.');
}

async function findCompleted(db: Sql, account: Account, id: string): Promise<{ job: Job; stored: StoredEdits }> {
  const owned = { shard: account.shard, accountId: account.id, id };
  const found = isId('job', id) ? await findForEdit(db, owned) : null;
  if (found === null) throw new ApiError('not_found', 'There is no such job.');
  // What was edited before stays out of the job: an answer shows the edits as they are saved.
  const { edits, speakerNames, speakerMerges, editedAt, ...job } = found;
  if (job.state === 'completed') return { job, stored: { edits, speakerNames, speakerMerges, editedAt } };
  throw new ApiError('conflict', `The job is ${job.state}; only a completed job has a transcript.`);
}

function refusal(changed: Exclude<Changed, { kind: 'changed' }>): ApiError {
  if (changed.kind === 'unknown_segment') {
    const { index, segmentCount } = changed;
    const message = `There is no segment ${index}; the transcript has ${segmentCount}, counted from 0.`;
    return new ApiError('invalid_request', message, { param: 'segments' });
  }
  if (changed.kind === 'unknown_speaker') {
    const message = `${changed.param} names a label that no segment of the transcript has.`;
    return new ApiError('invalid_request', message, { param: changed.param });
  }
  if (changed.kind === 'merged_into_itself') {
    const message = 'merged_speakers merges a speaker into itself, or into one that is merged into it.';
    return new ApiError('invalid_request', message, { param: 'merged_speakers' });
  }
  const message = 'The edited text is much longer than the transcript; shorten it.';
  return new ApiError('too_large', message, { param: 'segments' });
}
