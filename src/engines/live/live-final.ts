import { heardShare } from '../../rules/transcript/heard-words.ts';
import type { Transcript } from '../engine.ts';
import type { Heard } from '../evidence/heard.ts';
import type { LiveFinal } from './live-engine.ts';

/** A final text with fewer of the words that were shown as stable has lost a part of the speech. */
const KEPT_MIN_SHARE = 0.5;

/** A transcript of a segment as its final text. */
export function finalOf({ segments, language }: Transcript): LiveFinal {
  const known = segments.map(({ confidence }) => confidence).filter((confidence) => confidence !== null);
  return {
    text: segments
      .map(({ text }) => text.trim())
      .filter((text) => text !== '')
      .join(' '),
    words: segments.flatMap(({ words }) => words),
    confidence: known.length > 0 ? Math.min(...known) : null,
    language,
  };
}

/**
 * The final text of a segment that was compared with its speech. Where stable text vanished, it is untranscribed.
 * @param stableText  what was shown as stable
 */
export function judgedFinal(
  { transcript, untranscribed, repetitions }: Heard,
  { stableText, seconds }: { stableText: string; seconds: number },
): LiveFinal {
  const final = finalOf(transcript);
  const isKept = heardShare(stableText, final.text) >= KEPT_MIN_SHARE || untranscribed.length > 0;
  const whole = { startSeconds: 0, endSeconds: seconds };
  return { ...final, untranscribed: isKept ? untranscribed : [whole], repetitions };
}
