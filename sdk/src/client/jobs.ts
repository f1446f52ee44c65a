import type {
  AudioLink,
  GetJobsIdAudioQuery,
  GetJobsIdPeaksQuery,
  GetJobsIdTranscriptQuery,
  GetJobsQuery,
  Job as JobAnswer,
  JobInList,
  NewShare,
  PatchJobsIdBody,
  PatchJobsIdTranscriptBody,
  Peaks,
  PostJobsIdAudioLinkBody,
  PostJobsIdRetryBody,
  PostJobsIdShareBody,
  Share,
  ShareList,
  Transcript,
} from '../api.ts';
import { type AudioInput, isRepeatable } from './audio/audio-input.ts';
import { makeUpload, type OnUpload } from './audio/upload.ts';
import { followJob, type JobUpdate } from './follow-job.ts';
import { JobFailedError, TimeoutError } from './http/errors.ts';
import type { CsvPages } from './http/pages.ts';
import { parseAnswer, refusePage } from './http/read-answer.ts';
import type { RequestOptions } from './http/settings.ts';
import { type Call, type Method, route, type Transport } from './http/transport.ts';
import { type CompletedJob, hasEnded, type Job } from './job.ts';
import { memberText } from './metadata-text.ts';
import { jobFields, type TranscribeParams } from './transcribe-params.ts';

/** `part`: of the phase, 0 to 1. */
export type TranscribeProgress = {
  phase: 'upload' | 'queue' | 'work';
  part: number;
  /** 1 for the next to start; in the phase `queue`. */
  queuePosition?: number;
  /** Once the job exists. */
  jobId?: string;
};

export type WaitOptions = RequestOptions & {
  /** Limit of the wait for the end of the job. Default: 4 hours */
  waitMs?: number | undefined;
  onProgress?: ((progress: TranscribeProgress) => void) | undefined;
};

export type UploadOptions = RequestOptions & {
  /** Called with the part of the upload that was sent, 0 to 1. */
  onUpload?: OnUpload | undefined;
};

type FileFormat = 'docx' | 'pdf';
type TextFormat = Exclude<NonNullable<GetJobsIdTranscriptQuery['format']>, 'json' | FileFormat>;
type TranscriptParams = Omit<GetJobsIdTranscriptQuery, 'format'>;

const UPLOAD_MS = 3_600_000;
const WAIT_MS = 4 * 3_600_000;

/** Transcription jobs. */
export class Jobs {
  readonly #http: Transport;

  constructor(http: Transport) {
    this.#http = http;
  }

