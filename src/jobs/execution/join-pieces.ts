import type { ChannelPiece } from '../../audio/cut-channels.ts';
import { type Heard, placeHeard, textOf } from '../../engines/evidence/heard.ts';
import { type JoinSides, joinMarks } from '../../engines/evidence/join-marks.ts';
import { joinOverlap } from '../../engines/evidence/join-overlaps.ts';
import { mayChangeAtCut } from '../../rules/text/cut-marks.ts';

/** What came of a piece, before replacements: JSON. */
export type PieceResult = Omit<ChannelPiece, 'samples' | 'speech'> & { end: number; heard: Heard };

/**
 * The results without the words that two pieces have in common, whose audio overlaps, and without marks and capitals
 * that only a cut has made. A result is passed on when that of the next piece of its channel is known, where that may
 * change it.
 * @param textLanguage  where the text is a translation
 */
export async function* joinPieces(
  results: AsyncIterable<PieceResult>,
  textLanguage: string | null = null,
): AsyncGenerator<PieceResult> {
  const last = new Map<number, { result: PieceResult; isPassedOn: boolean }>();
  for await (const result of results) {
    const before = last.get(result.channel);
    const [joined, next] = before
      ? joinNeighbours(before.result, result, { textLanguage, isEndCut: !before.isPassedOn })
      : [null, result];
    if (joined !== null && !before!.isPassedOn) yield joined;
    const isPassedOn = next.isWhole || (next.cutSeconds === null && !mayChangeAtCut(textOf(next.heard.transcript)));
    if (isPassedOn) yield next;
    last.set(next.channel, { result: next, isPassedOn });
  }
  for (const { result, isPassedOn } of last.values()) if (!isPassedOn) yield result;
}

function joinNeighbours(before: PieceResult, after: PieceResult, sides: JoinSides): [PieceResult, PieceResult] {
  const [first, second] = [placeHeard(before.startSeconds, before.heard), placeHeard(after.startSeconds, after.heard)];
  const [left, right] =
    before.cutSeconds === null ? joinMarks(first, second, sides) : joinOverlap(first, second, before.cutSeconds, sides);
  return [
    { ...before, heard: placeHeard(-before.startSeconds, left) },
    { ...after, heard: placeHeard(-after.startSeconds, right) },
  ];
}
