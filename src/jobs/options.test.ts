import assert from 'node:assert/strict';
import test from 'node:test';
import { readOptions } from './options.ts';

const read = (fields: Record<string, string>, lists: Record<string, string[]> = {}) =>
  readOptions({ fields: new Map(Object.entries(fields)), lists: new Map(Object.entries(lists)) });

test('a request without options has none', () => {
  assert.deepEqual(read({ plan: 'pro', language: 'en' }), {});
});

test('a prompt is kept as it was written', () => {
  const prompt = ` Über uns:\n"A–B"\t😀${'x'.repeat(982)}`;

  assert.deepEqual(read({ prompt }), { prompt });
});

test('keywords are trimmed, and the same one counts once', () => {
  const keywords = [
    'Kennedy',
    " O'Brien ",
    'Cape Canaveral',
    'Kennedy',
    'Jean-Luc',
    'St. Gallen',
    'naïve',
    'नमस्ते',
    '7',
  ];

  assert.deepEqual(read({ keywords: '7' }, { keywords }), {
    keywords: ['Kennedy', "O'Brien", 'Cape Canaveral', 'Jean-Luc', 'St. Gallen', 'naïve', 'नमस्ते', '7'],
  });
});

test('replacements are trimmed and in the form of Unicode that engines write', () => {
  const replacements = JSON.stringify([
    { from: ' cooper netties ', to: 'Kubernetes' },
    { from: 'e\u0301cole', to: 'É' },
    { from: 'C++', to: '…' },
  ]);

  assert.deepEqual(read({ replacements }), {
    replacements: [
      { from: 'cooper netties', to: 'Kubernetes' },
      { from: 'école', to: 'É' },
      { from: 'C++', to: '…' },
    ],
  });
});

const pairs = (count: number) => Array.from({ length: count }, (_, i) => ({ from: `a${i}`, to: 'b' }));

const REFUSED: [name: string, values: string[]][] = [
  ['prompt', ['']],
  ['prompt', [' \n']],
  ['prompt', ['a\u0000b']],
  ['prompt', ['a\u001bb']],
  ['prompt', ['\ud800']],
  ['prompt', ['x'.repeat(1001)]],
  ['replacements', ['']],
  ['replacements', ['a=b']],
  ['replacements', ['null']],
  ['replacements', ['{"from":"a","to":"b"}']],
  ['replacements', ['[null]']],
  ['replacements', ['["a"]']],
  ['replacements', ['[{"from":"a"}]']],
  ['replacements', ['[{"from":"a","to":1}]']],
  ['replacements', ['[{"from":"a","to":"b","case":true}]']],
  ['replacements', ['[{"from":" ","to":"b"}]']],
  ['replacements', ['[{"from":"--","to":"b"}]']],
  ['replacements', ['[{"from":"a\\u0000","to":"b"}]']],
  ['replacements', ['[{"from":"a","to":"\\ud800"}]']],
  ['replacements', ['[{"from":"a","to":"b\\nc"}]']],
  ['replacements', ['[{"from":"New  York","to":"b"},{"from":"new york","to":"c"}]']],
  ['replacements', [JSON.stringify([{ from: 'x'.repeat(101), to: 'b' }])]],
  ['replacements', [JSON.stringify(pairs(201))]],
  ['keywords', ['']],
  ['keywords', ['Kennedy', ' - ']],
  ['keywords', ['a/b']],
  ['keywords', [':2.0']],
  ['keywords', ['a\nb']],
  ['keywords', ['#x']],
  ['keywords', ['\ud800']],
  ['keywords', ['x'.repeat(51)]],
  ['keywords', ['one two three four five six seven']],
  ['keywords', Array.from({ length: 101 }, (_, i) => `k${i}`)],
];
for (const [name, values] of REFUSED) {
  test(`${name}=${JSON.stringify(values).slice(0, 60)} is rejected with the name of the field`, () => {
    assert.throws(() => read({ [name]: values[0]! }, { [name]: values }), { type: 'invalid_request', param: name });
  });
}

const ENTRIES: [name: string, values: string[], entry: string][] = [
  ['keywords', ['Kennedy', ' - '], 'keywords[1]'],
  ['keywords', ['Kennedy', 'Cape', 'x'.repeat(51)], 'keywords[2]'],
  ['replacements', ['[{"from":"a","to":"b"},{"from":"","to":"c"}]'], 'replacements[1]'],
  ['replacements', ['[{"from":"a","to":"b"},{"from":"c","to":"d"},{"from":"A","to":"e"}]'], 'replacements[2]'],
];
for (const [name, values, entry] of ENTRIES) {
  test(`the refusal of ${name}=${values} names ${entry}`, () => {
    assert.throws(
      () => read({ [name]: values[0]! }, { [name]: values }),
      ({ message }: Error) => message.startsWith(entry),
    );
  });
}

test('an empty list, as a JSON body may have, is none', () => {
  assert.deepEqual(read({ keywords: '', replacements: '[]' }, { keywords: [] }), {});
});

test('the longest keyword is accepted', () => {
  const longest = ['𝒳'.repeat(50), 'one two three four five six'];

  assert.deepEqual(read({ keywords: '' }, { keywords: longest }), { keywords: longest });
});
