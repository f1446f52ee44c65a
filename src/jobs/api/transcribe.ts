import { type ProbeOptions, probeAudio, probeStart } from '../../audio/media/probe.ts';
import { diskFull, isDiskFull } from '../../audio/storage/free-disk.ts';
import { isJsonForm, readJsonForm } from '../../audio/upload/json-form.ts';
import { acceptRawAudio, acceptUpload, FILE_FIELD, type StoredFile, type Upload } from '../../audio/upload/upload.ts';
import { publicCommand } from '../../config/public-command.ts';
import { creditRates } from '../../config/rates.ts';
import type { Config } from '../../config/settings.ts';
import type { Runtime } from '../../db/runtime.ts';
import { ApiError } from '../../http/api-error.ts';
import type { Answer, Call } from '../../http/route.ts';
import type { Static } from '../../http/schema.ts';
import { languageAdvice } from '../../models/language-advice.ts';
import { makeId, waitAtMost } from '../../platform/clock.ts';
import type { Plan } from '../../rules/accounts/plan.ts';
import { modelLanguage } from '../../rules/jobs/language.ts';
import { render } from '../edits/render.ts';
import type { TaskCaller } from '../edits/run-task.ts';
import type { Job } from '../job.ts';
import type { Repeatable } from '../repeats/repeats.ts';
import { type RequestFields, readNumber, refusal } from '../request-fields.ts';
import type { jobSchema } from '../schemas.ts';
import { findJob, type JobKey } from '../store.ts';
import { failureOf, type ShownWebhook, showJob } from '../view.ts';
import { createJob, type NewAudio } from './create.ts';
import { findPlanEngine } from './engine-store.ts';
import type { JobWebhook } from './job-webhook.ts';
import type { JobsApi } from './jobs-api.ts';
import {
  FIELD_BYTES,
  LIST_FIELDS,
  readTranscribeRequest,
  TEXT_FIELDS,
  type TranscribeRequest,
  type UploadRequest,
} from './request.ts';
import { findResumable, keepOneAudio } from './resume.ts';

// A client that sends nothing for longer is treated as disconnected; the connection's own limits are longer.
const MAX_STALL_MS = 30_000;
const SECONDS_PER_DAY = 86_400;

type OptionFields = Record<'translate_to' | 'diarize', string>;

/** The form and the answers of an upload endpoint. */
export type RequestFormat<Request extends UploadRequest, Result extends Answer> = {
  fieldBytes: Readonly<Record<string, number>>;
  listFields?: readonly string[];
  /** The fields of the form that ask for these options: they are at fault where the plan cannot serve the option. */
  optionFields: OptionFields;
  /** The field that names the plan; absent: plan. */
  planField?: string;
  /** The field that may be sent in place of the file, and in a JSON body; absent where there is none. */
  insteadOfFile?: string;
  /** The fields that are strings in a JSON body. */
  textFields?: readonly string[];
  /** The name of an endpoint that answers an upload that is sent again with its first job, without Idempotency-Key. */
  joinsRepeatsOf?: string;
  /** @throws ApiError  naming the first field that is not valid */
  readRequest(form: RequestFields, accountPlan: Plan): Request;
  /**
   * Opens what answers the request before the job ends; null to wait for the end. Called before the job is made.
   * @throws ApiError
   */
  openEarly?(request: Request, key: JobKey & { accountId: string }, call: UploadCall): EarlyAnswer<Result> | null;
  answerCompleted(job: Job, request: Request, webhook: ShownWebhook, caller: TaskCaller): Result | Promise<Result>;
  /** The answer to an asynchronous request, or to one whose job did not end in time. */
  answerOpen(job: Job, webhook: ShownWebhook): Result;
};

/** The answer to a request whose job has not ended. Disposing it before `answer` is called frees what it holds. */
export type EarlyAnswer<Result extends Answer> = Disposable & { answer(job: Job): Result };

type TranscribeAnswer =
  | { status: 202; body: Static<typeof jobSchema>; headers: Record<string, string> }
  | (Answer & { status: 200 });

