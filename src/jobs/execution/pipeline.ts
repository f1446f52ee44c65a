import { AudioError } from '../../audio/audio-error.ts';
import { type ChannelPiece, cutChannels } from '../../audio/cut-channels.ts';
import type { FindSpeech } from '../../audio/detect-ahead.ts';
import { cutPieces, endSample, PIECE_MAX_SECONDS } from '../../audio/split.ts';
import { AudioGoneError, StorageAwayError } from '../../audio/storage/storage.ts';
import {
  type Engine,
  EngineError,
  type Pcm,
  SAMPLE_RATE,
  type Segment,
  type Transcript,
} from '../../engines/engine.ts';
import { transcribeSpeech } from '../../engines/evidence/transcribe-speech.ts';
import { EngineAwayError } from '../../engines/presence/engine-presence.ts';
import { lookAhead } from '../../platform/look-ahead.ts';
import type { Semaphore } from '../../platform/semaphore.ts';
import { BOUNDS } from '../../rules/bounds.ts';
import { Extent } from '../../rules/channels/extent.ts';
import { SegmentOrder } from '../../rules/channels/segment-order.ts';
import { isSameLanguage } from '../../rules/jobs/language.ts';
import { PeakCollector } from '../../rules/jobs/peaks.ts';
import { billedMs } from '../../rules/jobs/price.ts';
import { type FoundWarning, toWarnings } from '../../rules/jobs/warnings.ts';
import { BoundedReplacer } from '../../rules/transcript/bounded-replacer.ts';
import { type Interval, shiftBy } from '../../rules/transcript/intervals.ts';
import { packWords } from '../../rules/transcript/packed-words.ts';
import { OVERLAP_SECONDS } from '../../rules/transcript/phrases.ts';
import { Untranscribed } from '../../rules/transcript/untranscribed.ts';
import type { ExtendHold, Shortage } from '../end/hold.ts';
import type { ClaimedJob, Outcome } from '../job.ts';
import type { JobOptions } from '../options.ts';
import { speakerBounds } from '../speaker-options.ts';
import { findChannelSpeakers } from '../speakers/find-channel-speakers.ts';
import type { SpeakerTime } from '../speakers/label-transcript.ts';
import { Recordings } from '../speakers/recording.ts';
import { LanguageCount, missingWordTimes, placeSegments, segmentsJson, textOf } from '../transcript.ts';
import type { KeptPieces } from '../waiting/kept-pieces.ts';
import { audioWarnings, countSamples, type Decoded, endWarnings, openJobAudio, piecesWithinHold } from './job-audio.ts';
import { joinPieces, type PieceResult } from './join-pieces.ts';
import { openProgress } from './progress.ts';
import type { PieceTimeout, TranscriberRuntime } from './transcriber-runtime.ts';

/** An engine and the semaphore that limits the pieces under way to its slots. */
export type LimitedEngine = { engine: Engine; semaphore: Semaphore };

type Failed = Extract<Outcome, { kind: 'failed' }>;
type Progress = ReturnType<typeof openProgress>;

/** What a job is transcribed with, and what its worker does meanwhile. */
export type PipelineRuntime = TranscriberRuntime & {
  /** Called before the engine is given a piece: audio that the balance does not cover is not transcribed. */
  extendHold: ExtendHold;
  /**
   * Called for each piece that is transcribed, in the order of the audio, with the segments that come next in the order
   * of the transcript.
   */
  onPiece: (segments: readonly Segment[], reached: Reached) => void;
  /** Called when the engine is done with the job, and its speakers are to be found. */
  leavePlace: () => void;
  /** Called with 0 to 0.99 while what follows transcription goes on. */
  onProgress: (progress: number) => void;
  /** The trace that the calls of the engine belong to; null: none. */
  traceparent: string | null;
  /** The pieces that are done already, and those that will be. */
  kept: KeptPieces<PieceResult>;
};

/**
 * The state of a job after a piece.
 * @property progress  0 to 0.99
 * @property isWhole   the piece is all of the audio
 */
export type Reached = { progress: number; transcribedMs: number; isWhole: boolean };

