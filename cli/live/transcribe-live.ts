import fs from 'node:fs';
import type {
  CompletedJob,
  LiveConnectionState,
  LiveParams,
  LiveSession,
  LiveUpdate,
  Verbatim,
} from '#sdk/client/index.ts';
import type { Session } from '../command.ts';
import { showWarnings } from '../commands/jobs/job-view.ts';
import {
  type CaptionFlags,
  captionParams,
  type Format,
  readTranscript,
  requireTarget,
} from '../commands/transcription/captions.ts';
import { type RequestFlags, requestParams } from '../commands/transcription/request-options.ts';
import { wordLines } from '../commands/transcription/word-lines.ts';
import { CommandError, EXIT, UsageError } from '../exit.ts';
import { clockTime, credits } from '../terminal/format.ts';
import { LiveView } from './live-view.ts';
import { type LiveSource, openSource } from './sources.ts';

/** The options of `verbatim live`. */
export type LiveFlags = RequestFlags &
  CaptionFlags & {
    file?: string;
    device?: string;
    format: Format;
    out?: string;
    force?: boolean;
    endpointing?: number;
    maxSegment?: number;
  };

/**
 * Transcribes the microphone or a file while it is recorded or played, until it ends or the user interrupts it.
 * @throws CommandError
 * @throws VerbatimError
 */
export async function transcribeLive(session: Session, flags: LiveFlags): Promise<void> {
  const { io, out } = session;
  const { out: target, force = false, format } = flags;
  requireTarget(format, target);
  if (target !== undefined && !force && fs.existsSync(target)) {
    throw new UsageError(`${target} exists: --force replaces it.`);
  }
  const source = await openSource(io.env, flags);
  const ended = new AbortController();
  const pieces = source.pieces(AbortSignal.any([io.signal, ended.signal]))[Symbol.asyncIterator]();
  // Nothing is created for a microphone that is not there.
  const first = await pieces.next();
  if (io.signal.aborted) throw new CommandError('interrupted', EXIT.interrupted);
  if (first.done) throw new CommandError(`${source.label} has no audio.`);
  const view = new LiveView(out, {
    isResult: format === 'txt' && target === undefined,
    hasWords: flags.words === true,
  });
  const { client, live } = await begin(session, paramsOf(flags, source)).catch(async (error: unknown) => {
    // A recorder goes on until it is ended, and the program with it.
    await pieces.return?.();
    throw error;
  });
  out.note({ text: `${source.label}: Ctrl-C ends it.`, style: 'dim' });
  const end = () => ended.abort(null);
  live.ended.then(end, end);
  const reading = read(live, view);
  await live.write(first.value);
  const failure = await play({ pieces, canWait: source.canWait }, live, [io.signal, ended.signal]);
  // What ended the session is thrown here.
  const job = await live.finish().finally(() => reading.catch(() => view.end()));
  await writeResult(session, client, { job, flags });
  showWarnings(out, job, source.label);
  const cost = job.cost === null ? '' : `  ${credits(job.cost)} credits`;
  out.note(`${clockTime(job.audio.duration_seconds)}${cost}  ${target ?? job.id}`);
  if (failure !== null) throw failure;
}

async function begin(session: Session, params: LiveParams): Promise<{ client: Verbatim; live: LiveSession }> {
  // An interruption ends the recording, and what was recorded is transcribed.
  const client = (await session.client()).with({ signal: undefined });
  return { client, live: await client.live(params, { onConnection: connectionNotes(session) }) };
}

function paramsOf(flags: LiveFlags, { sampleRate }: LiveSource): LiveParams {
  // The command has no other flags than those of live sessions: see NOT_LIVE in live.ts.
  return {
    ...requestParams(flags),
    sample_rate: sampleRate,
    endpointing_ms: flags.endpointing,
    max_segment_seconds: flags.maxSegment,
  };
}

function connectionNotes({ out }: Session): (state: LiveConnectionState) => void {
  let isLost = false;
  return ({ state }) => {
    if (state === 'connected' && isLost) out.warn({ text: 'connected again', style: 'dim' });
    if (state === 'lost' && !isLost)
      out.warn('The connection is lost; the audio is kept, and sent when the connection is back within a minute.');
    isLost = state === 'lost';
  };
}

async function read(live: LiveSession, view: LiveView): Promise<void> {
  for await (const update of live) view.show(update as LiveUpdate);
  view.end();
}

/** Gives the session its audio until there is no more. Resolves to what ended the source too early; null: nothing. */
async function play(
  { pieces, canWait }: { pieces: AsyncIterator<Uint8Array>; canWait: boolean },
  live: LiveSession,
  stops: AbortSignal[],
): Promise<unknown> {
  try {
    for (let next = await pieces.next(); !next.done; next = await pieces.next()) {
      const written = live.write(next.value);
      if (canWait) await written;
    }
    return null;
  } catch (error) {
    return stops.some(({ aborted }) => aborted) ? null : error;
  }
}

async function writeResult(
  { out, answer }: Session,
  client: Verbatim,
  { job, flags }: { job: CompletedJob; flags: LiveFlags },
): Promise<void> {
  const { format, out: target } = flags;
  if (out.mode === 'ids') out.line(job.id);
  if (out.mode === 'json' || format === 'json') await client.jobs.get(job.id);
  if (out.mode === 'json') out.jsonLine({ event: 'done', job: answer() });
  if (out.mode !== 'text' && target === undefined) return;
  const text = await transcriptOf(client, job, flags, answer);
  if (target !== undefined) fs.writeFileSync(target, text);
  // Text has been printed as it came.
  else if (format !== 'txt') out.file(String(text));
}

async function transcriptOf(
  client: Verbatim,
  job: CompletedJob,
  flags: LiveFlags,
  answer: () => unknown,
): Promise<string | Uint8Array> {
  const { format } = flags;
  if (format === 'json') return `${JSON.stringify(answer(), null, 2)}\n`;
  if (format !== 'txt') return await readTranscript(client, job.id, format, captionParams(format, flags));
  return flags.words ? wordLines(job) : `${job.segments.map(({ text }) => text).join('\n')}\n`;
}