  /** Sends the audio, and returns its queued job. The job is durable: it ends, whatever crashes. */
  async create(audio: AudioInput, params: TranscribeParams = {}, options: UploadOptions = {}): Promise<Job> {
    const { onUpload, ...rest } = options;
    return await this.#job('POST', '/v1/transcribe', {
      ...rest,
      timeoutMs: rest.timeoutMs ?? Math.max(UPLOAD_MS, this.#http.options.timeoutMs ?? 0),
      makeBody: () => makeUpload(audio, jobFields(params), onUpload),
      isRepeatable: () => isRepeatable(audio),
    });
  }

  async get(id: string, options?: RequestOptions): Promise<Job> {
    return await this.#job('GET', route`/v1/jobs/${id}`, options);
  }

  /** Newest first, without segments. */
  list(filter?: GetJobsQuery, options?: RequestOptions): CsvPages<JobInList> {
    return this.#http.csvPages('/v1/jobs', filter, options);
  }

  /** Changes title, tags or metadata; null removes title or metadata. */
  async update(id: string, body: PatchJobsIdBody, options?: RequestOptions): Promise<Job> {
    return await this.#job('PATCH', route`/v1/jobs/${id}`, { ...options, body });
  }

  async cancel(id: string, options?: RequestOptions): Promise<Job> {
    return await this.#job('POST', route`/v1/jobs/${id}/cancel`, options);
  }

  /** Erases an ended job, its audio and its transcript. */
  async delete(id: string, options?: RequestOptions): Promise<void> {
    await this.#http.json('DELETE', route`/v1/jobs/${id}`, options);
  }

  /** A new job on the stored audio of this one. */
  async retry(id: string, body: PostJobsIdRetryBody = {}, options?: RequestOptions): Promise<Job> {
    return await this.#job('POST', route`/v1/jobs/${id}/retry`, { ...options, body });
  }

  /** What becomes known about a job until it ends, each piece once. Never ends the job. */
  follow(id: string, options?: RequestOptions): AsyncIterable<JobUpdate> {
    return followJob(this.#http, id, options);
  }

  /**
   * The job, once it has ended, in whichever way.
   * @throws TimeoutError  after `waitMs`; the job goes on
   */
  async wait(id: string, options: WaitOptions = {}): Promise<Job> {
    const { waitMs = WAIT_MS, onProgress, signal, ...rest } = options;
    const limit = new AbortController();
    const done = new AbortController();
    void this.#http.clock.sleep(waitMs, done.signal).then(() => {
      if (!done.signal.aborted) limit.abort(new TimeoutError('wait', waitMs, id));
    });
    const call = { ...rest, signal: signal ? AbortSignal.any([signal, limit.signal]) : limit.signal };
    try {
      for await (const update of followJob(this.#http, id, call)) {
        const progress = progressOf(update);
        if (progress) onProgress?.({ ...progress, jobId: id });
      }
      return await this.get(id, call);
    } finally {
      done.abort();
    }
  }

  /** Creates a job and waits for its end. @throws JobFailedError */
  async transcribe(audio: AudioInput, params: TranscribeParams & WaitOptions = {}): Promise<CompletedJob> {
    const { signal, timeoutMs, maxRetries, idempotencyKey, headers, waitMs, onProgress, ...wanted } = params;
    const options = { signal, timeoutMs, maxRetries, headers };
    const onUpload = onProgress && ((part: number) => onProgress({ phase: 'upload', part }));
    const created = await this.create(audio, wanted, { ...options, idempotencyKey, onUpload });
    const job = hasEnded(created) ? created : await this.wait(created.id, { ...options, waitMs, onProgress });
    if (job.status !== 'completed') throw new JobFailedError(job);
    return job as CompletedJob;
  }

  /** The transcript with its segments, as it was edited; or as text, captions or Markdown; DOCX and PDF as blobs. */
  transcript(id: string, format?: 'json', params?: TranscriptParams, options?: RequestOptions): Promise<Transcript>;
  transcript(id: string, format: TextFormat, params?: TranscriptParams, options?: RequestOptions): Promise<string>;
  transcript(id: string, format: FileFormat, params?: TranscriptParams, options?: RequestOptions): Promise<Blob>;
  async transcript(
    id: string,
    format: TextFormat | FileFormat | 'json' = 'json',
    params: TranscriptParams = {},
    options: RequestOptions = {},
  ): Promise<Transcript | string | Blob> {
    const call = { ...options, query: { ...params, format } };
    const path = route`/v1/jobs/${id}/transcript`;
    if (format === 'json') return await this.#http.json('GET', path, call);
    if (format !== 'docx' && format !== 'pdf') return await this.#http.text('GET', path, call);
    return await this.#http.send('GET', path, call, async (answer) => await refusePage(answer).blob());
  }

  /** Changes the text of segments, by their index; null brings the original back. */
  async editTranscript(
    id: string,
    segments: PatchJobsIdTranscriptBody['segments'],
    options?: RequestOptions,
  ): Promise<Transcript> {
    return await this.#http.json('PATCH', route`/v1/jobs/${id}/transcript`, { ...options, body: { segments } });
  }

  /** Names speakers in the transcript by their labels, such as `{ A: 'Anna' }`; null brings the label back. */
  async nameSpeakers(
    id: string,
    speakers: NonNullable<PatchJobsIdTranscriptBody['speakers']>,
    options?: RequestOptions,
  ): Promise<Transcript> {
    return await this.#http.json('PATCH', route`/v1/jobs/${id}/transcript`, { ...options, body: { speakers } });
  }

  /** Shows speakers as another one, by their labels, such as `{ B: 'A' }`; null: by themselves again. */
  async mergeSpeakers(
    id: string,
    merged: NonNullable<PatchJobsIdTranscriptBody['merged_speakers']>,
    options?: RequestOptions,
  ): Promise<Transcript> {
    const body = { merged_speakers: merged };
    return await this.#http.json('PATCH', route`/v1/jobs/${id}/transcript`, { ...options, body });
  }

  /**
   * The stored audio; read it as a stream or a blob. With `headers: { range }` a part of it.
   * @param params  `format: 'opus'`: a copy that browsers play
   */
  async audio(id: string, options?: RequestOptions, params: GetJobsIdAudioQuery = {}): Promise<Response> {
    const call = { ...options, query: params, isStream: true };
    return await this.#http.send('GET', route`/v1/jobs/${id}/audio`, call, async (answer) => refusePage(answer));
  }

  /** A link to the audio that needs no key, for a player. Its `url` is relative to the address of the service. */
  async audioLink(id: string, body: PostJobsIdAudioLinkBody = {}, options?: RequestOptions): Promise<AudioLink> {
    return await this.#http.json('POST', route`/v1/jobs/${id}/audio-link`, { ...options, body });
  }

  /** A link that shows the transcript to whoever has it, for a limited time. Its `url` is shown only here. */
  async share(id: string, body: PostJobsIdShareBody = {}, options?: RequestOptions): Promise<NewShare> {
    return await this.#http.json('POST', route`/v1/jobs/${id}/share`, { ...options, body });
  }

  /** The links to the transcript that have not ended, newest first. */
  async shares(id: string, options?: RequestOptions): Promise<Share[]> {
    return (await this.#http.json<ShareList>('GET', route`/v1/jobs/${id}/shares`, options)).data;
  }

  /** Ends a link to the transcript at once. */
  async endShare(id: string, shareId: string, options?: RequestOptions): Promise<void> {
    await this.#http.json('DELETE', route`/v1/jobs/${id}/shares/${shareId}`, options);
  }

  /** The waveform of a completed job. */
  async peaks(id: string, query: GetJobsIdPeaksQuery = {}, options?: RequestOptions): Promise<Peaks> {
    return await this.#http.json('GET', route`/v1/jobs/${id}/peaks`, { ...options, query });
  }

  async #job(method: Method, path: string, call: Call = {}): Promise<Job> {
    return await this.#http.send(method, path, call, async (answer) => {
      const text = await answer.text();
      return { ...(parseAnswer(text, answer) as JobAnswer), metadataText: memberText(text, 'metadata') };
    });
  }
}

function progressOf(update: JobUpdate): TranscribeProgress | null {
  if (update.type === 'progress') return { phase: 'work', part: update.data.progress };
  if (update.type !== 'status') return null;
  const { status, queue_position } = update.data;
  if (status === 'queued') {
    return { phase: 'queue', part: 0, ...(queue_position !== undefined && { queuePosition: queue_position }) };
  }
  return status === 'processing' ? { phase: 'work', part: 0 } : null;
}
