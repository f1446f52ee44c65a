import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomFrom } from '../../../test/fixtures/random.ts';
import { memberText } from './metadata-text.ts';

const CASES: [json: string, text: string | null][] = [
  ['{"metadata": 12345678901234567890}', '12345678901234567890'],
  ['{"a":1,"metadata":{ "n": 1.10, "x":"}" } ,"b":2}', '{ "n": 1.10, "x":"}" }'],
  ['{"metadata":[1,[2,"]"]]}', '[1,[2,"]"]]'],
  ['{"metadata":"a\\"b,\\\\","c":1}', '"a\\"b,\\\\"'],
  ['{"metadata":null}', null],
  ['{"a":{"metadata":1}}', null],
  ['{"a":["metadata",{"metadata":1}],"b":"metadata"}', null],
  ['{"a":"metadata","metadata":true}', 'true'],
  ['{}', null],
  ['{"\\u006detadata":1,"metadata" : 2}', '2'],
];

for (const [json, text] of CASES) {
  test(`the member of ${json}: ${text}`, () => {
    assert.equal(memberText(json, 'metadata'), text);
  });
}

test('whatever else an object holds, the text of the member is as it was written', () => {
  const random = randomFrom(20261122);
  const value = (depth: number): unknown => {
    const kind = random.integer(depth > 3 ? 4 : 6);
    if (kind === 0) return random.next() * 1e6;
    if (kind === 1) return random.pick(['', '"', '\\', '{', '}]', 'metadata', '",":', '\u2028ü']);
    if (kind === 2) return random.pick([true, false, null]);
    if (kind === 3) return random.integer(1_000);
    const items = Array.from({ length: random.integer(4) }, () => value(depth + 1));
    if (kind === 4) return items;
    return Object.fromEntries(items.map((item, index) => [random.pick(['metadata', `k${index}`, '"', '\\']), item]));
  };
  for (let round = 0; round < 500; round++) {
    const [before, wanted, after] = [value(0), value(0), value(0)];
    const space = random.pick(['', ' ', '\n  ']);
    const text = JSON.stringify(wanted, null, random.integer(3));
    const json = `{${space}"a":${JSON.stringify(before)},"metadata"${space}:${space}${text}${space},"b":${JSON.stringify(after)}}`;

    assert.equal(memberText(json, 'metadata'), wanted === null ? null : text, json);
  }
});
