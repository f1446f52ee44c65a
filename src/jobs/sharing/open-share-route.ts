import { requireCurrentCaller } from '../../accounts/keys/current-caller.ts';
import type { Runtime } from '../../db/runtime.ts';
import { ApiError, rateLimited } from '../../http/api-error.ts';
import { AttemptLimit } from '../../http/attempt-limit.ts';
import { type AnswerMemory, defineRoute, type Route } from '../../http/route.ts';
import { oneOf, Type } from '../../http/schema.ts';
import { openFairSemaphore } from '../../platform/fair-semaphore.ts';
import { attachment } from '../../rules/network/attachment.ts';
import { guesserOf } from '../../rules/network/client-address.ts';
import { DOCUMENT_MEDIA } from '../documents/media.ts';
import { TRANSCRIPT_MEDIA } from '../documents/transcript-schema.ts';
import { render, renderDocument } from '../edits/render.ts';
import type { TaskCaller } from '../edits/run-task.ts';
import { withVersion } from '../edits/shown-version.ts';
import { findJob, longReadsByLink } from '../store.ts';
import { DOCUMENT_FORMATS, FILE_EXTENSIONS, isDocumentFormat, TRANSCRIPT_FORMATS } from '../transcript.ts';
import { findShare, noteOpening, type Share } from './share-store.ts';
import { readShareToken } from './share-token.ts';
import { sharedJson, sharedTranscriptSchema, withoutAccount } from './transcript-view.ts';

// Per minute, on a node.
const OPENINGS_OF_LINK = { maxOfClient: 600, maxOfAll: Number.POSITIVE_INFINITY };
const UNKNOWN_TOKENS = { maxOfClient: 120, maxOfAll: 6_000 };
// They take seconds of a core.
const DOCUMENTS_OF_LINK = { maxOfClient: 30, maxOfAll: Number.POSITIVE_INFINITY };
// Whoever has a link takes at most one turn of its account, beside those of the account's own keys; and of the links of
// an account none takes the turns of another one. Documents take long: other readers do not wait for them.
const AT_ONCE = {
  ofLink: { permits: Number.POSITIVE_INFINITY, perOwner: 1 },
  documents: { permits: 1, perOwner: 1 },
  others: { permits: 4, perOwner: 1 },
};
const AUDIO_EXTENSION = /\.\w{1,5}$/;
const HEADERS = { 'referrer-policy': 'no-referrer', 'x-robots-tag': 'noindex, nofollow' };

/** The route that shows a shared transcript, without a key. */
export function openShareRoute(runtime: Runtime): Route {
  const openings = new AttemptLimit(OPENINGS_OF_LINK);
  const unknownTokens = new AttemptLimit(UNKNOWN_TOKENS);
  const documents = new AttemptLimit(DOCUMENTS_OF_LINK);
  const turns = {
    ofLink: openFairSemaphore(AT_ONCE.ofLink),
    documents: openFairSemaphore(AT_ONCE.documents),
    others: openFairSemaphore(AT_ONCE.others),
  };
  return defineRoute({
    method: 'GET',
    path: '/v1/shared/:token',
    auth: 'none',
    summary: 'Read a shared transcript by the token of its link',
    description:
      'The edited version, without anything else of the account: as JSON, or as a file. The answer is the same for a ' +
      'token that is unknown and for a link that has ended.',
    errors: ['rate_limited', 'conflict'],
    tag: 'Sharing',
    schema: {
      params: Type.Object({ token: Type.String() }),
      query: Type.Object({ format: Type.Optional(oneOf([...TRANSCRIPT_FORMATS, ...DOCUMENT_FORMATS])) }),
      answers: {
        200: { media: { 'application/json': sharedTranscriptSchema, ...TRANSCRIPT_MEDIA, ...DOCUMENT_MEDIA } },
      },
    },
    async handle({ params, query: { format = 'json' }, actor, memory, signal, note }) {
      const name = readShareToken(params.token);
      const share = name && (await findShare(runtime.db, name));
      if (!name || !share) throw unknownToken(unknownTokens, actor.address);
      countOpening(openings, share);
      const isDocument = isDocumentFormat(format);
      if (isDocument) countOpening(documents, share);
      note({ share_id: share.id, job_id: share.jobId });
      const caller = { clock: runtime.clock, signal, hasLink: true };
      const open = async () => {
        const job = await readShared(runtime, caller, { accountId: name.accountId, share, memory });
        const answer = await show(job, format, { share, caller });
        await noteOpening(runtime.db, share);
        return { status: 200, ...answer, headers: { ...HEADERS, ...answer.headers } } as const;
      };
      const inTurn = isDocument ? turns.documents : turns.others;
      return await turns.ofLink(share.id, () => inTurn(name.accountId, open, signal), signal);
    },
  });
}

/** Only tokens that open nothing count for an address: strangers at it keep nobody from a link. */
function unknownToken(limit: AttemptLimit, address: string): ApiError {
  const seconds = limit.count(guesserOf(address));
  if (seconds === null) return linkEnded();
  const message = `Too many links that open nothing were tried from this address; try again in ${seconds} s.`;
  return rateLimited(message, seconds, HEADERS);
}

/** Each opening of a link reads a transcript. @throws ApiError  429 */
function countOpening(limit: AttemptLimit, { id }: Share): void {
  const seconds = limit.count(id);
  if (seconds === null) return;
  throw rateLimited(`This link was opened too often; try again in ${seconds} s.`, seconds, HEADERS);
}

/** The edited transcript of the job that a link shows, without what is the account's. @throws ApiError  404 */
async function readShared(
  { db }: Runtime,
  caller: TaskCaller,
  { accountId, share, memory }: { accountId: string; share: Share; memory: AnswerMemory },
): Promise<SharedJob> {
  const { shard, keyId, jobId } = share;
  try {
    await requireCurrentCaller(db, { shard, accountId, keyId }, 'jobs:read');
  } catch (error) {
    // Whoever opens a link has no key: why it ended is not for them.
    throw error instanceof ApiError ? linkEnded() : error;
  }
  const job = await findJob(
    db,
    { shard, accountId, id: jobId },
    { ...memory, signal: caller.signal, turns: longReadsByLink },
  );
  if (job?.state !== 'completed') throw linkEnded();
  return withoutAccount(await withVersion(db, caller, job, 'edited'));
}

type SharedJob = ReturnType<typeof withoutAccount>;

async function show(
  job: SharedJob,
  format: keyof typeof FILE_EXTENSIONS,
  { share, caller }: { share: Share; caller: TaskCaller },
) {
  if (format === 'json') return { body: sharedJson(job, share.expiresAt), headers: {} };
  const hasNames = isDocumentFormat(format) || job.speakerNames !== undefined;
  const { headers, ...file } = isDocumentFormat(format)
    ? await renderDocument(caller, job, format, { hasNames })
    : await render(caller, job, format, { shape: null, hasNames });
  const extension = FILE_EXTENSIONS[format];
  const name = `${job.filename.replace(AUDIO_EXTENSION, '')}.${extension}`;
  const disposition = attachment(`transcript.${extension}`, name);
  return { ...file, headers: { ...headers, 'content-disposition': disposition } };
}

function linkEnded(): ApiError {
  return new ApiError('not_found', 'This link has ended, or was changed. Ask whoever sent it for another one.', {
    headers: HEADERS,
  });
}
