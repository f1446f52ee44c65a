import assert from 'node:assert/strict';
import test from 'node:test';
import { ApiError } from '../../http/api-error.ts';
import { readNames, readTag, readTags, readTitle } from './names.ts';

const refusalOf = (work: () => unknown) => {
  try {
    return ['accepted', work()];
  } catch (error) {
    assert.ok(error instanceof ApiError);
    return [error.status, error.param];
  }
};

test('a title and tags lose the white space around them, and a tag stands once', () => {
  const lists = new Map([['tags', [' sales', 'sales ', 'Sales', 'vente à Zoë 🎙️']]]);

  assert.deepEqual(readNames({ fields: new Map([['title', ' Call with Zoë \n']]), lists }), {
    title: 'Call with Zoë',
    tags: ['sales', 'Sales', 'vente à Zoë 🎙️'],
  });
  assert.deepEqual(readNames({ fields: new Map(), lists: new Map() }), { title: null, tags: [] });
});

test('lengths are counted in characters', () => {
  assert.equal(readTitle('😀'.repeat(200)), '😀'.repeat(200));
  assert.deepEqual(readTags(['😀'.repeat(64)]), ['😀'.repeat(64)]);
  assert.deepEqual(
    refusalOf(() => readTitle('😀'.repeat(201))),
    [400, 'title'],
  );
  assert.deepEqual(
    refusalOf(() => readTags(['a', '😀'.repeat(65)])),
    [400, 'tags'],
  );
});

for (const [what, text] of [
  ['nothing', ' \t'],
  ['U+0000', 'a\0b'],
  ['half of a pair', 'a\ud800'],
  ['the end of a line', 'a\nb'],
  ['a mark of writing direction', 'a\u202egpj.exe'],
] as const) {
  test(`a name with ${what} is refused, and the field is named`, () => {
    assert.deepEqual(
      refusalOf(() => readTitle(text)),
      [400, 'title'],
    );
    assert.deepEqual(
      refusalOf(() => readTags(['fine', text])),
      [400, 'tags'],
    );
    assert.deepEqual(
      refusalOf(() => readTag(text, { param: 'tag', entry: 'tag' })),
      [400, 'tag'],
    );
  });
}

test('more than ten tags are refused', () => {
  const tags = Array.from({ length: 11 }, (_, index) => `tag ${index}`);

  assert.equal(readTags(tags.slice(1)).length, 10);
  assert.deepEqual(
    refusalOf(() => readTags(tags)),
    [400, 'tags'],
  );
});
