import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import fs from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import {
  ApiError,
  type Job,
  JobFailedError,
  NotFoundError,
  TimeoutError,
  type TranscribeParams,
  type Verbatim,
  VerbatimError,
} from '#sdk/client/index.ts';
import type { CaptionFlags } from '../commands/transcription/captions.ts';
import { renderTranscript } from '../commands/transcription/transcribe-files.ts';
import { requireWritable, writeWhole } from '../commands/transcription/write-transcript.ts';
import { AnswerKeeper } from '../exact-json.ts';
import { EXIT } from '../exit.ts';
import { describeFailure } from '../failure.ts';
import { failureText, type UnfinishedFile, versionOf } from './unfinished-files.ts';

/** What became of a file. `changed`: it is another file now, or gone. `isLocal`: for a reason of this machine. */
export type Outcome =
  | { state: 'done'; job: Job }
  | { state: 'changed' }
  | { state: 'failed'; message: string; isLocal: boolean };

type Settings = {
  params: TranscribeParams;
  captions: CaptionFlags;
  /** Delay before another attempt while the service is away, when it does not ask for another one. */
  retryMs: number;
  signal: AbortSignal;
  /** Called once per outage with its reason. */
  onWait(message: string): void;
};

const LONGEST_WAIT_MS = 3_600_000;
// Of the answers that refuse a request because of its file.
const FILE_STATUSES = [409, 413, 415, 422];
const FILE_PARAMS: (string | null)[] = ['file', 'audio_track'];

/** Transcribes files of a watched folder, each version of a file by one job. */
export class FileTranscriber {
  readonly #client: Verbatim;
  readonly #settings: Settings;
  #isWaiting = false;

  constructor(client: Verbatim, settings: Settings) {
    this.#client = client;
    this.#settings = settings;
  }

  /**
   * Writes the missing transcripts of a file, or a note beside them that says why it failed. Waits while the service is
   * away or limits the rate.
   * @throws VerbatimError  that another file would meet too
   */
  async transcribe(file: UnfinishedFile): Promise<Outcome> {
    try {
      for (const target of [...file.missing.map(({ target }) => target), file.failureNote])
        await requireWritable(target);
      const key = await this.#keyOf(file);
      while (true) {
        try {
          const outcome = await this.#attempt(file, key);
          this.#isWaiting = false;
          return outcome;
        } catch (error) {
          await this.#wait(error);
        }
      }
    } catch (error) {
      return await this.#fail(file, error);
    }
  }

  async #attempt(file: UnfinishedFile, key: string): Promise<Outcome> {
    if ((await versionOf(file.path)) !== file.version) return { state: 'changed' };
    const keeper = new AnswerKeeper();
    const client = this.#client.with({ fetch: keeper.fetch });
    const { id } = await this.#findOrCreate(client, file, key);
    const job = await client.jobs.wait(id);
    if (job.status !== 'completed') throw new JobFailedError(job);
    const { answer } = keeper;
    if ((await versionOf(file.path)) !== file.version) return { state: 'changed' };
    const { params, captions } = this.#settings;
    for (const { format, target } of file.missing) {
      await writeWhole(target, await renderTranscript(client, job, answer, { params, format, captions }));
    }
    await fs.rm(file.failureNote, { force: true });
    return { state: 'done', job };
  }

  /** The job of this version, from before a restart too. One that has failed is followed by another. */
  async #findOrCreate(client: Verbatim, { name, path: file }: UnfinishedFile, key: string): Promise<{ id: string }> {
    const page = await client.jobs.list({ metadata: { watch_key: key }, limit: 1 });
    const [last] = page.data;
    if (last && last.status !== 'failed' && last.status !== 'canceled') return last;
    const metadataText = withMembers(this.#settings.params.metadataText, { watch_file: name, watch_key: key });
    const params = { ...this.#settings.params, metadataText };
    const idempotencyKey = ['watch', key, ...(last ? [last.id] : [])].join('-');
    return await client.jobs.create({ path: file }, params, { idempotencyKey });
  }

  /** Names the content of the file, its place in the folder and the options: the same ones need no second job. */
  async #keyOf({ name, path: file }: UnfinishedFile): Promise<string> {
    const hash = createHash('sha256').update(JSON.stringify([name, this.#settings.params]));
    for await (const chunk of createReadStream(file, { signal: this.#settings.signal })) hash.update(chunk);
    return hash.digest('hex');
  }

  /** Resolves when another attempt may succeed. @throws  the error, if none may */
  async #wait(error: unknown): Promise<void> {
    const { retryMs, signal, onWait } = this.#settings;
    // Retryable too: the conflict with the upload of a run that was killed, which is not yet over.
    const isPassing = error instanceof VerbatimError && (error.isRetryable || error instanceof TimeoutError);
    if (!isPassing || signal.aborted) throw error;
    if (!this.#isWaiting) onWait(describeFailure(error, signal).message);
    this.#isWaiting = true;
    await delay(Math.min(LONGEST_WAIT_MS, error.retryAfterMs ?? retryMs), undefined, { signal });
  }

  async #fail(file: UnfinishedFile, error: unknown): Promise<Outcome> {
    const { signal } = this.#settings;
    if (signal.aborted || (error as NodeJS.ErrnoException).code === 'ENOENT') return { state: 'changed' };
    const { message } = describeFailure(error, signal);
    if (!(error instanceof VerbatimError)) return { state: 'failed', message, isLocal: true };
    if (!isAboutFile(error, signal)) throw error;
    const isLocal = await writeWhole(file.failureNote, failureText(file, message)).then(
      () => false,
      () => true,
    );
    return { state: 'failed', message, isLocal };
  }
}

function isAboutFile(error: unknown, signal: AbortSignal): boolean {
  // A job that somebody has erased is not found.
  if (error instanceof NotFoundError) return true;
  if (error instanceof ApiError) return FILE_STATUSES.includes(error.status) || FILE_PARAMS.includes(error.param);
  return error instanceof JobFailedError && describeFailure(error, signal).exitCode !== EXIT.outOfCredits;
}

/** A JSON object with further members; its numbers keep all digits. */
function withMembers(text = '{}', members: Record<string, string>): string {
  const object = text.trim();
  const before = object.slice(0, -1).trimEnd();
  return `${before}${before === '{' ? '' : ','}${JSON.stringify(members).slice(1)}`;
}
