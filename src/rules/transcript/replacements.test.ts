import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Random, randomFrom } from '../../../test/fixtures/random.ts';
import { openReplacer, type Replacement } from './replacements.ts';

const SEED = 2311;
const RUNS = 2_000;

/** A segment whose words, split at spaces, are each a second long. @param words  where the engine gives others */
function spoken(text: string, words = text.split(' ')) {
  return {
    text,
    startSeconds: 0,
    endSeconds: words.length,
    confidence: null,
    words: words.map((word, i) => ({
      text: word,
      startSeconds: i,
      endSeconds: i + 1,
      confidence: 1 - i / 100 || null,
    })),
  };
}

const replace = (replacements: Record<string, string>, text: string, words?: string[]) =>
  openReplacer(Object.entries(replacements).map(([from, to]) => ({ from, to })))(spoken(text, words));

const TEXTS: [what: string, replacements: Record<string, string>, text: string, replaced: string][] = [
  ['a phrase', { 'cooper netties': 'Kubernetes' }, 'On Cooper Netties, today', 'On Kubernetes, today'],
  ['whole words only', { can: 'could' }, "can canned scan can't CAN", "could canned scan can't could"],
  [
    'a possessive',
    { kennedi: 'Kennedy' },
    "Kennedi's speech, kennedi’s",
    "Kennedy's speech, kennedi’s".replace('kennedi', 'Kennedy'),
  ],
  ['after an elision', { elysee: 'Élysée' }, "L'Elysee", "L'Élysée"],
  [
    'the longest',
    { new: 'old', 'new york': 'NYC', 'new york city': 'the city' },
    'new york new york city new',
    'NYC the city old',
  ],
  ['no replacement of a replacement', { a: 'b', b: 'c', c: 'a' }, 'a b c a', 'b c a b'],
  ['characters with a meaning in patterns', { 'c++': 'C$&', '.net': '.NET (x)' }, 'c++ and .net', 'C$& and .NET (x)'],
  ['any white space', { 'one two': '12' }, 'one\n two three', '12 three'],
  ['case of other scripts', { москва: 'Москва', ÉCOLE: 'école' }, 'МОСКВА École', 'Москва école'],
  ['letters of several forms', { σας: 'a', straße: 'b', skip: 'c' }, 'ΣΑΣ STRAẞE \u017f\u212aip', 'a b c'],
  ['scripts without spaces', { 東京: '東京都' }, '私は東京に住む', '私は東京都に住む'],
  ['marks as part of a word', { नमस: 'x' }, 'नमस्ते', 'नमस्ते'],
  ['characters outside of the basic plane', { '😀': ':)', 𝒳: 'X' }, '😀 𝒳 𝒳𝒴', ':) X 𝒳𝒴'],
  ['what is left out', { um: '', 'you know': '' }, 'Um, I, um, think, you know, so um', 'I, think, so'],
  ['all that was said', { um: '' }, 'um um', ''],
  ['what is left out beside a replacement', { um: '', i: 'we' }, 'um I um umm', 'we umm'],
  ['nothing', { gone: 'x' }, 'all here', 'all here'],
];
for (const [what, replacements, text, replaced] of TEXTS) {
  test(`replaced: ${what}`, () => {
    assert.equal(replace(replacements, text).text, replaced);
  });
}

test('a replaced phrase is one word from the start of its first to the end of its last, with the least confidence', () => {
  const { words } = replace({ 'cooper netties': 'Kubernetes' }, 'on cooper netties, now');

  assert.deepEqual(words, [
    { text: 'on', startSeconds: 0, endSeconds: 1, confidence: 1 },
    { text: 'Kubernetes,', startSeconds: 1, endSeconds: 3, confidence: 0.98 },
    { text: 'now', startSeconds: 3, endSeconds: 4, confidence: 0.97 },
  ]);
});

test('a word without a confidence makes that of the phrase unknown', () => {
  const segment = spoken('a b');
  segment.words[1]!.confidence = null;

  const { words } = openReplacer([{ from: 'a b', to: 'c' }])(segment);

  assert.deepEqual(words, [{ text: 'c', startSeconds: 0, endSeconds: 2, confidence: null }]);
});

for (const at of [0, 1]) {
  test(`a phrase has estimated times where those of its word ${at + 1} are estimated`, () => {
    const segment = spoken('a b c');
    const words = segment.words.map((word, place) => (place === at ? { ...word, estimated: true as const } : word));

    const replaced = openReplacer([{ from: 'a b', to: 'd' }])({ ...segment, words });

    assert.deepEqual(
      replaced.words.map((word) => ['estimated' in word, word.text]),
      [
        [true, 'd'],
        [false, 'c'],
      ],
    );
  });
}

