import { access } from 'node:fs/promises';
import { AudioError } from '../audio/audio-error.ts';
import { cutPieces } from '../audio/cut.ts';
import { decodePcm } from '../audio/decode.ts';
import type { AudioStorage } from '../audio/storage.ts';
import type { Engine, Pcm } from '../engines/engine.ts';
import { EngineError, SAMPLE_RATE } from '../engines/engine.ts';
import type { VoiceDetector } from '../engines/vad.ts';
import type { ToolPaths } from '../runtime/tools.ts';
import type { Gate } from './gate.ts';
import type { ClaimedJob, Outcome } from './job.ts';
import { lookAhead } from './look-ahead.ts';
import { openProgress } from './progress.ts';
import { soundTranscript } from './sound-transcript.ts';
import type { PieceTranscript } from './transcript.ts';
import { joinPieces, segmentsJson, textOf } from './transcript.ts';

/** An engine and the gate that lets in as many pieces at once as it has slots. */
export type GatedEngine = { engine: Engine; gate: Gate };

type Progress = ReturnType<typeof openProgress>;

export type RunDeps = {
  storage: AudioStorage;
  tools: ToolPaths;
  maxAudioSeconds: number;
  /** Helps to cut long audio, and spares the engine pieces without speech; absent where no model of one was pulled. */
  detector?: VoiceDetector | null;
  /** How long one piece may take; the default grows with its length. */
  pieceTimeout?: PieceTimeout;
  /** Called whenever the next piece, in the order of the audio, is done; progress is 0 to 0.99. */
  onPiece: (piece: PieceTranscript, progress: number) => void;
  /** Told of what a reader of the transcript should know of a stretch of it. */
  onWarning?: (warning: PieceWarning) => void;
};

/** `text_cut`: speech too dense for the engine, whose text may lack the end of the stretch. */
export type PieceWarning = { code: 'text_cut'; startSeconds: number; endSeconds: number };

export type PieceTimeout = { baseMs: number; perAudioSecondMs: number };

// The slowest engine we offer takes an eighth of the audio's length on one core; four times the length is a machine that
// is 30 times slower or as overloaded, and the base covers an engine that restarts and loads its model first.
const PIECE_TIMEOUT: PieceTimeout = { baseMs: 60_000, perAudioSecondMs: 4_000 };

/**
 * One job from its audio to its transcript: decode, cut, transcribe, join. Failures of the audio or the engine are
 * outcomes; it rejects when the signal aborts, and on bugs of ours.
 */
export async function runJob(
  job: ClaimedJob,
  { engine, gate }: GatedEngine,
  deps: RunDeps,
  signal: AbortSignal,
): Promise<Outcome> {
  try {
    await using file = await deps.storage.localPath(job.audioKey!);
    if (!(await isThere(file.path)))
      return failed(engine, 'engine_error', 'The audio is no longer there. Send it again.');
    const progress = openProgress(job.durationMs / 1000);
    const counted = countSamples(decodePcm(file.path, { ...deps, signal }), progress);
    const findSpeech = async (audio: Pcm) => (await deps.detector?.find(audio, signal)) ?? null;
    const cut = cutPieces(counted.chunks, findSpeech, engine.maxPieceSeconds);
    const pieces = await transcribePieces(job, cut, { engine, gate, progress }, deps, signal);
    return completed(job, engine, pieces, counted.samples());
  } catch (cause) {
    signal.throwIfAborted();
    if (cause instanceof AudioError) return failed(engine, 'unprocessable_audio', cause.message);
    if (cause instanceof EngineError) return failed(engine, cause.type, cause.message);
    throw cause;
  }
}

async function transcribePieces(
  job: ClaimedJob,
  pieces: AsyncIterable<{ startSeconds: number; samples: Pcm }>,
  { engine, gate, progress }: GatedEngine & { progress: Progress },
  deps: RunDeps,
  signal: AbortSignal,
): Promise<PieceTranscript[]> {
  const { baseMs, perAudioSecondMs } = deps.pieceTimeout ?? PIECE_TIMEOUT;
  const unfinished = new AbortController();
  const pieceSignal = AbortSignal.any([signal, unfinished.signal]);
  const results = lookAhead(pieces, {
    // One more than there are slots: the next piece is ready when a slot falls free.
    ahead: engine.slots + 1,
    abort: () => unfinished.abort(),
    work: async ({ startSeconds, samples }) => {
      const seconds = samples.length / SAMPLE_RATE;
      const options = { language: job.language, timeoutMs: baseMs + perAudioSecondMs * seconds, signal: pieceSignal };
      const mayHoldSpeech = (await deps.detector?.mayHoldSpeech(samples, pieceSignal)) ?? true;
      const said = mayHoldSpeech
        ? await gate(() => engine.transcribe(samples, options), pieceSignal)
        : { segments: [], language: job.language };
      return { startSeconds, transcript: soundTranscript(said, seconds), endSeconds: startSeconds + seconds };
    },
  });
  const done: PieceTranscript[] = [];
  for await (const { endSeconds, ...piece } of results) {
    done.push(piece);
    if (piece.transcript.isCut) deps.onWarning?.({ code: 'text_cut', startSeconds: piece.startSeconds, endSeconds });
    deps.onPiece(piece, progress.transcribed(endSeconds));
  }
  return done;
}

function completed(job: ClaimedJob, engine: Engine, pieces: PieceTranscript[], samples: number): Outcome {
  const transcript = joinPieces(pieces);
  return {
    kind: 'completed',
    model: engine.name,
    language: transcript.language,
    transcript: textOf(transcript),
    segments: segmentsJson(transcript, job.wordTimes),
    // Never 0 for audio that has a sample, and never more than was decoded by a whole millisecond.
    durationMs: Math.ceil((samples * 1000) / SAMPLE_RATE),
  };
}

function failed(engine: Engine, type: Extract<Outcome, { kind: 'failed' }>['type'], message: string): Outcome {
  return { kind: 'failed', type, message, model: engine.name };
}

/** Passes the chunks on and knows how many samples went by. */
function countSamples(
  pcm: AsyncIterable<Pcm>,
  progress: Progress,
): { chunks: AsyncIterable<Pcm>; samples: () => number } {
  let samples = 0;
  async function* counted() {
    for await (const chunk of pcm) {
      samples += chunk.length;
      progress.decoded(samples / SAMPLE_RATE);
      yield chunk;
    }
    progress.decodedAll();
  }
  return { chunks: counted(), samples: () => samples };
}

function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
