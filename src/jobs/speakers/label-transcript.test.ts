import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Random, randomFrom } from '../../../test/fixtures/random.ts';
import type { Segment, Word } from '../../engines/engine.ts';
import type { Turn } from '../../rules/speakers/turn.ts';
import { labelTranscript } from './label-transcript.ts';

function wordsOf(text: string, startSeconds: number): Word[] {
  return text.split(' ').map((word, at) => ({
    text: word,
    startSeconds: startSeconds + at * 0.5,
    endSeconds: startSeconds + at * 0.5 + 0.4,
    confidence: at % 2 === 0 ? 0.9 : 0.5,
  }));
}

function segmentOf(text: string, words: Word[], lengthSeconds = 0): Segment {
  const startSeconds = words[0]?.startSeconds ?? 0;
  return { text, startSeconds, endSeconds: words.at(-1)?.endSeconds ?? lengthSeconds, confidence: 0.7, words };
}

function turn(voice: number, startSeconds: number, endSeconds: number): Turn {
  return { startSeconds, endSeconds, voice };
}

function label(segments: Segment[], turns: Turn[], prefix?: string) {
  const { transcript, speakers } = labelTranscript({ segments, language: 'en' }, turns, prefix);
  return { segments: transcript.segments, speakers };
}

const shown = ({ text, speaker, startSeconds, endSeconds }: Segment) => [speaker, text, startSeconds, endSeconds];

test('a segment is divided where the speaker changes; texts, times and confidences are those of its words', () => {
  const given = segmentOf('How are you? "Fine, thanks." Good', wordsOf('How are you Fine thanks Good', 10));

  const { segments, speakers } = label([given], [turn(7, 10, 11.5), turn(3, 11.5, 12.45), turn(7, 12.45, 14)]);

  assert.deepEqual(segments.map(shown), [
    ['A', 'How are you?', 10, 11.4],
    ['B', '"Fine, thanks."', 11.5, 12.4],
    ['A', 'Good', 12.5, 12.9],
  ]);
  assert.deepEqual(
    segments.map(({ confidence }) => confidence),
    [0.767, 0.7, 0.5],
  );
  assert.deepEqual(
    segments.map(({ words }) => words.map(({ speaker }) => speaker).join('')),
    ['AAA', 'BB', 'A'],
  );
  assert.deepEqual(speakers, [
    { id: 'A', seconds: 3.05 },
    { id: 'B', seconds: 0.95 },
  ]);
});

test('text of a script without spaces is divided at its words', () => {
  const words = ['你好', '吗', '我', '很好'].map((text, at) => ({ ...wordsOf('a b c d', 0)[at]!, text }));

  const { segments } = label([segmentOf('你好吗？我很好。', words)], [turn(0, 0, 0.95), turn(1, 0.95, 2)]);

  assert.deepEqual(
    segments.map(({ text, speaker }) => [text, speaker]),
    [
      ['你好吗？', 'A'],
      ['我很好。', 'B'],
    ],
  );
});

test('a segment whose words are not in its text stays whole, with the speaker of most of it', () => {
  const { segments } = label(
    [segmentOf('12 apples for you', wordsOf('twelve apples for you', 0))],
    [turn(0, 0, 0.5), turn(1, 0.5, 3)],
  );

  assert.deepEqual(segments.map(shown), [['A', '12 apples for you', 0, 1.9]]);
  assert.ok(segments[0]!.words.every(({ speaker }) => speaker === 'A'));
});

test('segments of engines without words have a speaker each; voices without words have no name', () => {
  const parts = [segmentOf('one', [], 2), { ...segmentOf('two', [], 9), startSeconds: 4 }];

  const { segments, speakers } = label(parts, [turn(2, 0, 2), turn(1, 2.2, 2.9), turn(0, 4, 9)], '1');

  assert.deepEqual(
    segments.map(({ speaker }) => speaker),
    ['1A', '1B'],
  );
  assert.deepEqual(speakers, [
    { id: '1A', seconds: 2 },
    { id: '1B', seconds: 5 },
  ]);
});

test('without turns nobody is named', () => {
  const { segments, speakers } = label([segmentOf('well then', wordsOf('well then', 0))], []);

  assert.deepEqual([segments[0]!.speaker, segments[0]!.words[0]!.speaker, speakers], [null, null, []]);
});

function randomTranscript(random: Random): Segment[] {
  let at = 0;
  return Array.from({ length: 1 + random.integer(6) }, () => {
    const count = random.integer(12);
    const words = Array.from({ length: count }, (): Word => {
      const startSeconds = at + random.next() * random.pick([0, 0, 0.5, 3]);
      at = startSeconds + random.next();
      return { text: random.pick(['so', 'yes', "it's", 'well']), startSeconds, endSeconds: at, confidence: 0.5 };
    });
    const text = words.map((word) => word.text + random.pick(['', ',', '.', '?'])).join(' ');
    return segmentOf(text, words, at);
  });
}

test('labelled transcripts have the same words in the same order, and each segment has one speaker', () => {
  const random = randomFrom(16);
  for (let run = 0; run < 1_000; run++) {
    const given = randomTranscript(random);
    const turns = Array.from({ length: 1 + random.integer(9) }, () => {
      const startSeconds = random.next() * 20;
      return turn(random.integer(4), startSeconds, startSeconds + 0.1 + random.next() * 6);
    }).sort((one, other) => one.startSeconds - other.startSeconds);

    const { segments, speakers } = label(given, turns);

    const bare = (all: Segment[]) => all.flatMap(({ words }) => words.map(({ speaker: _, ...word }) => word));
    assert.deepEqual(bare(segments), bare(given));
    const textOf = (all: Segment[]) =>
      all
        .map(({ text }) => text)
        .filter((text) => text !== '')
        .join(' ');
    assert.equal(textOf(segments), textOf(given));
    for (const { speaker, words, startSeconds, endSeconds } of segments) {
      assert.ok(typeof speaker === 'string' && startSeconds <= endSeconds);
      assert.ok(words.every((word) => word.speaker === speaker));
    }
    const inOrder = [...new Set(segments.map(({ speaker }) => speaker))];
    assert.deepEqual(
      inOrder,
      speakers.map(({ id }) => id),
    );
    assert.deepEqual(inOrder, ['A', 'B', 'C', 'D'].slice(0, inOrder.length));
  }
});
