import { isCopyOf } from '../transcript/repetitions.ts';
import { judgeAmount, MOST_LETTERS_PER_SECOND, spokenLetters } from '../transcript/text-amount.ts';

/** A segment of an engine; `isSilent` where it has no speech, and no sound is louder than the background. */
export type Judged = {
  text: string;
  startSeconds: number;
  endSeconds: number;
  noSpeechShare?: number;
  isSilent: boolean;
};

/** The times of a word or two may be wrong by so much. */
const SHORTEST_SECONDS = 0.5;
/** The share of a segment without speech from which it is doubted. */
const DOUBTFUL_SHARE = 0.5;

/**
 * For each segment, whether the model invented it, as models do at the end of a piece: nobody says so much in its time,
 * or there is no sound in it, or it is a copy of text of the same piece in a time with little speech or too short for
 * it. Where the rest would be too little text for the speech, none is: the times are wrong.
 */
export function findInvented(segments: readonly Judged[], speechSeconds: number): boolean[] {
  const found = segments.map((segment, at) => {
    const others = segments.filter((_, other) => other !== at).map(({ text }) => text);
    return isInvented(segment, others.join(' '));
  });
  if (!found.includes(true)) return found;
  const rest = segments.filter((_, at) => !found[at]).map(({ text }) => text);
  const amount = judgeAmount(rest.join(' '), { speechSeconds, audioSeconds: Number.POSITIVE_INFINITY });
  return amount === 'enough' ? found : segments.map(() => false);
}

function isInvented({ text, startSeconds, endSeconds, noSpeechShare = 0, isSilent }: Judged, others: string): boolean {
  const letters = spokenLetters(text);
  const seconds = endSeconds - startSeconds;
  if (isSilent || letters > MOST_LETTERS_PER_SECOND * Math.max(seconds, SHORTEST_SECONDS)) return true;
  const isDoubtful = noSpeechShare > DOUBTFUL_SHARE || letters > MOST_LETTERS_PER_SECOND * seconds;
  return isDoubtful && isCopyOf(text, others);
}
