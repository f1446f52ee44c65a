import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomFrom } from '../../../test/fixtures/random.ts';
import { keptHeadersJson } from './answer-headers.ts';

const SEED = 9_041;

const WHOLE: [string, Record<string, string | string[]>, unknown][] = [
  ['plain values', { 'x-a': 'b', 'set-cookie': ['a=1', 'b=2'] }, { 'x-a': 'b', 'set-cookie': ['a=1', 'b=2'] }],
  ['what looks like an escape of U+0000', { 'x-note': '\\u0000" \\' }, { 'x-note': '\\u0000" \\' }],
  ['a real U+0000', { 'x-note': 'a\u0000b' }, { 'x-note': 'ab' }],
  ['lone surrogates', { 'x-note': 'a\ud800b\udc00' }, { 'x-note': 'a\ufffdb\ufffd' }],
  ['nothing', {}, {}],
];
for (const [what, headers, shown] of WHOLE) {
  test(`headers with ${what} are kept as they are, in JSON that can be read`, () => {
    assert.deepEqual(JSON.parse(keptHeadersJson(headers)), shown);
  });
}

test('headers over the bound keep those that came first, and the beginning of the one that no longer fits', () => {
  const kept = JSON.parse(keptHeadersJson({ first: 'a', second: 'b'.repeat(10_000), third: 'c' }));

  assert.deepEqual(Object.keys(kept), ['first', 'second']);
  assert.equal(JSON.stringify(kept).length, 4 * 1024);
});

test(`any characters in any number give JSON within the bound, whose values are beginnings of what came (seed ${SEED})`, () => {
  const random = randomFrom(SEED);
  const unit = () =>
    random.pick([
      () => random.integer(0x10000),
      () => 0xd800 + random.integer(0x800),
      () => random.pick([0, 9, 0x22, 0x5c, 0x75]),
      () => 0x20 + random.integer(0x5f),
    ])();
  const text = (length: number) => String.fromCharCode(...Array.from({ length }, unit));
  for (let round = 0; round < 2_000; round++) {
    const length = random.pick([3, 40, 900]);
    const maxBytes = 2 + random.integer(2_000);
    const headers: Record<string, string | string[]> = {};
    for (let index = 0; index < random.integer(6); index++) {
      headers[`x-${index}`] = random.integer(4) === 0 ? [text(length), text(5)] : text(length);
    }

    const json = keptHeadersJson(headers, maxBytes);

    assert.ok(Buffer.byteLength(json) <= maxBytes, `round ${round}: ${Buffer.byteLength(json)} of ${maxBytes} bytes`);
    for (const [name, kept] of Object.entries(JSON.parse(json) as Record<string, string | string[]>)) {
      const came = [headers[name]!].flat().map((value) => value.replaceAll('\u0000', '').toWellFormed());
      assert.ok(
        [kept].flat().every((value, at) => came[at]!.startsWith(value)),
        `round ${round}`,
      );
    }
  }
});
