import type { ChannelPiece } from '../../audio/cut-channels.ts';
import { type Heard, placeHeard } from '../../engines/evidence/heard.ts';
import { joinOverlap } from '../../engines/evidence/join-overlaps.ts';

/** What came of a piece, before replacements: JSON. */
export type PieceResult = Omit<ChannelPiece, 'samples' | 'speech'> & { end: number; heard: Heard };

/**
 * The results without the words that two pieces have in common, whose audio overlaps. Such a result is passed on when
 * that of the next piece of its channel is known.
 */
export async function* joinPieces(results: AsyncIterable<PieceResult>): AsyncGenerator<PieceResult> {
  const held = new Map<number, PieceResult>();
  for await (const result of results) {
    const before = held.get(result.channel);
    held.delete(result.channel);
    const [joined, next] = before ? joinNeighbours(before, result) : [null, result];
    if (joined !== null) yield joined;
    if (next.cutSeconds === null) yield next;
    else held.set(next.channel, next);
  }
  yield* held.values();
}

function joinNeighbours(before: PieceResult, after: PieceResult): [PieceResult, PieceResult] {
  const [left, right] = joinOverlap(
    placeHeard(before.startSeconds, before.heard),
    placeHeard(after.startSeconds, after.heard),
    before.cutSeconds!,
  );
  return [
    { ...before, heard: placeHeard(-before.startSeconds, left) },
    { ...after, heard: placeHeard(-after.startSeconds, right) },
  ];
}
