import assert from 'node:assert/strict';
import { test } from 'node:test';
import { publicPage } from './public-page.ts';

test('a page has the public address where there is one, with or without a slash at its end', () => {
  const pages = [null, 'https://speech.example.com', 'https://speech.example.com/'].map((publicUrl) =>
    publicPage({ publicUrl }, '#token=vb_1'),
  );

  const whole = 'https://speech.example.com/#token=vb_1';
  assert.deepEqual(pages, ['/#token=vb_1', whole, whole]);
});