/** An engine with a lower limit is given parts of whole pieces. */
const SHORTEST_LIMIT_SECONDS = 20;

/** Of the progress of a job whose speakers are found afterwards. */
const TRANSCRIPTION_SHARE = 0.6;

// The slowest engine takes an eighth of the audio's length on one core. Four times the length allows for a machine that
// is 30 times slower or as overloaded; the base covers an engine that restarts and loads its model first.
const PIECE_TIMEOUT: PieceTimeout = { baseMs: BOUNDS.pieceMs, perAudioSecondMs: BOUNDS.piecePerAudioSecondMs };

/**
 * Decodes, splits and transcribes a job's audio, and joins the transcripts. Failures of the audio or the engine are
 * outcomes. Rejects when the signal aborts, when the engine or the storage is away, and on bugs of the service.
 */
export async function runPipeline(
  job: ClaimedJob,
  { engine, semaphore }: LimitedEngine,
  runtime: PipelineRuntime,
  signal: AbortSignal,
): Promise<Outcome> {
  try {
    requireTranslation(job.options, engine);
    await using file = await runtime.storage.localPath(job.audioKey!);
    const bounds = speakerBounds(job.options);
    const progress = openProgress(job.durationMs / 1000, bounds === null ? 1 : TRANSCRIPTION_SHARE);
    const audio = await openJobAudio(job, file.path, runtime, signal);
    const { channels, findings } = audio;
    await using recordings = new Recordings(
      bounds === null ? 0 : channels.length,
      runtime.storage,
      runtime.config.minFreeDiskBytes,
    );
    const decoded: Decoded = { samples: 0, peaks: new PeakCollector(), shortage: null };
    const counted = countSamples(recordings.record(audio.chunks), { decoded, progress });
    const findSpeech = findSpeechWith(runtime.detector, signal);
    const cutChannel = (pcm: AsyncIterable<Pcm>) => cutPieces(pcm, findSpeech, pieceSecondsOf(engine));
    const cut = cutChannels(counted, channels.length, cutChannel);
    const pieces = piecesWithinHold(cut, audio, { decoded, extendHold: runtime.extendHold });
    const found = [...unsupportedOptions(job.options, engine), ...audioWarnings(job, audio)];
    const untranscribed = new Untranscribed(channels.length);
    const transcription = { engine, semaphore, progress, found, channels, untranscribed };
    const transcript = await transcribePieces(job, pieces, transcription, runtime, signal);
    if (decoded.shortage !== null) return insufficientBalance(engine, decoded.shortage);
    found.push(...endWarnings(audio, decoded.samples / SAMPLE_RATE));
    const durationMs = billedMs(decoded.samples, SAMPLE_RATE);
    const chargedMs = chargedMsOf(durationMs * channels.length, transcript, untranscribed);
    const known = { durationMs, chargedMs, found, peaks: decoded.peaks.bytes() };
    if (bounds === null) return completed(job, engine, { transcript, speakers: null, ...known });
    runtime.leavePlace();
    const onProgress = (share: number) => runtime.onProgress(progress.followed(share));
    const finder = runtime.speakerFinder ?? null;
    const log = runtime.log.child({ job_id: job.id });
    const recorded = recordings.channels.map((recording, position) => ({
      channel: findings === null ? null : channels[position]!,
      recording,
    }));
    const search = { finder, bounds, onProgress, found, log, signal };
    return completed(job, engine, { ...(await findChannelSpeakers(transcript, recorded, search)), ...known });
  } catch (cause) {
    signal.throwIfAborted();
    if (cause instanceof EngineAwayError) throw cause;
    if (cause instanceof AudioGoneError || cause instanceof AudioError)
      return await failedByAudio(job, engine, { cause, ...runtime });
    if (cause instanceof EngineError) return failed(engine, cause.type, cause.message);
    throw cause;
  }
}

/**
 * The storage is asked first: while it is away, audio may be missing or end early.
 * @throws StorageAwayError  when it is away, or has the audio again
 */
