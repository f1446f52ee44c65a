import { type Pcm, SAMPLE_RATE } from '../engines/engine.ts';
import { quietestPlace } from '../engines/evidence/quietest-place.ts';
import { joinPcm } from '../engines/join-pcm.ts';
import { type Interval, shiftBy } from '../rules/transcript/intervals.ts';

/** A part of the audio of at most 30 s; `isWhole` when it is the only piece. */
export type Piece = { startSeconds: number; samples: Pcm; isWhole: boolean };

/** The limit of the engines (attention is quadratic in length). */
export const PIECE_MAX_SECONDS = 30;
/** Of the longest piece: earlier cuts would only give more pieces. */
const CUT_FROM_SHARE = 2 / 3;
/** Audio before the range of cuts from which a voice detector starts up. */
const LEAD_IN = SAMPLE_RATE / 2;

/** The intervals with speech in some seconds of audio; null when detection failed. */
export type FindSpeech = (audio: Pcm) => Promise<Interval[] | null>;

/**
 * Consecutive pieces of the audio. All but the last are 20 to 30 s long and end in the middle of the quietest window of
 * 200 ms in that range, where windows with detected speech count as louder. Audio of up to 30 s stays whole.
 * `maxSeconds` is for engines with a lower limit: cuts are in the last third of it.
 * Source: docs/decisions/0006-cutting-long-audio.md
 */
export async function* cutPieces(
  pcm: AsyncIterable<Pcm>,
  findSpeech: FindSpeech = async () => null,
  maxSeconds = PIECE_MAX_SECONDS,
): AsyncGenerator<Piece> {
  const pieceMax = Math.round(maxSeconds * SAMPLE_RATE);
  let start = 0;
  let parts: Pcm[] = [];
  let heldSamples = 0;
  for await (const chunk of pcm) {
    parts.push(chunk);
    heldSamples += chunk.length;
    // More samples than the longest piece show that this is not the last one.
    while (heldSamples > pieceMax) {
      const held = joinPcm(parts);
      const range = { from: Math.round(pieceMax * CUT_FROM_SHARE), to: pieceMax };
      const leadIn = Math.max(0, range.from - LEAD_IN);
      const speech = (await findSpeech(held.slice(leadIn, pieceMax))) ?? [];
      const end = quietestPlace(held, range, shiftBy(leadIn / SAMPLE_RATE, speech));
      yield { startSeconds: start / SAMPLE_RATE, samples: held.slice(0, end), isWhole: false };
      start += end;
      parts = [held.subarray(end)];
      heldSamples -= end;
    }
  }
  if (heldSamples > 0) yield { startSeconds: start / SAMPLE_RATE, samples: joinPcm(parts), isWhole: start === 0 };
}

/** The position in the audio after a piece's last sample. */
export function endSample({ startSeconds, samples }: Piece): number {
  return Math.round(startSeconds * SAMPLE_RATE) + samples.length;
}
