import { setTimeout as delay } from 'node:timers/promises';
import type { Session } from '../command.ts';
import { showWarnings } from '../commands/jobs/job-view.ts';
import type { CaptionFlags, Format } from '../commands/transcription/captions.ts';
import { type RequestFlags, requestParams } from '../commands/transcription/request-options.ts';
import { CommandError, UsageError } from '../exit.ts';
import { clockTime } from '../terminal/format.ts';
import { FileTranscriber, type Outcome } from './file-transcriber.ts';
import { findUnfinished, type UnfinishedFile, type WatchedFolder } from './unfinished-files.ts';

/** The options of `verbatim watch`. */
export type WatchFlags = RequestFlags &
  CaptionFlags & {
    format: Format[];
    out?: string;
    recursive?: boolean;
    once?: boolean;
    /** In seconds. */
    interval: number;
    parallel: number;
  };

// A file that cannot be read, or a folder that cannot be written: somebody may mend it meanwhile.
const LOCAL_RETRY_MS = 600_000;

/**
 * Transcribes each file of the folder that has no transcript, until the user interrupts it or, with `--once`, until all
 * are done. What is done is seen from the files in the folder and asked from the service, so a restart forgets nothing.
 * @throws CommandError  with `--once`, if files failed
 * @throws VerbatimError  that another file would meet too: no valid key, no credits, an option that is refused
 */
export async function watchFolder(session: Session, flags: WatchFlags, folder: string): Promise<void> {
  const params = requestParams(flags);
  if (!(params.metadataText ?? '{').trim().startsWith('{')) throw new UsageError('The metadata must be a JSON object.');
  const fatal = new AbortController();
  const signal = AbortSignal.any([session.io.signal, fatal.signal]);
  const client = (await session.client()).with({ signal });
  const transcriber = new FileTranscriber(client, {
    params,
    captions: flags,
    retryMs: flags.interval * 1_000,
    signal,
    onWait: (message) => session.out.warn(`waiting: ${message}`),
  });
  const watcher = new FolderWatcher(session, flags, {
    watched: { folder, out: flags.out ?? null, formats: flags.format, isRecursive: flags.recursive !== false },
    transcribe: (file) => transcriber.transcribe(file),
    onFatal: (error) => fatal.abort(error),
  });
  session.out.note({ text: `Watching ${folder}: Ctrl-C ends it.`, style: 'dim' });
  try {
    await watcher.run(signal);
  } catch (error) {
    await watcher.settled();
    throw fatal.signal.aborted ? fatal.signal.reason : error;
  }
}

type Work = {
  watched: WatchedFolder;
  transcribe(file: UnfinishedFile): Promise<Outcome>;
  onFatal(error: unknown): void;
};

class FolderWatcher {
  readonly #session: Session;
  readonly #flags: WatchFlags;
  readonly #work: Work;
  /** The versions of the last look, by the names of the files. */
  #before = new Map<string, string>();
  /** Versions that failed for a reason of this machine, by the name of the file. */
  readonly #refused = new Map<string, { version: string; atMs: number }>();
  readonly #running = new Map<string, Promise<void>>();
  #queue: UnfinishedFile[] = [];
  readonly #reported = new Set<string>();
  #failures = 0;

  constructor(session: Session, flags: WatchFlags, work: Work) {
    this.#session = session;
    this.#flags = flags;
    this.#work = work;
  }

  async run(signal: AbortSignal): Promise<void> {
    while (true) {
      const files = await this.#look();
      // Nobody writes a file any more that is as it was at the last look.
      this.#queue = files.filter(({ name, version }) => this.#before.get(name) === version);
      this.#before = new Map(files.map(({ name, version }) => [name, version]));
      this.#startNext();
      if (this.#flags.once && files.length === 0 && this.#running.size === 0) break;
      await delay(this.#flags.interval * 1_000, undefined, { signal });
    }
    if (this.#failures > 0) throw new CommandError(`Not transcribed: ${this.#failures}.`);
  }

  /** Resolves when no file is worked on. */
  async settled(): Promise<void> {
    this.#queue = [];
    await Promise.all(this.#running.values());
  }

  /** The files that are to be transcribed and are not worked on. */
  async #look(): Promise<UnfinishedFile[]> {
    const onLeftOut = (path: string, reason: string) => {
      if (this.#reportOnce(`${path} is left out: ${reason}`)) this.#failures += 1;
    };
    const found = await findUnfinished(this.#work.watched, onLeftOut).catch((error: Error) => {
      if (this.#flags.once) throw error;
      // A network share that is away comes back.
      this.#reportOnce(`waiting: ${error.message}`);
      return [];
    });
    return found.filter((file) => !this.#running.has(file.name) && !this.#isRefused(file));
  }

  #isRefused({ name, version }: UnfinishedFile): boolean {
    const refused = this.#refused.get(name);
    return refused?.version === version && performance.now() - refused.atMs < LOCAL_RETRY_MS;
  }

  #startNext(): void {
    while (this.#running.size < this.#flags.parallel && this.#queue.length > 0) {
      const file = this.#queue.shift()!;
      // A look that is under way may have seen the file without its transcripts.
      this.#before.delete(file.name);
      this.#running.set(file.name, this.#handle(file));
    }
  }

  async #handle(file: UnfinishedFile): Promise<void> {
    try {
      this.#show(file, await this.#work.transcribe(file));
    } catch (error) {
      this.#work.onFatal(error);
    }
    this.#running.delete(file.name);
    this.#startNext();
  }

  #show(file: UnfinishedFile, outcome: Outcome): void {
    const { out } = this.#session;
    if (outcome.state === 'done') {
      const { id, audio } = outcome.job;
      const targets = file.missing.map(({ target }) => target);
      const line = [file.name, clockTime(audio.duration_seconds), ...targets].join('  ');
      if (out.mode === 'json') out.jsonLine({ file: file.name, job_id: id, transcripts: targets });
      else out.line(out.mode === 'ids' ? id : line);
      showWarnings(out, outcome.job, file.name);
    } else if (outcome.state === 'failed') {
      const isKnown = this.#refused.get(file.name)?.version === file.version;
      if (outcome.isLocal) this.#refused.set(file.name, { version: file.version, atMs: performance.now() });
      if (isKnown) return;
      this.#failures += 1;
      out.warn(`${file.name}: ${outcome.message}`);
    }
  }

  /** Whether it is reported for the first time. */
  #reportOnce(message: string): boolean {
    if (this.#reported.has(message)) return false;
    this.#session.out.warn(message);
    this.#reported.add(message);
    return true;
  }
}
