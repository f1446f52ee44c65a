import assert from 'node:assert/strict';
import { test } from 'node:test';
import MiniSearch from 'minisearch';
import { SEARCH_OPTIONS } from './search-options.ts';
import { SEARCH_WORDS } from './search-words.ts';
import { DocsSite } from './site.ts';

const site = new DocsSite({ base: '/docs', version: '1.2.3', inService: true });
const sections = await site.searchEntries();
const index = new MiniSearch(SEARCH_OPTIONS);
index.addAll(sections);

test('each word that readers type finds its place first', () => {
  const wrong = Object.entries(SEARCH_WORDS).flatMap(([place, words]) =>
    words.flatMap((word) => {
      const first = index.search(word)[0]?.['url'] ?? null;
      return first === `/docs/${place}` ? [] : [{ word, place, first }];
    }),
  );

  assert.deepEqual(wrong, []);
});

test('every place that has such words is there', () => {
  const urls = new Set(sections.map(({ url }) => url));

  assert.deepEqual(
    Object.keys(SEARCH_WORDS).filter((place) => !urls.has(`/docs/${place}`)),
    [],
  );
});

test('a word of a page goes on to find it, also misspelt and begun', () => {
  const first = (query: string) => index.search(query)[0]?.['page'];

  assert.deepEqual(['kubernetes', 'kuberntes', 'kuber'].map(first), ['Kubernetes', 'Kubernetes', 'Kubernetes']);
});