const WORDS: [what: string, text: string, words: string[], replaced: string[]][] = [
  ['without punctuation', 'On Cooper, netties. Now', ['On', 'Cooper', 'netties', 'Now'], ['On', 'Kubernetes', 'Now']],
  ['in another case', 'Cooper netties now', ['cooper', 'netties', 'now'], ['Kubernetes', 'now']],
  ['in parts', 'coo per', ['coo', 'per'], ['coo', 'per']],
  ['that hold several', 'a cooper netties b', ['a cooper', 'netties b'], ['a Kubernetes b']],
  ['other than the text', 'something else', ['cooper', 'netties'], ['Kubernetes']],
  ['none', 'cooper netties', [], []],
];
for (const [what, text, words, replaced] of WORDS) {
  test(`words ${what} are replaced`, () => {
    const result = replace({ 'cooper netties': 'Kubernetes', 'cooper, netties': 'Kubernetes' }, text, words);

    assert.deepEqual(
      result.words.map((word) => word.text),
      replaced,
    );
  });
}

test('words of a script without spaces are replaced where they stand in the text', () => {
  const { text, words } = replace({ 東京: '東京都' }, '私は東京に', ['私', 'は', '東', '京', 'に']);

  assert.equal(text, '私は東京都に');
  assert.deepEqual(
    words.map((word) => [word.text, word.startSeconds, word.endSeconds]),
    [
      ['私', 0, 1],
      ['は', 1, 2],
      ['東京都', 2, 4],
      ['に', 4, 5],
    ],
  );
});

test('two phrases within one word make one word', () => {
  const { text, words } = replace({ one: '1', two: '2' }, 'x one-two y');

  assert.deepEqual([text, words.map((word) => word.text)], ['x 1-2 y', ['x', '1-2', 'y']]);
});

test('other fields of segments and words are kept', () => {
  const segment = { ...spoken('a b'), channel: 1 };
  const spokenOn = { ...segment, words: segment.words.map((word) => ({ ...word, channel: 1 })) };

  const { channel, words } = openReplacer([{ from: 'a b', to: 'c' }])(spokenOn);

  assert.equal(channel, 1);
  assert.deepEqual(words, [{ text: 'c', startSeconds: 0, endSeconds: 2, confidence: 0.99, channel: 1 }]);
});

/** The definition, for lower-case words with single spaces: from left to right, the longest phrase at each word. */
function expected(words: string[], replacements: Replacement[]) {
  const replaced: { text: string; first: number; last: number }[] = [];
  for (let i = 0; i < words.length; ) {
    const here = replacements.filter(({ from }) => `${words.slice(i).join(' ')} `.startsWith(`${from} `));
    const best = here.sort((one, other) => other.from.length - one.from.length)[0];
    const length = best ? best.from.split(' ').length : 1;
    replaced.push({ text: best?.to ?? words[i]!, first: i, last: i + length - 1 });
    i += length;
  }
  return replaced;
}

function phrase(random: Random, most: number): string {
  return Array.from({ length: 1 + random.integer(most) }, () => random.pick(['a', 'b', 'ab', 'ba'])).join(' ');
}

test(`${RUNS} random texts and replacements follow the definition, with the times of all words (seed ${SEED})`, () => {
  const random = randomFrom(SEED);
  let merged = 0;
  for (let run = 0; run < RUNS; run++) {
    const text = phrase(random, 12);
    const froms = new Set(Array.from({ length: 1 + random.integer(5) }, () => phrase(random, 3)));
    const replacements = [...froms].map((from) => ({ from, to: phrase(random, 2) }));
    const case_ = random.pick(['toUpperCase', 'toString'] as const);

    const result = openReplacer(replacements.map(({ from, to }) => ({ from: from[case_](), to })))(spoken(text));

    const words = expected(text.split(' '), replacements);
    merged += words.filter(({ first, last }) => last > first).length;
    assert.equal(result.text, words.map((word) => word.text).join(' '), JSON.stringify({ text, replacements }));
    assert.deepEqual(
      result.words.map((word) => [word.text, word.startSeconds, word.endSeconds]),
      words.map((word) => [word.text, word.first, word.last + 1]),
      JSON.stringify({ text, replacements }),
    );
  }
  assert.ok(merged > RUNS / 4, `only ${merged} phrases were merged`);
});

test('words that are left out are left out of the words too, with and without their commas', () => {
  const text = 'I, um, think so um';
  const kept = ['I,', 'think', 'so'];

  const withCommas = replace({ um: '' }, text);
  const without = replace({ um: '' }, text, ['I', 'um', 'think', 'so', 'um']);

  assert.deepEqual(
    withCommas.words.map((word) => word.text),
    kept,
  );
  assert.deepEqual(
    without.words.map((word) => word.text),
    ['I', 'think', 'so'],
  );
  assert.deepEqual([withCommas.text, without.text], ['I, think so', 'I, think so']);
});
