import assert from 'node:assert/strict';
import test from 'node:test';
import { joinOverlapping } from './overlap.ts';

const CASES: { what: string; before: string; after: string; joined: [string, string] }[] = [
  {
    what: 'common words stand once, with the punctuation of the text that goes on',
    before: 'in his power to do for them he.',
    after: 'For them. He was not an ill disposed',
    joined: ['in his power to do for them he', 'was not an ill disposed'],
  },
  {
    what: 'the beginning of a word at the cut is replaced by the word',
    before: 'the frequent formal review of activ',
    after: 'of activities thereunder',
    joined: ['the frequent formal review of activities', 'thereunder'],
  },
  {
    what: 'the end of a word at the cut is left out',
    before: 'the frequent formal review of activities there.',
    after: 'tivities thereunder in this regard',
    joined: ['the frequent formal review of activities thereunder', 'in this regard'],
  },
  {
    what: 'words that were cut on both sides are left out',
    before: 'ask not what your country can dome',
    after: 'Haunt try can do for you',
    joined: ['ask not what your country can', 'do for you'],
  },
  {
    what: 'texts without a common word stay as they are',
    before: 'ask not what your country.',
    after: 'Can do for you',
    joined: ['ask not what your country.', 'Can do for you'],
  },
  {
    what: 'writing without blanks',
    before: '今天天气很好我们',
    after: '很好我们去公园',
    joined: ['今天天气很好我们', '去公园'],
  },
  {
    what: 'a text that has nothing new is empty',
    before: 'and so my fellow',
    after: 'My fellow.',
    joined: ['and so my fellow.', ''],
  },
  { what: 'nothing', before: '', after: 'one', joined: ['', 'one'] },
  {
    what: 'a common word far from the cut is no overlap',
    before: 'the man who was here yesterday evening said so',
    after: 'and then the man left',
    joined: ['the man who was here yesterday evening said so', 'and then the man left'],
  },
];

for (const { what, before, after, joined } of CASES) {
  test(`overlapping texts: ${what}`, () => assert.deepEqual(Object.values(joinOverlapping({ before, after })), joined));
}