async function failedByAudio(
  { audioKey, sizeBytes }: ClaimedJob,
  engine: Engine,
  { cause, storage }: { cause: AudioGoneError | AudioError } & Pick<PipelineRuntime, 'storage'>,
): Promise<Outcome> {
  const isStored = await storage.isComplete(audioKey!, sizeBytes!);
  if (cause instanceof AudioError) return failed(engine, 'unprocessable_audio', cause.message);
  if (isStored) throw new StorageAwayError(cause);
  return failed(engine, 'engine_error', `${cause.message} Send it again.`);
}

/** A job's engine, and what is found out about the job while it is transcribed. */
type Transcription = LimitedEngine & {
  progress: Progress;
  found: FoundWarning[];
  channels: readonly number[];
  untranscribed: Untranscribed;
};

async function transcribePieces(
  job: ClaimedJob,
  pieces: AsyncIterable<ChannelPiece>,
  { engine, semaphore, ...transcription }: Transcription,
  runtime: PipelineRuntime,
  signal: AbortSignal,
): Promise<Transcript> {
  const { baseMs, perAudioSecondMs } = runtime.pieceTimeout ?? PIECE_TIMEOUT;
  const unfinished = new AbortController();
  const pieceSignal = AbortSignal.any([signal, unfinished.signal]);
  const results = lookAhead(pieces, {
    // One more than there are slots: the next piece is ready when a slot becomes free.
    ahead: engine.slots + 1,
    abort: () => unfinished.abort(),
    work: async ({ samples, speech, ...piece }) => {
      const kept = runtime.kept.find(piece, samples.length);
      if (kept !== null) return kept;
      const timeoutMs = baseMs + (perAudioSecondMs * samples.length) / SAMPLE_RATE;
      const { prompt, keywords, translate_to: translateTo } = job.options;
      const traceparent = runtime.traceparent ?? undefined;
      const known = { prompt, keywords, translateTo, traceparent, language: job.language, jobId: job.id };
      const options = { ...known, timeoutMs, signal: pieceSignal, semaphore };
      const heard = await transcribeSpeech(engine, samples, speech, options);
      const result = { ...piece, end: endSample({ ...piece, samples }), heard };
      // The engine may be found to be away later, or to have been: it gets this piece again then.
      if (heard.untranscribed.length === 0) runtime.kept.add(result, samples.length);
      return result;
    },
  });
  return await joinResults(job, joinPieces(results, job.options.translate_to), transcription, runtime.onPiece);
}

/** Puts the segments of the pieces in order, and reports how far the job has come. */
async function joinResults(
  job: ClaimedJob,
  results: AsyncIterable<PieceResult>,
  { progress, found, channels, untranscribed }: Omit<Transcription, keyof LimitedEngine>,
  onPiece: PipelineRuntime['onPiece'],
): Promise<Transcript> {
  const languages = new LanguageCount();
  const segments: Segment[] = [];
  const order = new SegmentOrder<Segment>(channels.length);
  const extent = new Extent(channels.length, SAMPLE_RATE);
  const replacer = job.options.replacements ? new BoundedReplacer(job.options.replacements) : null;
  let isSpeechHeard = false;
  for await (const { channel: position, startSeconds, heard, end, cutSeconds, isWhole } of results) {
    const endSeconds = end / SAMPLE_RATE;
    const reachedSeconds = cutSeconds === null ? endSeconds : cutSeconds - OVERLAP_SECONDS;
    const channel = job.options.multichannel ? { channel: channels[position]! } : {};
    // Before the replacements, which may leave every word out.
    isSpeechHeard ||= heard.transcript.segments.length > 0;
    const transcript = replacer ? replaceIn(heard.transcript, replacer) : heard.transcript;
    const placed = placeSegments({ startSeconds, transcript, ...channel });
    const next = order.add(placed, { position, endSeconds: reachedSeconds });
    segments.push(...next);
    languages.add(transcript);
    untranscribed.add(position, shiftBy(startSeconds, heard.untranscribed), placed);
    if (ignoresLanguage(job, heard.transcript)) found.push({ code: 'language_ignored', startSeconds, endSeconds });
    if (transcript.isCut) found.push({ code: 'text_cut', startSeconds, endSeconds });
    found.push(...warningsOf('repetition', shiftBy(startSeconds, heard.repetitions)));
    extent.reach(position, end);
    const transcribedMs = extent.chargedMs() - untranscribed.ms();
    onPiece(next, { progress: progress.transcribed(extent.meanSeconds()), transcribedMs, isWhole });
  }
  found.push(...warningsOf('untranscribed', untranscribed.parts()));
  if (!isSpeechHeard && untranscribed.ms() === 0) found.push({ code: 'no_speech' });
  return { segments: [...segments, ...order.rest()], language: languages.main() };
}

