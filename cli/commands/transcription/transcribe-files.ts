import { setTimeout as delay } from 'node:timers/promises';
import {
  type Job,
  JobFailedError,
  RateLimitError,
  type RequestReport,
  type TranscribeParams,
  type Verbatim,
} from '#sdk/client/index.ts';
import type { Session } from '../../command.ts';
import { AnswerKeeper } from '../../exact-json.ts';
import { CommandError, EXIT, type ExitCode, OutputClosed } from '../../exit.ts';
import { describeFailure } from '../../failure.ts';
import { clockTime, credits } from '../../terminal/format.ts';
import { safeBlock } from '../../terminal/safe-text.ts';
import { typed } from '../../typed.ts';
import { showWarnings, speedOf } from '../jobs/job-view.ts';
import { type CaptionFlags, captionParams, type Format, readTranscript } from './captions.ts';
import type { Input } from './inputs.ts';
import { openProgress, type Phase, type Progress } from './progress.ts';
import { wordLines } from './word-lines.ts';
import { requireWritable, writeWhole } from './write-transcript.ts';

export type Wanted = {
  params: TranscribeParams;
  format: Format;
  captions: CaptionFlags;
  /** Do not wait for the end of the jobs. */
  isAsync: boolean;
  /** Print nothing on standard output. */
  isSilent: boolean;
  /** How many at once. */
  parallel: number;
};

/** What became of an input. `pending`: not begun, or interrupted; then perhaps with a job that goes on. */
type Outcome =
  | { state: 'pending'; jobId: string | null }
  | { state: 'done'; job: Job; answer: unknown; text: string | Uint8Array }
  | { state: 'failed'; message: string; exitCode: ExitCode; error: unknown };

// Without credentials or credits, the other inputs would fail too.
const FATAL: readonly ExitCode[] = [EXIT.notSignedIn, EXIT.outOfCredits];
const LONGEST_WAIT_MS = 3_600_000;

/**
 * Transcribes the inputs, a few at a time. Results go to standard output in the order of the inputs, or to their files.
 * @returns the ids of the jobs
 * @throws CommandError  if one of them failed, after the others have ended
 */
export async function transcribeAll(session: Session, inputs: readonly Input[], wanted: Wanted): Promise<string[]> {
  const { io, out } = session;
  const client = await session.client();
  const outcomes: Outcome[] = inputs.map(() => ({ state: 'pending', jobId: null }));
  const progress = openProgress(out, inputs);
  let [next, shown, isStopped] = [0, 0, false];
  const work = async () => {
    while (next < inputs.length && !isStopped && !io.signal.aborted) {
      const at = next++;
      const outcome = await transcribeOne({ client, session, input: inputs[at]!, wanted, progress, at });
      outcomes[at] = outcome;
      if (outcome.state === 'failed' && FATAL.includes(outcome.exitCode)) isStopped = true;
      for (; shown < inputs.length && outcomes[shown]!.state !== 'pending'; shown++) {
        show(session, inputs[shown]!, outcomes[shown]!, { ...wanted, isOnly: inputs.length === 1 });
      }
    }
  };
  try {
    await Promise.all(Array.from({ length: wanted.parallel }, work));
  } finally {
    progress.end();
  }
  conclude(session, inputs, outcomes);
  return outcomes.flatMap((outcome) => (outcome.state === 'done' ? [outcome.job.id] : []));
}

type Task = { client: Verbatim; session: Session; input: Input; wanted: Wanted; progress: Progress; at: number };

async function transcribeOne({ client, session, input, wanted, progress, at }: Task): Promise<Outcome> {
  const { signal } = session.io;
  let jobId: string | null = null;
  const keeper = new AnswerKeeper();
  // The client repeats a request that the rate limit refused: the row then says what it waits for.
  const onRequest = ({ status, headers }: RequestReport) => {
    const seconds = Number(headers?.get('retry-after') ?? 0);
    if (status === 429 && seconds > 0) progress.update(at, { phase: 'wait', part: seconds });
  };
  const own = client.with({ fetch: keeper.fetch, onRequest });
  try {
    if (input.target !== null) await requireWritable(input.target);
    let job = await createJob(own, input, wanted.params, { progress, at, signal });
    jobId = job.id;
    progress.update(at, { phase: 'queue', part: 0 });
    if (!wanted.isAsync && job.status !== 'completed') {
      job = await own.jobs.wait(job.id, { onProgress: (phase) => progress.update(at, phase) });
      if (job.status !== 'completed') throw new JobFailedError(job);
    }
    const { answer } = keeper;
    const text = wanted.isAsync ? '' : await renderTranscript(own, job, answer, wanted);
    if (input.target !== null) await writeWhole(input.target, text);
    progress.finish(at, wanted.isAsync ? `${job.id} queued` : summaryOf(job, input), 'done');
    return { state: 'done', job, answer, text };
  } catch (error) {
    if (signal.aborted) return { state: 'pending', jobId };
    const { message, exitCode } = describeFailure(error, signal);
    progress.finish(at, message, 'failed');
    return { state: 'failed', message, exitCode, error };
  }
}

