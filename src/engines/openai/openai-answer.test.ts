import assert from 'node:assert/strict';
import test from 'node:test';
import answers from '../../../test/fixtures/servers/speech-answers.json' with { type: 'json' };
import type { Segment, Transcript } from '../engine.ts';
import { sanitiseTranscript } from '../sanitised-transcript.ts';
import { readOpenaiAnswer } from './openai-answer.ts';

type Entry = Record<string, unknown>;

const PIECE_SECONDS = 12;

function read(answer: object, pieceSeconds = PIECE_SECONDS): Transcript {
  const transcript = readOpenaiAnswer(JSON.stringify(answer), pieceSeconds);
  assert.ok(transcript);
  return sanitiseTranscript(transcript, pieceSeconds);
}

const timesOf = ({ segments }: Transcript) =>
  segments.map(({ text, startSeconds, endSeconds }) => [text, startSeconds, endSeconds]);
const wordsOf = ({ segments }: Transcript) => segments.map(({ words }) => words.map(({ text }) => text));

const THREE = [
  { start: 0, end: 3, text: ' First part here.' },
  { start: 3, end: 6, text: ' Second part there.' },
  { start: 6, end: 8, text: ' Third one.' },
];
const TEXT = 'First part here. Second part there. Third one.';

/** What is wrong with the second of three segments, and the times and texts that the segments then have. */
const BROKEN: [what: string, segments: Entry[], expected: unknown[]][] = [
  ...[null, undefined, Number.NaN, 'later', 2].map((end): [string, Entry[], unknown[]] => [
    `an end ${end}`,
    [THREE[0]!, { ...THREE[1]!, end }, THREE[2]!],
    [
      ['First part here.', 0, 3],
      ['Second part there.', 3, 6],
      ['Third one.', 6, 8],
    ],
  ]),
  [
    'no start',
    [THREE[0]!, { text: ' Second part there.', end: 5 }, THREE[2]!],
    [
      ['First part here.', 0, 3],
      ['Second part there.', 3, 5],
      ['Third one.', 6, 8],
    ],
  ],
  [
    'times as strings',
    [THREE[0]!, { ...THREE[1]!, start: '3.5', end: '5.5' }, THREE[2]!],
    [
      ['First part here.', 0, 3],
      ['Second part there.', 3.5, 5.5],
      ['Third one.', 6, 8],
    ],
  ],
  [
    'an empty text',
    [THREE[0]!, { ...THREE[1]!, text: '' }, THREE[2]!],
    [
      ['First part here.', 0, 3],
      ['Second part there.', 3, 6],
      ['Third one.', 6, 8],
    ],
  ],
  [
    'another text',
    [THREE[0]!, { start: 3.2, end: 5, text: ' something else' }, THREE[2]!],
    [
      ['First part here.', 0, 3],
      ['Second part there.', 3.2, 5],
      ['Third one.', 6, 8],
    ],
  ],
  [
    'a part of its text',
    [THREE[0]!, { start: 3, end: 4, text: ' Second pa' }, THREE[2]!],
    [
      ['First part here.', 0, 3],
      ['Second part', 3, 4],
      ['there.', 4, 6],
      ['Third one.', 6, 8],
    ],
  ],
  [
    'no segment, and no time for it',
    [{ ...THREE[0]!, end: 6 }, THREE[2]!],
    [
      ['First part here. Second part there.', 0, 6],
      ['Third one.', 6, 8],
    ],
  ],
  [
    'a copy of the first',
    [THREE[0]!, THREE[0]!, ...THREE.slice(1)],
    [
      ['First part here.', 0, 3],
      ['Second part there.', 3, 6],
      ['Third one.', 6, 8],
    ],
  ],
  [
    'its place behind the third',
    [THREE[0]!, THREE[2]!, THREE[1]!],
    [
      ['First part here.', 0, 3],
      ['Second part there.', 3, 6],
      ['Third one.', 6, 8],
    ],
  ],
  [
    'a time behind the third',
    [THREE[0]!, { ...THREE[1]!, start: 7.5, end: 7.9 }, THREE[2]!],
    [
      ['First part here.', 0, 3],
      ['Second part there.', 3, 6],
      ['Third one.', 6, 8],
    ],
  ],
];
for (const [what, segments, expected] of BROKEN) {
  test(`a segment with ${what} keeps its text`, () => {
    assert.deepEqual(timesOf(read({ text: TEXT, segments })), expected);
  });
}

test('segments that hold only the start of the text are not all of it', () => {
  const transcript = read({ text: TEXT, segments: THREE.slice(0, 1) });

  assert.deepEqual(timesOf(transcript), [
    ['First part here.', 0, 3],
    ['Second part there. Third one.', 3, 12],
  ]);
});

