import type { CallerName, PermittedAccount } from '../../accounts/account.ts';
import { requireCurrentCaller } from '../../accounts/keys/current-caller.ts';
import { ApiError } from '../../http/api-error.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import { component, oneOf, Type, timeSchema } from '../../http/schema.ts';
import { PLANS } from '../../rules/accounts/plan.ts';
import { readPeaks } from '../../rules/jobs/peaks.ts';
import { shardOf } from '../../rules/shard.ts';
import type { JobsApi } from '../api/jobs-api.ts';
import { jobHeadOr404 } from '../own-job.ts';
import { jobSchema } from '../schemas.ts';
import { AUDIO_MEDIA_TYPES, type AudioReads, answerAudio } from './audio-answer.ts';
import type { AudioLinks } from './audio-link.ts';
import { keptAudioKey } from './kept-audio.ts';
import { OpenReads } from './open-reads.ts';
import { OpusCopies } from './opus-copies.ts';
import { findPeaks } from './peaks-store.ts';
import { retryJob } from './retry.ts';

/** What the endpoints of stored audio run on. */
type StoredAudioApi = JobsApi & { audioLinks: AudioLinks };

const MAX_LINK_SECONDS = 900;
const DEFAULT_POINTS = 1_000;
const TAG = 'Stored audio';
const jobId = Type.Object({ id: Type.String({ description: 'job_…' }) });
const audioMedia = Object.fromEntries(
  AUDIO_MEDIA_TYPES.map((type) => [type, Type.Unsafe<string>({ type: 'string', format: 'binary' })]),
);
const audioQuery = Type.Object({
  format: Type.Optional(
    oneOf(['opus'], {
      description:
        'A copy that browsers play, as Ogg with Opus: one channel, at the times of the transcript. Absent: the original.',
    }),
  ),
});
const AUDIO_ANSWERS = { 200: { media: audioMedia }, 206: { media: audioMedia } };

const linkSchema = Type.Object(
  {
    url: Type.String({ description: 'Relative to the address of the service.' }),
    expires_at: timeSchema,
  },
  component('AudioLink', { url: '/v1/audio-links/…', expires_at: '2026-11-21T09:45:00.000Z' }),
);

const heights = (description: string) => Type.Array(Type.Integer({ minimum: -128, maximum: 127 }), { description });
const peaksSchema = Type.Object(
  {
    duration_seconds: Type.Number({ minimum: 0 }),
    min: heights('The lowest sample of each part of the audio, of -128 to 127.'),
    max: heights('The highest sample of each part; as many as in `min`.'),
  },
  component('Peaks', { duration_seconds: 12.345, min: [0, -90, -41], max: [2, 87, 40] }),
);

/** A job's stored audio, links to it, its waveform, and a new job on it. */
export function storedAudioRoutes(api: StoredAudioApi): Route[] {
  const reads = { reads: new OpenReads(), copies: new OpusCopies(api) };
  return [audioRoute(api, reads), createLinkRoute(api), openLinkRoute(api, reads), peaksRoute(api), retryRoute(api)];
}

function audioRoute(api: StoredAudioApi, reads: AudioReads): Route {
  return defineRoute({
    method: 'GET',
    path: '/v1/jobs/:id/audio',
    auth: 'key',
    scope: 'jobs:read',
    summary: "Read a job's stored audio, or with Range a part of it",
    description:
      'Audio is stored until its job ends, and for `AUDIO_RETENTION_HOURS` after that. A copy in Opus is made when it is asked for first, which takes some seconds for an hour of audio.',
    errors: ['range_not_satisfiable', 'unprocessable_audio', 'unavailable'],
    tag: TAG,
    schema: { params: jobId, query: audioQuery, answers: AUDIO_ANSWERS },
    async handle({ account, params, query, header, signal }) {
      const job = await jobHeadOr404(api.db, account, params.id);
      return await answerAudio(api, reads, job, { asOpus: query.format === 'opus', header, signal });
    },
  });
}