/** The form and the answers of POST /v1/transcribe. */
export const VERBATIM_FORMAT: RequestFormat<TranscribeRequest, TranscribeAnswer> = {
  fieldBytes: FIELD_BYTES,
  listFields: LIST_FIELDS,
  optionFields: { translate_to: 'translate_to', diarize: 'diarize' },
  insteadOfFile: 'audio_url',
  textFields: TEXT_FIELDS,
  readRequest: readTranscribeRequest,
  answerOpen: (job, webhook) => ({
    status: 202,
    body: { ...showJob(job), ...webhook },
    headers: { location: locationOf(job) },
  }),
  async answerCompleted(job, { responseFormat, captions, captionNames }, webhook, caller) {
    const style = { shape: captions, hasNames: captionNames };
    const isJson = responseFormat === 'json';
    const rendered = isJson
      ? { body: { ...showJob(job), ...webhook } }
      : await render(caller, job, responseFormat, style);
    return { status: 200, ...rendered, headers: { location: locationOf(job) } };
  },
};

export type UploadCall = Call<unknown, unknown, unknown>;

/** Makes a durable job of an upload, and answers at once or, when the request is synchronous, at the job's end. */
export async function transcribe<Request extends UploadRequest, Result extends Answer>(
  api: JobsApi,
  call: UploadCall,
  format: RequestFormat<Request, Result>,
): Promise<Result> {
  const { account, actor, idempotency } = call;
  using upload = await api.uploads.admit(call);
  const received = await receiveUpload(api, call, format);
  // The saved answer to the same request, made by the same endpoint.
  if (received.kind === 'replay') return received.answer as Result;
  const { id, request } = received;
  using repeatable = received.repeatable;
  using early = received.early;
  using completion = api.completions.subscribe({ shard: account.shard, id });
  const rate = creditRates(api.config)[request.plan];
  const job = received.kind === 'resume' ? received.job : await create(received);
  if (received.kind === 'resume') await keepOneAudio(api, received).catch(rethrowDiskFull);
  upload[Symbol.dispose]();
  repeatable?.[Symbol.dispose]();
  call.note({ job_id: id, plan: request.plan, async: request.isAsync, size_bytes: job.sizeBytes });
  if (early !== null) return early.answer(job);
  const { shownWebhook } = received;
  if (request.isAsync) return format.answerOpen(await withWait(api, job), shownWebhook);
  await waitAtMost(api.clock, completion.ended, api.config.syncWaitMs, call.signal);
  const key = { shard: account.shard, accountId: account.id, id };
  const isUnanswered = call.signal.aborted;
  if (repeatable !== null && (isUnanswered || received.kind === 'resume')) await api.repeats.end(key, isUnanswered);
  const ended = await findJob(api.db, key, { withWords: request.readsWords ?? false });
  const caller = { clock: api.clock, signal: call.signal };
  return answerEnded(await withWait(api, ended ?? job), { request, webhook: shownWebhook, caller }, format);

  /** The audio becomes durable while the job is inserted. A transcriber may read it before. */
  async function create({ audio, webhook, durable }: NewUpload<Request, Result>): Promise<Job> {
    const keyId = actor.key?.id ?? null;
    const { traceparent = null } = actor;
    const { planField = 'plan' } = format;
    const order = {
      id,
      account,
      keyId,
      traceparent,
      request,
      rate,
      idempotency,
      audio,
      webhook,
      repeatable,
      planField,
    };
    const creating = createJob(api, order);
    try {
      const [created] = await Promise.all([creating, durable]);
      return created;
    } catch (cause) {
      throw isDiskFull(cause) ? diskFull(cause) : cause;
    }
  }
}

async function withWait({ waits }: JobsApi, job: Job): Promise<Job> {
  const [shown] = await waits.addTo([job]);
  return shown!;
}

function rethrowDiskFull(cause: unknown): never {
  throw isDiskFull(cause) ? diskFull(cause) : cause;
}

/** @property durable  as in `ReceivedAudio` */
type NewUpload<Request, Result extends Answer> = {
  kind: 'new';
  repeatable: Repeatable | null;
  /** Of the job. */
  id: string;
  request: Request;
  early: EarlyAnswer<Result> | null;
  audio: NewAudio;
  webhook: JobWebhook | null;
  shownWebhook: ShownWebhook;
  durable: Promise<void> | undefined;
};