/** Sends the input. Beyond the rate limit it waits as long as the service asks, with the same Idempotency-Key. */
async function createJob(
  client: Verbatim,
  input: Input,
  params: TranscribeParams,
  { progress, at, signal }: { progress: Progress; at: number; signal: AbortSignal },
): Promise<Job> {
  const show = (phase: Phase) => progress.update(at, phase);
  const idempotencyKey = `cli-${crypto.randomUUID()}`;
  // Without it, the upload is faster.
  const onUpload = progress.isLive ? (part: number) => show({ phase: 'upload', part }) : undefined;
  while (true) {
    show({ phase: 'upload', part: 0 });
    try {
      return await client.jobs.create(input.audio, params, { idempotencyKey, onUpload });
    } catch (error) {
      if (!(error instanceof RateLimitError) || !input.isRepeatable) throw error;
      const waitMs = Math.min(LONGEST_WAIT_MS, error.retryAfterMs ?? 1_000);
      show({ phase: 'wait', part: waitMs / 1_000 });
      await delay(waitMs, undefined, { signal });
    }
  }
}

/**
 * The transcript of a completed job in the wanted format.
 * @param answer  the job as the service has written it
 */
export async function renderTranscript(
  client: Verbatim,
  job: Job,
  answer: unknown,
  wanted: Pick<Wanted, 'params' | 'format' | 'captions'>,
): Promise<string | Uint8Array> {
  if (wanted.format === 'json') return `${JSON.stringify(answer, null, 2)}\n`;
  if (wanted.format === 'txt') return wanted.params.timestamps === 'word' ? wordLines(job) : `${job.text ?? ''}\n`;
  return await readTranscript(client, job.id, wanted.format, captionParams(wanted.format, wanted.captions));
}

function summaryOf(job: Job, { target }: Input): string {
  const speed = speedOf(job);
  const facts = [
    clockTime(job.audio.duration_seconds),
    speed === null ? '' : `${speed < 10 ? speed.toFixed(1) : Math.round(speed)}× real time`,
    job.cost === null ? '' : `${credits(job.cost)} credits`,
    target ?? job.id,
  ];
  return facts.filter((fact) => fact !== '').join('  ');
}

function show({ out }: Session, input: Input, outcome: Outcome, how: Wanted & { isOnly: boolean }): void {
  if (outcome.state !== 'done' || how.isSilent) return;
  const { job, answer, text } = outcome;
  if (out.mode === 'ids') out.line(job.id);
  else if (out.mode === 'json') how.isOnly ? out.json(answer) : out.jsonLine(answer);
  else if (how.isAsync) out.line(`${job.id}  ${job.status}  ${input.label}`);
  else if (input.target !== null) return;
  else if (how.format === 'json') how.isOnly ? out.json(answer) : out.jsonLine(answer);
  else {
    if (!how.isOnly) out.line({ text: `==> ${input.label} <==`, style: 'bold' });
    out.block(String(text));
  }
}

/** Says what the texts lack and what is left to do, and ends the command with the exit code of the failures. */
function conclude({ io, out }: Session, inputs: readonly Input[], outcomes: readonly Outcome[]): void {
  outcomes.forEach((outcome, at) => {
    if (outcome.state === 'done') showWarnings(out, outcome.job, inputs[at]!.label);
    else if (outcome.state === 'pending' && outcome.jobId) {
      out.warn(`${outcome.jobId} goes on: ${typed(io.env, `jobs follow ${outcome.jobId}`)}`);
    }
  });
  const failed = outcomes.filter((outcome) => outcome.state === 'failed');
  const pending = outcomes.filter((outcome) => outcome.state === 'pending');
  if (io.signal.aborted && pending.length > 0) {
    if (io.signal.reason instanceof OutputClosed) throw new CommandError('');
    throw new CommandError('interrupted', EXIT.interrupted);
  }
  if (failed.length === 0) return;
  const [first] = failed;
  if (inputs.length === 1) throw first!.error;
  outcomes.forEach((outcome, at) => {
    // Otherwise the progress has said it.
    if (outcome.state === 'failed' && out.mode === 'ids')
      out.warn(safeBlock(`${inputs[at]!.label}: ${outcome.message}`));
    else if (outcome.state === 'pending') out.warn(`${inputs[at]!.label}: not sent`);
  });
  const isOneReason = failed.every(({ exitCode }) => exitCode === first!.exitCode);
  const count = failed.length + pending.length;
  throw new CommandError(
    `${count} of ${inputs.length} were not transcribed.`,
    isOneReason ? first!.exitCode : EXIT.failed,
  );
}