function createLinkRoute({ db, clock, audioLinks, config }: StoredAudioApi): Route {
  return defineRoute({
    method: 'POST',
    path: '/v1/jobs/:id/audio-link',
    auth: 'key',
    scope: 'jobs:read',
    event: 'audio_link.created',
    summary: "Create a link that opens a job's stored audio without a key, for 15 minutes at most",
    tag: TAG,
    schema: {
      params: jobId,
      body: Type.Object({
        expires_in: Type.Optional(
          Type.Integer({ minimum: 1, maximum: MAX_LINK_SECONDS, default: MAX_LINK_SECONDS, description: 'Seconds.' }),
        ),
      }),
      answers: { 201: linkSchema },
    },
    async handle({ account, actor, params, body: { expires_in: seconds = MAX_LINK_SECONDS } }) {
      const job = await jobHeadOr404(db, account, params.id);
      if (keptAudioKey(job, config) === null)
        throw new ApiError('conflict', 'The audio of this job is no longer stored.');
      const expiresAt = Math.floor(clock.now() / 1000) + seconds;
      const link = audioLinks.make({ accountId: account.id, keyId: actor.key!.id, jobId: job.id }, expiresAt);
      const body = { url: `/v1/audio-links/${link}`, expires_at: new Date(expiresAt * 1000).toISOString() };
      return { status: 201, body };
    },
  });
}

function openLinkRoute(api: StoredAudioApi, reads: AudioReads): Route {
  return defineRoute({
    method: 'GET',
    path: '/v1/audio-links/:link',
    auth: 'none',
    summary: 'Open a link to stored audio',
    description: 'A link ends with the key that made it, and opens nothing while the account is suspended.',
    errors: ['range_not_satisfiable', 'unprocessable_audio', 'unavailable'],
    tag: TAG,
    schema: { params: Type.Object({ link: Type.String() }), query: audioQuery, answers: AUDIO_ANSWERS },
    async handle({ params, query, header, signal }) {
      const target = api.audioLinks.read(params.link, api.clock.now());
      if (target === null) throw linkEnded();
      const { accountId, keyId, jobId } = target;
      const account = await accountOfLink(api, { shard: shardOf(accountId), accountId, keyId });
      const job = await jobHeadOr404(api.db, account, jobId);
      return await answerAudio(api, reads, job, { asOpus: query.format === 'opus', header, signal });
    },
  });
}

/** The account whose key made a link. @throws ApiError  404 when the key may not read jobs any more */
async function accountOfLink({ db }: JobsApi, caller: CallerName): Promise<PermittedAccount> {
  try {
    return await requireCurrentCaller(db, caller, 'jobs:read');
  } catch (error) {
    // Whoever opens a link has no key: why it ended is not for them.
    throw error instanceof ApiError ? linkEnded() : error;
  }
}

function linkEnded(): ApiError {
  return new ApiError('not_found', 'This link has ended, or was changed. Create another one.');
}

function peaksRoute({ db }: JobsApi): Route {
  return defineRoute({
    method: 'GET',
    path: '/v1/jobs/:id/peaks',
    auth: 'key',
    scope: 'jobs:read',
    summary: "Read the waveform of a completed job's audio",
    description: 'It is made while the audio is decoded, and kept as long as the job.',
    errors: ['conflict'],
    tag: TAG,
    schema: {
      params: jobId,
      query: Type.Object({
        points: Type.Optional(
          Type.Integer({
            minimum: 1,
            maximum: 2_000,
            default: DEFAULT_POINTS,
            description: 'At most this number; short audio has one per 10 ms.',
          }),
        ),
      }),
      answers: { 200: peaksSchema },
    },
    async handle({ account, params, query: { points = DEFAULT_POINTS } }) {
      const job = await jobHeadOr404(db, account, params.id);
      const stored = job.state === 'completed' ? await findPeaks(db, job) : null;
      if (stored === null) {
        throw new ApiError('conflict', `The job is ${job.state} and has no waveform; completed jobs have one.`);
      }
      return { status: 200, body: { duration_seconds: (job.durationMs ?? 0) / 1000, ...readPeaks(stored, points) } };
    },
  });
}

function retryRoute(api: JobsApi): Route {
  return defineRoute({
    method: 'POST',
    path: '/v1/jobs/:id/retry',
    auth: 'key',
    scope: 'jobs:write',
    bucket: 'transcribe',
    summary: 'Transcribe the stored audio of a job again, as a new job',
    description: 'The new job has the options of the first one, and its own cost. Give another `plan` to compare.',
    errors: ['insufficient_balance', 'plan_limit'],
    tag: TAG,
    schema: {
      params: jobId,
      body: Type.Object({ plan: Type.Optional(oneOf(PLANS, { description: 'Absent: that of the first job.' })) }),
      answers: { 202: jobSchema },
    },
    async handle(call) {
      const job = await jobHeadOr404(api.db, call.account, call.params.id);
      const answer = await retryJob(api, call, job, call.body.plan ?? null);
      call.note({ job_id: job.id });
      return answer;
    },
  });
}
