import assert from 'node:assert/strict';
import test from 'node:test';
import { heardShare } from './heard-words.ts';

for (const [spoken, heard, share] of [
  ['And so, my fellow Americans,', 'and so my fellow americans', 1],
  ['ask not what', 'Ask what?', 2 / 3],
  ['no no no', 'no', 1 / 3],
  ['he was not', '', 0],
  ['', 'You', 1],
  ['今天天气', '今天天气很好', 1],
  ['今天天气', '很好今天', 1 / 2],
] as const) {
  test(`of "${spoken}", "${heard}" holds ${share}`, () => assert.equal(heardShare(spoken, heard), share));
}
