import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { randomFrom } from '../../../test/fixtures/random.ts';
import { NO_SPACES } from '../../rules/text/scripts.ts';
import { textOfWords } from '../../rules/text/word-places.ts';
import { joinWholeWords } from '../../rules/words/whole-words.ts';
import type { Word } from '../engine.ts';
import { sanitiseTranscript } from '../sanitised-transcript.ts';
import { type Heard, textOf } from './heard.ts';
import { joinOverlap } from './join-overlaps.ts';

const ANSWERS = JSON.parse(
  readFileSync(new URL('../../../test/fixtures/whisper-words.json', import.meta.url), 'utf8'),
) as { language: string; text: string; words: string[] }[];
const LENGTH_SECONDS = 60;

const timed = (texts: readonly string[], everySeconds = 0.15): Word[] =>
  texts.map((text, at) => ({
    text,
    startSeconds: at * everySeconds,
    endSeconds: (at + 0.8) * everySeconds,
    confidence: null,
  }));

/** Of one segment, as an engine gives it. */
function heard(text: string, words: Word[]): Heard {
  const [startSeconds, endSeconds] = [words[0]?.startSeconds ?? 0, words.at(-1)?.endSeconds ?? 0];
  const segment = { text: text.trim(), startSeconds, endSeconds, confidence: 0.5, noSpeechShare: 0.1, words };
  const transcript = sanitiseTranscript({ language: null, segments: [segment] }, LENGTH_SECONDS);
  const segments = transcript.segments.map((one) => ({ ...one, noSpeechShare: 0.1 }));
  return { transcript: { ...transcript, segments }, untranscribed: [], repetitions: [] };
}

function joinedText(before: Heard, after: Heard, cutSeconds: number): string {
  const joined = joinOverlap(before, after, cutSeconds);
  return joined
    .map(({ transcript }) => textOf(transcript))
    .filter((text) => text !== '')
    .join(' ');
}

for (const { language, text, words: texts } of ANSWERS) {
  test(`pieces of Whisper that overlap at any place have the engine's text (seed 31): ${language}`, () => {
    const random = randomFrom(31);
    // Whisper has a word of Burmese in many parts: it has to be shorter than the overlap.
    const words = timed(texts, language === 'my' ? 0.08 : 0.15);
    const whole = joinWholeWords(text, words);
    for (let run = 0; run < 100; run += 1) {
      const cutSeconds = random.next() * words.at(-1)!.endSeconds;
      const [until, from] = [cutSeconds + 0.5, cutSeconds - 0.5];
      // Each piece has the words that are whole in it, in the parts that Whisper gives.
      const pieceOf = (isIn: (word: Word) => boolean) => {
        const isPartIn = ({ startSeconds }: Word) => isIn(whole.findLast((word) => word.startSeconds <= startSeconds)!);
        const own = textOfWords(text, words, (at) => isPartIn(words[at]!));
        return heard(own, words.filter(isPartIn));
      };
      const isBefore = ({ endSeconds }: Word) => endSeconds <= until;
      const isAfter = ({ startSeconds }: Word) => startSeconds >= from;

      const joined = joinedText(pieceOf(isBefore), pieceOf(isAfter), cutSeconds);

      // Between the pieces is a space, in writing without spaces too.
      const shown = (one: string) => (NO_SPACES.test(text) ? one.replace(/\s/g, '') : one.trim());
      assert.equal(shown(joined), shown(text), `cut at ${cutSeconds}`);
    }
  });
}

const said = (text: string, times: [start: number, end: number][]) =>
  heard(
    text,
    text.split(' ').map((word, at) => {
      const [startSeconds, endSeconds] = times[at]!;
      return { text: word, startSeconds, endSeconds, confidence: null };
    }),
  );

test('a piece that loses words keeps its segment, the signs of its text and the share without speech', () => {
  const words = timed([' It', ' costs', ' $1', ',234', '.50', ' today', '.'], 1);
  const [before] = joinOverlap(
    heard(' It costs $1,234.50 today.', words),
    said('today is', [
      [5, 5.8],
      [6, 6.2],
    ]),
    4.9,
  );

  const [segment, ...others] = before.transcript.segments;
  assert.deepEqual([segment?.text, segment?.noSpeechShare, others], ['It costs $1,234.50', 0.1, []]);
  assert.equal(segment?.endSeconds, 4.8);
});

test('words with times behind the cut stay where the next piece does not have them', () => {
  const last = 'he had paced up and down the room'.split(' ');
  const before = said(`For an hour ${last.join(' ')}`, [
    [0, 0.3],
    [0.3, 0.6],
    [0.6, 1],
    ...last.map((): [number, number] => [20.4, 20.4]),
  ]);
  const after = said('the room and waited', [
    [19.6, 19.8],
    [19.8, 20.1],
    [20.2, 20.4],
    [20.4, 21],
  ]);

  assert.equal(joinedText(before, after, 20), 'For an hour he had paced up and down the room and waited');
});

test('a word that was understood differently on both sides of the cut is in one of them', () => {
  const before = said('what your country can dome', [
    [8, 8.3],
    [8.3, 8.6],
    [8.6, 9.2],
    [9.2, 9.6],
    [9.7, 10.4],
  ]);
  const after = said('Haunt try can do for you', [
    [8.8, 9],
    [9, 9.2],
    [9.2, 9.6],
    [9.7, 10.2],
    [10.2, 10.4],
    [10.4, 11],
  ]);

  assert.equal(joinedText(before, after, 9.65), 'what your country can do for you');
});

test('of two words that overlap at the cut, one is kept', () => {
  const before = said('one two thr', [
    [8, 8.4],
    [8.5, 9],
    [9.8, 10.4],
  ]);
  const after = said('wee four', [
    [9.6, 10.2],
    [10.5, 11],
  ]);

  assert.equal(joinedText(before, after, 10), 'one two thr four');
});

test('a word that is said twice at the cut stays twice', () => {
  const before = said('oh no no', [
    [9, 9.3],
    [9.4, 9.7],
    [10.2, 10.45],
  ]);
  const after = said('no no matter', [
    [9.6, 9.7],
    [10.2, 10.5],
    [10.6, 11],
  ]);

  assert.equal(joinedText(before, after, 10), 'oh no no matter');
});
