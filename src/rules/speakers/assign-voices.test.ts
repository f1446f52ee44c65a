import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Random, randomFrom } from '../../../test/fixtures/random.ts';
import { assignVoices, type Spoken } from './assign-voices.ts';
import type { Turn } from './turn.ts';

const [A, B, C] = [0, 1, 2];

function word(text: string, startSeconds: number, endSeconds: number): Spoken {
  return { text, startSeconds, endSeconds };
}

/** Words that follow each other every 0.3 s from a time on. */
function flow(text: string, startSeconds = 0): Spoken[] {
  return text.split(' ').map((one, at) => word(one, startSeconds + at * 0.3, startSeconds + at * 0.3 + 0.28));
}

function turn(voice: number, startSeconds: number, endSeconds: number): Turn {
  return { startSeconds, endSeconds, voice };
}

for (const { title, words, turns, voices } of [
  {
    title: 'a word has the voice that speaks longest during it, over several turns',
    words: [word('long', 0, 1)],
    turns: [turn(A, 0, 0.3), turn(B, 0.2, 0.6), turn(A, 0.7, 1)],
    voices: [A],
  },
  {
    title: 'in a tie a word has the voice of the word before',
    words: [word('one', 0, 1), word('two', 1, 2)],
    turns: [turn(B, 0, 1), turn(A, 1, 2), turn(B, 1, 2)],
    voices: [B, B],
  },
  {
    title: 'a word that an engine draws out over a pause counts for its first second',
    words: [word('wait', 0, 5), word('yes', 5.5, 6)],
    turns: [turn(A, 0, 1), turn(B, 2, 6)],
    voices: [A, B],
  },
  {
    title: 'a word in no turn has the voice of the nearest edge, not of the longest turn',
    words: [word('so', 0, 0.5), word('there', 10.5, 10.7), word('we', 11, 11.5)],
    turns: [turn(A, 0, 10), turn(B, 10.8, 30)],
    voices: [A, B, B],
  },
  {
    title: 'a word far from all turns has the voice of the word before, and the first words that of the next',
    words: [word('one', 0, 0.5), word('two', 5, 5.5), word('three', 9, 9.5)],
    turns: [turn(A, 5, 5.5), turn(B, 20, 21)],
    voices: [A, A, A],
  },
  {
    title: 'a word without length has the voice of the turn around it',
    words: [word('uh', 3, 3)],
    turns: [turn(A, 0, 2), turn(B, 2, 4)],
    voices: [B],
  },
  {
    title: 'a single word between words of another voice is theirs',
    words: flow('how are you today'),
    turns: [turn(A, 0, 0.6), turn(B, 0.6, 0.9), turn(A, 0.9, 1.2)],
    voices: [A, A, A, A],
  },
  {
    title: 'a single word between pauses keeps its voice',
    words: [...flow('we can do that'), ...flow('yes', 1.6), ...flow('today then', 2.3)],
    turns: [turn(A, 0, 1.2), turn(B, 1.6, 1.9), turn(A, 2.3, 3)],
    voices: [A, A, A, A, B, A, A],
  },
  {
    title: 'a single word between ends of sentences keeps its voice',
    words: flow('we can. Yes. Good then'),
    turns: [turn(A, 0, 0.6), turn(B, 0.6, 0.9), turn(A, 0.9, 1.5)],
    voices: [A, A, B, A, A],
  },
  {
    title: 'a change of voice moves forward to the end of a sentence',
    words: flow('I like it. What about you'),
    turns: [turn(A, 0, 0.6), turn(B, 0.6, 2)],
    voices: [A, A, A, B, B, B],
  },
  {
    title: 'a change of voice moves back to the end of a sentence',
    words: flow('I like it. What about you'),
    turns: [turn(A, 0, 1.2), turn(B, 1.2, 2)],
    voices: [A, A, A, B, B, B],
  },
  {
    title: 'a change of voice moves to a pause',
    words: [...flow('that is all'), ...flow('thank you very much', 1.3)],
    turns: [turn(A, 0, 1.6), turn(B, 1.6, 3)],
    voices: [A, A, A, B, B, B, B],
  },
  {
    title: 'a change of voice stays where the end of the sentence is more than 0.3 s away',
    words: flow('one two three four five. Six seven'),
    turns: [turn(A, 0, 0.9), turn(B, 0.9, 3)],
    voices: [A, A, A, B, B, B, B],
  },
  {
    title: 'a change of voice stays where the end of the sentence is three words away, however short',
    words: [
      ...flow('one two'),
      word('a', 0.6, 0.65),
      word('b', 0.7, 0.75),
      word('c.', 0.8, 0.85),
      ...flow('Six seven', 0.9),
    ],
    turns: [turn(A, 0, 0.6), turn(B, 0.6, 3)],
    voices: [A, A, B, B, B, B, B],
  },
  {
    title: 'a whole segment has the voice that speaks longest during it, however long it is',
    words: [{ ...word('one two three', 0, 9), isSegment: true }],
    turns: [turn(A, 0, 2), turn(C, 2, 9)],
    voices: [C],
  },
]) {
  test(title, () => {
    assert.deepEqual(assignVoices(words, turns), voices);
  });
}