type UploadResult<Request, Result extends Answer> =
  | NewUpload<Request, Result>
  /** The job of an earlier request with the same Idempotency-Key, or the same upload, which was not answered. */
  | {
      kind: 'resume';
      repeatable: Repeatable | null;
      id: string;
      request: Request;
      early: EarlyAnswer<Result> | null;
      job: Job;
      /** The audio that came again. */
      file: StoredFile | null;
      shownWebhook: ShownWebhook;
    }
  | { kind: 'replay'; answer: Answer };

/** Stores the upload, reads its fields and probes the audio. Removes the file unless a job may need it. */
async function receiveUpload<Request extends UploadRequest, Result extends Answer>(
  api: JobsApi,
  call: UploadCall,
  format: RequestFormat<Request, Result>,
): Promise<UploadResult<Request, Result>> {
  const { account, idempotency } = call;
  const { file, ...form } = await readForm(api, call, format);
  const discard = async () => void (file && (await api.storage.remove(file.key)));
  const repeatable = repeatableOf(api, call, { fingerprint: form.fingerprint, endpoint: format.joinsRepeatsOf });
  try {
    const identified = idempotency.identify(form.fingerprint ?? '');
    if (identified.kind === 'replay') {
      await discard();
      return identified;
    }
    permitExpiry(api.config, form);
    const request = format.readRequest(form, account.plan);
    await permitByEngine(api, request, format.optionFields);
    const earlierId =
      identified.kind === 'resume'
        ? identified.jobId
        : repeatable && (await api.repeats.findEarlier(repeatable, call.signal));
    const job = earlierId === null ? null : await findResumable(api, call, earlierId);
    const { shard, id: accountId } = account;
    const early = (id: string) => format.openEarly?.(request, { shard, accountId, id }, call) ?? null;
    if (job !== null) {
      const shownWebhook = request.webhook ? await api.jobWebhooks.shownOf(request.webhook, job) : {};
      return { kind: 'resume', id: job.id, request, early: early(job.id), job, file, shownWebhook, repeatable };
    }
    const webhook = request.webhook ? await api.jobWebhooks.permit(request.webhook, account) : null;
    const audio = await audioOf(api, call, { file, request });
    // The upload may have begun hours ago.
    await call.checkCaller();
    const id = makeId('job', api.clock);
    return {
      kind: 'new',
      id,
      request,
      early: early(id),
      audio,
      webhook,
      shownWebhook: webhook?.shown ?? {},
      repeatable,
      durable: file?.durable,
    };
  } catch (cause) {
    repeatable?.[Symbol.dispose]();
    await discard();
    throw cause;
  }
}

/** Null where the Idempotency-Key decides, and at endpoints whose callers are to send one. */
function repeatableOf(
  { repeats }: JobsApi,
  call: UploadCall,
  { endpoint, fingerprint }: { endpoint: string | undefined; fingerprint: string | null },
): Repeatable | null {
  if (endpoint === undefined || fingerprint === null || call.idempotency.hasKey) return null;
  return repeats.identify(call, { endpoint, fingerprint });
}

/** The fields and the file of a form, or the fields of a JSON body where the endpoint accepts one. */
async function readForm<Request extends UploadRequest, Result extends Answer>(
  { storage, config, clock }: JobsApi,
  { upload, idempotency }: UploadCall,
  { fieldBytes, listFields = [], insteadOfFile, textFields = [], joinsRepeatsOf }: RequestFormat<Request, Result>,
): Promise<Upload> {
  if (insteadOfFile !== undefined && isJsonForm(upload)) {
    return await readJsonForm(upload, {
      fieldBytes,
      listFields,
      insteadOfFile,
      textFields,
      exactField: 'metadata',
      timeoutMs: MAX_STALL_MS,
    });
  }
  const { maxUploadBytes: maxFileBytes, minFreeDiskBytes } = config;
  const accept = upload.rawQuery === null ? acceptUpload : acceptRawAudio;
  return await accept({
    ...upload,
    storage,
    clock,
    wantsFingerprint: idempotency.hasKey || joinsRepeatsOf !== undefined,
    limits: { maxFileBytes, fieldBytes, listFields, insteadOfFile, maxStallMs: MAX_STALL_MS, minFreeDiskBytes },
  });
}

