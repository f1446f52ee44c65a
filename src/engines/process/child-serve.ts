import fs from 'node:fs';
import type { Pcm, TranscribeOptions, Transcript } from '../engine.ts';
import { encodeFrame, readFrames } from './child-frames.ts';

/** The header of a request; its body is the piece. */
export type PieceRequest = Pick<TranscribeOptions, 'language' | 'translateTo'>;
/** The answers of the process: one when it is ready, then one per piece. */
export type ChildAnswer =
  | { kind: 'ready' }
  | { kind: 'done'; transcript: Transcript }
  | { kind: 'failed'; reason: string };

export type TranscribePiece = (piece: Pcm, request: PieceRequest) => Promise<Transcript>;

/** Answers have a descriptor of their own, because native libraries write to standard output. */
const ANSWERS_FD = 3;

/** A function that sends an answer to the parent. This process ends when the parent has ended. */
export function openAnswers<Answer = ChildAnswer>(): (answer: Answer) => Promise<void> {
  const answers = fs.createWriteStream('', { fd: ANSWERS_FD });
  // Fails once the parent has ended.
  answers.on('error', endGroup);
  return (answer) => new Promise((resolve) => answers.write(encodeFrame(answer), () => resolve()));
}

/**
 * Runs an engine's process: loads the engine, reports that it is ready, then transcribes one piece after the other
 * until the parent ends.
 * @param load  makes the engine from the parent's settings
 */
export async function serveParent<Settings>(load: (settings: Settings) => Promise<TranscribePiece>): Promise<void> {
  const answer = openAnswers();
  const transcribe = await load(JSON.parse(process.argv[2]!) as Settings).catch((error: unknown) => {
    return answer(failed(error)).then(() => process.exit(1));
  });
  await answer({ kind: 'ready' });
  for await (const { header, body } of readFrames(process.stdin)) {
    const reply = await transcribe(asPcm(body), header as PieceRequest).then(
      (transcript): ChildAnswer => ({ kind: 'done', transcript }),
      failed,
    );
    await answer(reply);
  }
}

/** Ends this process and its children at once, even during a piece, when the parent closes standard input or ends. */
export function endWithParent(): void {
  process.stdin.once('end', endGroup).once('close', endGroup);
}

function endGroup(): void {
  // `process.exit` would wait for native threads that are still running.
  process.kill(-process.pid, 'SIGKILL');
}

function failed(error: unknown): ChildAnswer {
  return { kind: 'failed', reason: error instanceof Error ? error.message : String(error) };
}

/** The samples of a request. A copy: an Int16Array cannot begin at an odd address, where the bytes may begin. */
export function asPcm(body: Buffer): Pcm {
  const pcm = new Int16Array(body.length / 2);
  body.copy(Buffer.from(pcm.buffer));
  return pcm;
}