test('without turns no word has a voice', () => {
  assert.deepEqual(assignVoices(flow('who is there'), []), [null, null, null]);
});

function randomWords(random: Random): Spoken[] {
  let at = random.next() * 3;
  return Array.from({ length: random.integer(60) }, () => {
    const startSeconds = at;
    const endSeconds = startSeconds + random.next() * random.pick([0, 0.3, 0.3, 1, 4]);
    at = endSeconds + random.pick([0, 0, 0.1, 0.4, 3]) * random.next();
    return word(random.pick(['so', 'yes.', 'no?', 'well,']), startSeconds, endSeconds);
  });
}

function randomTurns(random: Random): Turn[] {
  const turns = Array.from({ length: random.integer(20) }, () => {
    const startSeconds = random.next() * 40;
    return turn(random.integer(4), startSeconds, startSeconds + random.next() * 8);
  });
  return turns.sort((one, other) => one.startSeconds - other.startSeconds);
}

test('every word has the voice of a turn; words far from others and from changes have the voice that speaks there', () => {
  const random = randomFrom(67);
  for (let run = 0; run < 2_000; run++) {
    const [words, turns] = [randomWords(random), randomTurns(random)];

    const voices = assignVoices(words, turns);

    assert.equal(voices.length, words.length);
    const known = new Set<number | null>(turns.length > 0 ? turns.map(({ voice }) => voice) : [null]);
    assert.ok(voices.every((voice) => known.has(voice)));
    assert.deepEqual(assignVoices(words, turns), voices);
    for (const [at, { startSeconds, endSeconds }] of words.entries()) {
      const within = turns.filter((one) => one.startSeconds < endSeconds && one.endSeconds > startSeconds);
      const only = within.length > 0 && within.every(({ voice }) => voice === within[0]!.voice) ? within[0] : null;
      const isAlone =
        startSeconds - (words[at - 1]?.endSeconds ?? -9) >= 0.3 &&
        (words[at + 1]?.startSeconds ?? 99) - endSeconds >= 0.3;
      if (only && isAlone && endSeconds - startSeconds <= 1)
        assert.equal(voices[at], only.voice, `run ${run}, word ${at}`);
    }
  }
});

test('the search of turns finds what a look at all of them finds', () => {
  const random = randomFrom(11);
  for (let run = 0; run < 500; run++) {
    const turns = randomTurns(random);
    const startSeconds = random.next() * 40;
    const spoken = { text: 'all', startSeconds, endSeconds: startSeconds + random.next() * 9, isSegment: true };
    const overlaps = [0, 1, 2, 3].map((voice) =>
      turns
        .filter((one) => one.voice === voice)
        .reduce((sum, one) => {
          const end = Math.min(one.endSeconds, spoken.endSeconds);
          return sum + Math.max(0, end - Math.max(one.startSeconds, spoken.startSeconds));
        }, 0),
    );
    const most = Math.max(...overlaps);

    const [voice] = assignVoices([spoken], turns);

    if (most > 1e-9) assert.ok(Math.abs(overlaps[voice!]! - most) < 1e-9, `run ${run}`);
  }
});
