type Word = { text: string; startSeconds: number; endSeconds: number; confidence: number | null; estimated?: true };
type TimedText = { text: string; startSeconds: number; endSeconds: number };
/**
 * Of one segment: its words' texts, null where they are its text split at spaces; three numbers for each word; and the
 * numbers of those with estimated times, where there are some.
 */
type Packed = [
  texts: string[] | null,
  gapsMs: number[],
  durationsMs: number[],
  confidences: (number | null)[] | null,
  estimated?: number[],
];

/**
 * The words of segments as compact JSON text, to be stored beside the segments: 104 kB for an hour of speech, 41 kB in
 * the database, where the segments with their words take 204 kB. Null when the engine gives no words. Each time is the
 * distance, in ms, from the time before: the segment's start, the start and end of each word. Confidences are in
 * thousandths, null where all are unknown.
 */
export function packWords(segments: readonly (TimedText & { words: readonly Word[] })[]): string | null {
  if (segments.every(({ words }) => words.length === 0)) return null;
  return JSON.stringify(segments.map(packSegment));
}

function packSegment({ text, startSeconds, words }: TimedText & { words: readonly Word[] }): Packed {
  const texts = words.map((word) => word.text);
  const isText = words.length > 0 && texts.join(' ') === text && !texts.some((one) => one.includes(' '));
  const starts = words.map((word) => toMs(word.startSeconds));
  const ends = words.map((word) => toMs(word.endSeconds));
  const confidences = words.map(({ confidence }) => confidence && Math.round(confidence * 1000));
  const estimated = words.flatMap((word, at) => (word.estimated ? [at] : []));
  const packed: Packed = [
    isText ? null : texts,
    starts.map((start, i) => start - (i === 0 ? toMs(startSeconds) : ends[i - 1]!)),
    ends.map((end, i) => end - starts[i]!),
    confidences.every((confidence) => confidence === null) ? null : confidences,
  ];
  return estimated.length > 0 ? [packed[0], packed[1], packed[2], packed[3], estimated] : packed;
}

/**
 * The words of each segment, from the text that `packWords` made.
 * @param segments  the same segments, whose times may be rounded to ms. One whose text was edited has its new words
 *                  while their number is the same, else none.
 */
export function unpackWords(segments: readonly TimedText[], packed: string): Word[][] {
  const all = JSON.parse(packed) as Packed[];
  return segments.map(({ text, startSeconds }, i) => {
    const [texts, gapsMs, durationsMs, confidences, estimated = []] = all[i] ?? [[], [], [], null];
    const words = texts ?? text.split(' ');
    if (words.length !== gapsMs.length) return [];
    let ms = toMs(startSeconds);
    return words.map((word, at) => {
      const start = ms + gapsMs[at]!;
      ms = start + durationsMs[at]!;
      const thousandths = confidences?.[at] ?? null;
      return {
        text: word,
        startSeconds: start / 1000,
        endSeconds: ms / 1000,
        confidence: thousandths === null ? null : thousandths / 1000,
        ...(estimated.includes(at) && { estimated: true as const }),
      };
    });
  });
}

function toMs(seconds: number): number {
  return Math.round(seconds * 1000);
}
