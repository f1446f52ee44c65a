import assert from 'node:assert/strict';
import test from 'node:test';
import { type Random, randomFrom } from '../../../test/fixtures/random.ts';
import answers from '../../../test/fixtures/servers/speech-answers.json' with { type: 'json' };
import { lettersOf } from '../../rules/text/letter-places.ts';
import type { Segment, Transcript } from '../engine.ts';
import { sanitiseTranscript } from '../sanitised-transcript.ts';
import { readOpenaiAnswer } from './openai-answer.ts';

type Entry = Record<string, unknown>;
type Answer = Entry & { text: string; segments?: Entry[] | null; words?: Entry[] | null };

function read(answer: object, pieceSeconds: number): Transcript {
  const transcript = readOpenaiAnswer(JSON.stringify(answer), pieceSeconds);
  assert.ok(transcript);
  return sanitiseTranscript(transcript, pieceSeconds);
}

/** Ways in which the parts of an answer go wrong. */
const MUTATIONS: ((entries: Entry[], random: Random) => Entry[])[] = [
  (entries, random) => entries.filter(() => random.next() < 0.7),
  (entries, random) => entries.flatMap((entry) => (random.next() < 0.3 ? [entry, entry] : [entry])),
  (entries, random) =>
    entries
      .map((entry) => ({ entry, by: random.next() }))
      .sort((one, other) => one.by - other.by)
      .map(({ entry }) => entry),
  ...['start', 'end'].map(
    (key) => (entries: Entry[], random: Random) =>
      entries.map((entry) =>
        random.next() < 0.4
          ? { ...entry, [key]: random.pick([null, undefined, 'soon', '2.5', -1, 0, 3, 99, 2e9]) }
          : entry,
      ),
  ),
  (entries, random) => {
    const ends = entries.map(({ end }) => end);
    return entries.map((entry) => ({ ...entry, end: random.pick(ends) }));
  },
  (entries, random) =>
    entries.map(({ start, end, ...entry }) => (random.next() < 0.5 ? entry : { ...entry, start, end })),
  (entries, random) =>
    entries.map((entry) =>
      random.next() < 0.3
        ? withText(entry, (text) => text.slice(random.integer(4), -random.integer(5) || undefined))
        : entry,
    ),
  (entries, random) =>
    entries.map((entry) =>
      random.next() < 0.3 ? withText(entry, () => random.pick(['', ' ', '\ufffd', ' other', '...'])) : entry,
    ),
  (entries) => entries.map((entry) => withText(entry, (text) => text.trim().toUpperCase())),
];

function withText(entry: Entry, change: (text: string) => string): Entry {
  const key = 'word' in entry ? 'word' : 'text';
  return { ...entry, [key]: change(entry[key] as string) };
}

function mutate(answer: Answer, random: Random): Answer {
  const changed = structuredClone(answer);
  for (let count = 1 + random.integer(3); count > 0; count -= 1) {
    const mutation = random.pick(MUTATIONS);
    const target = random.integer(3);
    if (target === 0 && changed.segments) changed.segments = mutation(changed.segments, random);
    else if (target === 1 && changed.words) changed.words = mutation(changed.words, random);
    else
      changed.segments =
        changed.segments?.map((segment) =>
          Array.isArray(segment['words']) ? { ...segment, words: mutation(segment['words'], random) } : segment,
        ) ?? null;
  }
  return changed;
}

for (const { server, seconds, answer } of answers) {
  test(`no mutilation changes the letters of an answer: ${server}`, () => {
    for (let seed = 0; seed < 400; seed += 1) {
      const given = seed === 0 ? (answer as Answer) : mutate(answer as Answer, randomFrom(seed));
      const context = `seed ${seed}: ${JSON.stringify(given)}`;
      const { segments } = read(given, seconds);
      assert.equal(lettersOf(segments.map(({ text }) => text).join(' ')).key, lettersOf(given.text).key, context);
      assertOrder(segments, seconds, context);
      for (const segment of segments) {
        assertOrder(segment.words, seconds, context);
        assertWhole(segment, context);
      }
    }
  });
}

function assertOrder(
  parts: readonly { startSeconds: number; endSeconds: number }[],
  seconds: number,
  context: string,
): void {
  let last = 0;
  for (const { startSeconds, endSeconds } of parts) {
    assert.ok(last <= startSeconds && startSeconds <= endSeconds && endSeconds <= seconds, context);
    last = startSeconds;
  }
}

/** Where a segment has words, these are its text, each between two borders of words. */
function assertWhole({ text, words }: Segment, context: string): void {
  if (words.length === 0) return;
  assert.equal(lettersOf(words.map((word) => word.text).join('')).key, lettersOf(text).key, context);
  let position = 0;
  for (const word of words) {
    const at = text.indexOf(word.text, position);
    assert.notEqual(at, -1, context);
    position = at + word.text.length;
    if (/[\p{Script=Han}]/u.test(text)) continue;
    assert.match(text.slice(0, at), /(^|[^\p{L}\p{N}])$/u, context);
    assert.match(text.slice(position), /^([^\p{L}\p{N}]|$)/u, context);
  }
}
