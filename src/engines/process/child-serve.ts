import fs from 'node:fs';
import { flushCompileCache } from 'node:module';
import type { Writable } from 'node:stream';
import type { Pcm, Transcript } from '../engine.ts';
import { encodeFrame, readFrames } from './child-frames.ts';

/** What the process is asked for one piece. */
export type PieceRequest = { language: string | null };
/** What it answers: once when it is ready, then once per piece. */
export type ChildAnswer =
  | { kind: 'ready' }
  | { kind: 'done'; transcript: Transcript }
  | { kind: 'failed'; reason: string };

export type TranscribePiece = (piece: Pcm, request: PieceRequest) => Promise<Transcript>;

/** Answers go out on a descriptor of their own: native libraries write to standard output as they like. */
const ANSWERS_FD = 3;

/**
 * The life of an engine's process: load, say so, then transcribe piece after piece until the parent goes away.
 * @param load  makes the engine from the settings that the parent gave
 */
export async function serveParent<Settings>(load: (settings: Settings) => Promise<TranscribePiece>): Promise<void> {
  const answers = fs.createWriteStream('', { fd: ANSWERS_FD });
  // With the parent gone nobody reads the answers.
  answers.on('error', endGroup);
  const transcribe = await load(JSON.parse(process.argv[2]!) as Settings).catch((error: unknown) => {
    return answer(answers, failed(error)).then(() => process.exit(1));
  });
  await answer(answers, { kind: 'ready' });
  // Kept now for the next start: this process is killed in the end, and Node would keep it at an exit only.
  flushCompileCache();
  for await (const { header, body } of readFrames(process.stdin)) {
    const reply = await transcribe(asPcm(body), header as PieceRequest).then(
      (transcript): ChildAnswer => ({ kind: 'done', transcript }),
      failed,
    );
    await answer(answers, reply);
  }
}

/** Ends this process and what it started, at once, when the parent's end of standard input closes: even in the middle of a piece. */
export function endWithParent(): void {
  process.stdin.once('end', endGroup).once('close', endGroup);
}

function endGroup(): void {
  // Not exit: that would wait for native threads that are still at work.
  process.kill(-process.pid, 'SIGKILL');
}

function failed(error: unknown): ChildAnswer {
  return { kind: 'failed', reason: error instanceof Error ? error.message : String(error) };
}

function answer(answers: Writable, reply: ChildAnswer): Promise<void> {
  return new Promise((resolve) => {
    answers.write(encodeFrame(reply), () => resolve());
  });
}

/** The bytes may begin at an odd address, where no Int16Array can. */
function asPcm(body: Buffer): Pcm {
  const pcm = new Int16Array(body.length / 2);
  body.copy(Buffer.from(pcm.buffer));
  return pcm;
}
