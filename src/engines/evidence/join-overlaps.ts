import { joinOverlapping } from '../../rules/transcript/overlap.ts';
import { findDoubled } from '../../rules/words/doubled-words.ts';
import type { Segment, Word } from '../engine.ts';
import { keepWords } from '../segments.ts';
import type { Heard } from './heard.ts';
import { type JoinSides, joinMarks } from './join-marks.ts';

/**
 * Two neighbours whose audio overlaps, without the words that both have: a word is left out only where the other has
 * it, or another word at its time. The text of the others is cut out of the engine's own text. Text without words is
 * compared. Marks and capitals that only the cut has made are left out.
 * @param cutSeconds  the middle of the overlap
 */
export function joinOverlap(before: Heard, after: Heard, cutSeconds: number, sides: JoinSides = {}): [Heard, Heard] {
  const [last, first] = [before.transcript.segments.at(-1), after.transcript.segments[0]];
  if (!last || !first) return [before, after];
  if (last.words.length > 0 && first.words.length > 0) {
    const dropped = findDoubled({ before: wordsOf(before), after: wordsOf(after) }, cutSeconds);
    return joinMarks(withoutWords(before, dropped), withoutWords(after, dropped), {
      ...sides,
      isEndCut: sides.isEndCut !== false && !dropped.has(wordsOf(before).at(-1)!),
      isStartCut: sides.isStartCut !== false && !dropped.has(wordsOf(after)[0]!),
    });
  }
  const joined = joinOverlapping({ before: last.text, after: first.text });
  const neighbours: [Heard, Heard] = [
    withSegments(before, [...before.transcript.segments.slice(0, -1), { ...last, text: joined.before }]),
    withSegments(after, [{ ...first, text: joined.after }, ...after.transcript.segments.slice(1)]),
  ];
  // After common words the marks are those of the engine, which was given the audio on both sides of them.
  const haveCommonWords = joined.after !== first.text;
  return haveCommonWords ? neighbours : joinMarks(...neighbours, sides);
}

function wordsOf({ transcript }: Heard): Word[] {
  return transcript.segments.flatMap(({ words }) => words);
}

function withoutWords(heard: Heard, dropped: ReadonlySet<Word>): Heard {
  const segments = heard.transcript.segments.map((segment) => keepWords(segment, (word) => !dropped.has(word)));
  return withSegments(
    heard,
    segments.filter((segment) => segment !== null),
  );
}

function withSegments(heard: Heard, segments: Segment[]): Heard {
  const filled = segments.filter(({ text }) => text !== '');
  return { ...heard, transcript: { ...heard.transcript, segments: filled } };
}
