import type { Account } from '../../accounts/account.ts';
import type { Sql } from '../../db/database.ts';
import type { Runtime } from '../../db/runtime.ts';
import { ApiError } from '../../http/api-error.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import { nullable, Type } from '../../http/schema.ts';
import { isId } from '../../rules/ids.ts';
import { areTooLong, changeEdits, type SegmentChange, unknownSegment } from '../../rules/jobs/transcript-edits.ts';
import { changeNames, NAME_MAX_CHARS, type NameChanges, unknownSpeaker } from '../../rules/speakers/speaker-names.ts';
import { transcriptSchema } from '../schemas.ts';
import { replaceChunks } from '../search/chunk-store.ts';
import { chunksOf } from '../search/search-index.ts';
import { longReads, reserveText } from '../store.ts';
import { type TranscriptJob, transcriptJson } from '../transcript.ts';
import { lockForEdit, saveEdits } from './edit-store.ts';
import { segmentsOf, withEdits } from './edited-transcript.ts';

const MAX_CHANGES = 500;
const MAX_NAMES = 256;
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
  },
  { minProperties: 1 },
);

/** The route that edits the transcript of a completed job. */
export function editRoutes({ db, config }: Runtime): Route[] {
  return [
    defineRoute({
      method: 'PATCH',
      path: '/v1/jobs/:id/transcript',
      auth: 'key',
      scope: 'jobs:write',
      summary: "Edit the text of a completed job's segments, or name its speakers",
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
      async handle({ account, params, body, note, memory }) {
        const { segments = [], speakers: names = {} } = body;
        const texts = segments.map(({ index, text }) => ({ index, text: text?.toWellFormed() ?? null }));
        const edit = async (tx: Sql) => {
          const job = await editTranscript(tx, account, params.id, { texts, names });
          if (config.search === 'on') await replaceChunks(tx, job, chunksOf(job));
          return job;
        };
        await reserveText(db, { shard: account.shard, accountId: account.id, id: params.id }, memory);
        const edited = await longReads(account.id, () => db.transaction(edit));
        note({ job_id: edited.id, edited_segments: texts.length, named_speakers: Object.keys(names).length });
        return { status: 200, body: transcriptJson(edited) };
      },
    }),
  ];
}

/** Two edits at the same time are made one after the other, and none is lost. */
async function editTranscript(
  tx: Sql,
  account: Account,
  id: string,
  { texts, names }: { texts: SegmentChange[]; names: NameChanges },
): Promise<TranscriptJob> {
  const owned = { shard: account.shard, accountId: account.id, id };
  const locked = isId('job', id) ? await lockForEdit(tx, owned) : null;
  if (locked === null) throw new ApiError('not_found', 'There is no such job.');
  // What was edited before stays out of the job: an answer shows the edits as they are saved.
  const { edits, speakerNames, editedAt: _, ...job } = locked;
  if (job.state !== 'completed') {
    throw new ApiError('conflict', `The job is ${job.state}; only a completed job has a transcript.`);
  }
  const segments = segmentsOf(job);
  const unknown = unknownSegment(texts, segments);
  if (unknown !== null) {
    const message = `There is no segment ${unknown}; the transcript has ${segments.length}, counted from 0.`;
    throw new ApiError('invalid_request', message, { param: 'segments' });
  }
  if (unknownSpeaker(names, segments) !== null) {
    throw new ApiError('invalid_request', 'speakers names a label that no segment of the transcript has.', {
      param: 'speakers',
    });
  }
  const changed = changeEdits(edits ?? {}, texts, segments);
  if (areTooLong(changed, segments)) {
    throw new ApiError('too_large', 'The edited text is much longer than the transcript; shorten it.', {
      param: 'segments',
    });
  }
  const named = changeNames(speakerNames ?? {}, names);
  return withEdits(job, (await saveEdits(tx, job, { edits: changed, speakerNames: named }))!);
}
