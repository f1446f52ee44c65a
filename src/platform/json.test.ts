import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Random, randomFrom } from '../../test/fixtures/random.ts';
import { RawJson, writeJson } from './json.ts';

test('raw JSON reaches the wire unchanged, at any depth', () => {
  const metadata = new RawJson('{ "order": 12345678901234567890, "b":1e400, "a":"\\u0000\\ud800", "a": 2 }');

  assert.equal(writeJson(metadata), metadata.text);
  assert.equal(
    writeJson({ id: 'evt_1', metadata, data: { list: [metadata, null] } }),
    `{"id":"evt_1","metadata":${metadata.text},"data":{"list":[${metadata.text},null]}}`,
  );
});

test('a value that fails to be written leaves no trace in the next one, nor do strings that are like raw JSON', () => {
  const failing = {
    raw: new RawJson('[1]'),
    get broken(): never {
      throw new Error('broken');
    },
  };
  const like = '"00000000-0000-4000-8000-000000000000 0"';

  assert.throws(() => writeJson(failing), /broken/);

  assert.equal(writeJson([like, new RawJson(like), '$&']), `[${JSON.stringify(like)},${like},"$&"]`);
  assert.equal(JSON.stringify([new RawJson('{"a": 1.0}')]), '[{"a":1}]');
});

const DATE = new Date('2026-11-21T09:30:00.000Z');
const VALUES: [what: string, value: unknown][] = [
  ['null', null],
  ['numbers', [0, -0, 1.5, 1e300, Number.NaN, Number.POSITIVE_INFINITY]],
  ['strings', ['', '"', '\\', '\u0000', '\ud800', '\u2028', '🎧', '</script>']],
  ['booleans', [true, false]],
  ['absent members', { a: undefined, b: 1, c: [undefined, 1] }],
  // biome-ignore lint/suspicious/noSparseArray: a hole is what this row is about.
  ['holes', [, 1, , 2]],
  ['dates', { at: DATE, list: [DATE] }],
  ['keys that need quotes', { '': 1, 'a"b': 2, 'a b': 3, ['__proto__']: 4 }],
  ['keys that are numbers', { b: 1, 2: 1, 1: 2 }],
  ['an object without prototype', Object.assign(Object.create(null), { a: 1 })],
  ['a map', { map: new Map([[1, 2]]) }],
];

for (const [what, value] of VALUES) {
  test(`without raw JSON it writes what JSON.stringify writes: ${what}`, () => {
    assert.equal(writeJson(value), JSON.stringify(value));
  });
}

test('values that JSON cannot represent are null', () => {
  assert.equal(writeJson(undefined), 'null');
  assert.equal(
    writeJson(() => 1),
    'null',
  );
});

test('any value is written as JSON.stringify writes it', () => {
  const random = randomFrom(8259);
  for (let i = 0; i < 3_000; i++) {
    const value = randomValue(random, 4);

    assert.equal(writeJson(value), JSON.stringify(value));
  }
});

function randomValue(random: Random, depth: number): unknown {
  const leaves = [null, true, false, 0, -1.5, 1e21, 'text', 'ü"\\\n', '', DATE];
  const shape = random.integer(depth > 0 ? 4 : 2);
  if (shape < 2) return random.pick(leaves);
  const items = Array.from({ length: random.integer(4) }, () => randomValue(random, depth - 1));
  return shape === 2
    ? items
    : Object.fromEntries(items.map((item, index) => [random.pick(['a', 'b', '"', ''])! + index, item]));
}