/** Who waits for the probe of an upload. */
type ProbeCaller = Pick<UploadCall, 'account' | 'signal'>;

async function audioOf(
  api: JobsApi,
  caller: ProbeCaller,
  { file, request }: { file: StoredFile | null; request: UploadRequest },
): Promise<NewAudio> {
  if (file !== null) return { kind: 'stored', ...file, ...(await probe(api, caller, file, request)) };
  return await api.audioUrls.permit(request.audioUrl!, caller.account.id);
}

/** @throws ApiError  400, with the limit of this service, for a job that would be kept for longer than others */
function permitExpiry({ jobRetentionDays }: Config, { fields }: RequestFields): void {
  readNumber(fields, 'delete_after_seconds', { min: 0, max: jobRetentionDays * SECONDS_PER_DAY, isWhole: true });
}

/** @throws ApiError  400 for a language, a translation or speakers that the plan does not support */
export async function permitByEngine(
  { db, config }: Runtime,
  { language, plan, options }: Pick<UploadRequest, 'language' | 'plan' | 'options'>,
  optionFields: OptionFields,
): Promise<void> {
  if (language === null && !options.translate_to && !options.diarize) return;
  const engine = await findPlanEngine(db, plan);
  if (options.translate_to && engine?.features.includes('translate') === false) {
    throw refusal(
      optionFields.translate_to,
      `The engine of the ${plan} plan cannot translate; ask for the spoken language.`,
    );
  }
  if (options.diarize && engine?.features.includes('diarize') === false) {
    throw refusal(
      optionFields.diarize,
      `There is no speaker model. The operator of the service can add it: ${publicCommand(config.command)} models pull speakers.`,
    );
  }
  const known = engine?.languages ?? null;
  if (language === null || known === null || modelLanguage(language, known) !== null) return;
  const advice = languageAdvice(language, {
    setting: plan === 'pro' ? 'ENGINE_PRO' : 'ENGINE_LITE',
    isNamed: (plan === 'pro' ? config.enginePro : config.engineLite) !== null,
    command: publicCommand(config.command),
  });
  const problem = `The engine of the ${plan} plan does not know the language ${language}. It knows: ${known.join(', ')}.`;
  throw refusal('language', advice === null ? problem : `${problem} ${advice}`);
}

async function probe(
  api: JobsApi,
  caller: ProbeCaller,
  { start, key }: StoredFile,
  { options }: UploadRequest,
): Promise<Pick<Extract<NewAudio, { kind: 'stored' }>, 'format' | 'durationMs' | 'tracks'>> {
  const wanted = { maxAudioSeconds: api.config.maxAudioSeconds, track: options.audio_track ?? null };
  const result = (await probeStart(start, wanted)) ?? (await probeFile(api, caller, key, wanted));
  if (result.kind === 'audio') {
    const { format, durationMs, tracks } = result;
    return { format, durationMs, tracks };
  }
  throw new ApiError('unprocessable_audio', result.message, { param: result.param ?? FILE_FIELD });
}

async function probeFile(api: JobsApi, { account, signal }: ProbeCaller, key: string, wanted: ProbeOptions) {
  const { storage, tools, probes } = api;
  // Jobs that were made during the upload may have taken the last credit, and probes cost processor time.
  await api.uploads.requireCredit(account);
  await using file = await storage.localPath(key);
  return await probeAudio(file.path, { ...wanted, tools, signal }, (work) => probes(account.id, work, signal));
}

function answerEnded<Request extends UploadRequest, Result extends Answer>(
  job: Job,
  { request, webhook, caller }: { request: Request; webhook: ShownWebhook; caller: TaskCaller },
  format: RequestFormat<Request, Result>,
): Result | Promise<Result> {
  switch (job.state) {
    case 'queued':
    case 'processing':
      return format.answerOpen(job, webhook);
    case 'completed':
      return format.answerCompleted(job, request, webhook, caller);
    case 'failed':
    case 'canceled':
      throw failureOf(job, webhook);
  }
}

/** The path of a job. */
export function locationOf(job: Job): string {
  return `/v1/jobs/${job.id}`;
}