function findSpeechWith(detector: TranscriberRuntime['detector'], signal: AbortSignal): FindSpeech | null {
  return detector ? (pcm, leaving) => detector.find(pcm, AbortSignal.any([signal, leaving])) : null;
}

function warningsOf(code: FoundWarning['code'], parts: readonly Interval[]): FoundWarning[] {
  return parts.map((part) => ({ code, ...part }));
}

/** A translation has the language of the request. */
function ignoresLanguage({ language: asked }: ClaimedJob, { language, segments }: Transcript): boolean {
  if (asked === null || language === null || segments.length === 0) return false;
  return !isSameLanguage(asked, language);
}

/** Of audio without any text nothing is charged where speech was detected: the engine has failed on all of it. */
function chargedMsOf(audioMs: number, { segments }: Transcript, untranscribed: Untranscribed): number {
  const isEmpty = segments.length === 0 && untranscribed.ms() > 0;
  return isEmpty ? 0 : audioMs - untranscribed.ms();
}

function replaceIn(transcript: Transcript, replacer: BoundedReplacer): Transcript {
  const segments = replacer.replace(transcript.segments);
  return segments === null ? { ...transcript, isCut: true } : { ...transcript, segments };
}

/** Pieces for engines with a lower limit are divided in the pauses of the speech, which are more in a longer piece. */
function pieceSecondsOf({ maxPieceSeconds = PIECE_MAX_SECONDS }: Engine): number {
  return maxPieceSeconds < SHORTEST_LIMIT_SECONDS ? PIECE_MAX_SECONDS : Math.min(maxPieceSeconds, PIECE_MAX_SECONDS);
}

/** The API refuses translations too, but the job may be older than the engine of its plan. @throws EngineError */
function requireTranslation({ translate_to: translateTo }: JobOptions, { name, features = [] }: Engine): void {
  if (!translateTo || features.includes('translate')) return;
  throw new EngineError('engine_error', `The engine ${name} cannot translate. Send the audio without translate_to.`, {
    failure: { kind: 'request' },
  });
}

/** The options that the engine cannot serve: the job is executed without them. */
function unsupportedOptions(options: JobOptions, { features = [] }: Engine): FoundWarning[] {
  const missing = (['prompt', 'keywords'] as const).filter((name) => options[name] && !features.includes(name));
  return missing.map((name) => ({ code: `${name}_unsupported` }));
}

function insufficientBalance(engine: Engine, { message, decodedMs }: Shortage): Outcome {
  return { ...failed(engine, 'insufficient_balance', message), durationMs: decodedMs };
}

type Result = {
  transcript: Transcript;
  speakers: SpeakerTime[] | null;
  durationMs: number;
  chargedMs: number;
  found: readonly FoundWarning[];
  peaks: Buffer;
};

function completed(job: ClaimedJob, engine: Engine, { transcript, found, ...result }: Result): Outcome {
  return {
    ...result,
    kind: 'completed',
    model: engine.name,
    language: transcript.language,
    transcript: textOf(transcript),
    segments: segmentsJson(transcript, job.wordTimes),
    words: job.wordTimes ? null : packWords(transcript.segments),
    warnings: toWarnings([...found, ...missingWordTimes(job, transcript.segments)]),
  };
}

function failed(engine: Engine, type: Failed['type'], message: string): Failed {
  return { kind: 'failed', type, message, model: engine.name };
}