test('NaN, which Python writes, is no number', () => {
  const body = `{"text": "NaN is \\"NaN\\".", "segments": [{"start": 1, "end": NaN, "text": "NaN is \\"NaN\\"."}]}`;
  const transcript = readOpenaiAnswer(body, 4)!;

  assert.deepEqual(timesOf(transcript), [['NaN is "NaN".', 1, 4]]);
});

const named = (name: string): Transcript => {
  const found = answers.find(({ server }) => server.startsWith(name))!;
  return read(found.answer, found.seconds);
};

test('the tokens of whisper.cpp in its segments are whole words', () => {
  assert.deepEqual(wordsOf(named('whisper.cpp server at 233fe1fc: ')), [
    ['The', 'train', 'to', 'Zürich', 'costs', '$1,234.50,'],
    ['and', 'takes', 'two', 'and', 'a', 'half', 'hours.'],
    ['Well-known,', "isn't", 'it?'],
  ]);
});

test('a word that the end of a segment divides is in one of them', () => {
  const { segments } = named('whisper.cpp server at 233fe1fc, segments of a maximal length');

  assert.deepEqual(
    segments.map(({ text, words }) => [text, words.map((word) => word.text)]),
    [
      ['What the temperature', ['What', 'the', 'temperature']],
      ['is tomorrow.', ['is', 'tomorrow.']],
    ],
  );
});

test('the words of LocalAI are read, and its nanoseconds', () => {
  const [first, second] = named('LocalAI at 82c191af').segments;
  assert.deepEqual(first!.words[0], { text: "L'accident", startSeconds: 0.2, endSeconds: 0.6, confidence: null });
  assert.deepEqual(second!.words.length, 4);

  assert.deepEqual(timesOf(named('LocalAI at 2809ad0b')), [
    ['Good morning.', 0, 2],
    ['Who is calling?', 2, 4.5],
  ]);
});

test('words without times stand between their neighbours, estimated', () => {
  const [first, second] = named('a server around whisperX').segments;
  const shown = ({ words }: Segment) =>
    words.map(({ text, startSeconds, endSeconds, estimated }) => [
      text,
      Math.round(startSeconds * 100) / 100,
      Math.round(endSeconds * 100) / 100,
      ...(estimated ? ['estimated'] : []),
    ]);

  assert.deepEqual(shown(first!), [
    ['She', 0.1, 0.45],
    ['paid', 0.45, 0.8],
    ['$500', 0.8, 1.15, 'estimated'],
    ['for', 1.15, 1.5],
    ['3', 1.5, 1.85, 'estimated'],
    ['tickets', 1.85, 2.2],
    ['today.', 2.2, 2.55],
  ]);
  assert.deepEqual(shown(second!)[0], ['12', 3, 3.35, 'estimated']);
});

test('a word stays in the segment whose text it is in, whatever its time', () => {
  const words = ['First', 'part', 'here', 'Second', 'part', 'there', 'Third', 'one'];
  const transcript = read({
    text: TEXT,
    segments: THREE,
    words: words.map((word, at) => ({ word, start: at === 2 ? 3.1 : at, end: at === 2 ? 3.2 : at + 1 })),
  });

  assert.deepEqual(wordsOf(transcript), [
    ['First', 'part', 'here'],
    ['Second', 'part', 'there'],
    ['Third', 'one'],
  ]);
  assert.equal(transcript.segments[0]!.words[2]!.estimated, true);
});

test('words that a server leaves out are estimated, and one that it gives twice is there once', () => {
  const words = ['First', 'First', 'here', 'Second', 'there', 'Third', 'one'];
  const transcript = read({
    text: TEXT,
    segments: THREE,
    words: words.map((word, at) => ({ word, start: at, end: at + 1 })),
  });

  assert.deepEqual(wordsOf(transcript), [
    ['First', 'part', 'here'],
    ['Second', 'part', 'there'],
    ['Third', 'one'],
  ]);
});

const LANGUAGES: Record<string, string | null> = {
  english: 'en',
  bengali: 'bn',
  tagalog: 'tl',
  cantonese: 'yue',
  nynorsk: 'nn',
  myanmar: 'my',
  burmese: 'my',
  maori: 'mi',
  hawaiian: 'haw',
  haitian: 'ht',
  'haitian creole': 'ht',
  castilian: 'es',
  mandarin: 'zh',
  lao: 'lo',
  romanian: 'ro',
  yiddish: 'yi',
  javanese: 'jv',
  German: 'de',
  de: 'de',
  yue: 'yue',
  unknown: null,
  'no language': null,
};
test("the names of Whisper's table are languages", () => {
  const found = Object.keys(LANGUAGES).map((language) => [
    language,
    readOpenaiAnswer(JSON.stringify({ text: 'a', language }), 1)!.language,
  ]);

  assert.deepEqual(Object.fromEntries(found), LANGUAGES);
});
