import assert from 'node:assert/strict';
import { toneFile } from './harness/fixture.ts';
import type { Flow } from './harness/flow.ts';

export const flows: Flow[] = [
  {
    title: 'words are found in all transcripts, and a hit leads to its time',
    async run({ page, open, account, checkView }) {
      const { key, api } = await account();
      const { id } = await api.transcribe(toneFile('the annual budget is late', 'budget.wav'), { timestamps: 'word' });
      await api.transcribe(toneFile('nothing of this', 'other.wav'));
      await open(key, '/search');

      await page.keyboard.press('/');
      await page.keyboard.type('budgets');
      await page.locator('mark').filter({ hasText: 'budget' }).waitFor();
      await checkView('search');
      assert.equal(await page.locator('.result').count(), 1);
      await page.getByRole('link', { name: /^0:0/ }).click();
      await page.waitForURL((url) => url.hash === `#/jobs/${id}?t=0`);
      await page.getByRole('slider', { name: 'Position' }).waitFor();
    },
  },
  {
    title: 'a query without a word is refused as the API says it',
    async run({ page, open, account }) {
      const { key } = await account();
      await open(key, '/search?q=-');

      await page.getByRole('alert').filter({ hasText: 'q must hold a word to look for' }).waitFor();
      assert.match((await page.getByRole('alert').textContent())!, /req_/);
    },
  },
];
