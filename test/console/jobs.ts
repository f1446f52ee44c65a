import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { toneFile } from './harness/fixture.ts';
import type { Flow } from './harness/flow.ts';
import { choose } from './harness/menu.ts';

export const flows: Flow[] = [
  {
    title: 'jobs that come while the list is shown are counted, and shown on demand',
    async run({ page, account, open }) {
      const { key, api } = await account();
      await api.transcribe(toneFile('hello'));
      await open(key, '/jobs');
      await page.getByRole('link', { name: 'hello.wav' }).waitFor();

      const { id } = await api.jobs.create(toneFile('planet'));
      const button = page.getByRole('button', { name: '1 new' });
      await button.waitFor();
      assert.equal(await page.getByRole('link', { name: 'planet.wav' }).count(), 0);

      await button.click();
      await page.locator(`[data-row="${id}"]`).getByText('completed').waitFor();
      await page.locator(`[data-row="${id}"]`).getByText('planet', { exact: true }).waitFor();
    },
  },
  {
    title: 'filters are in the address, and a reload shows the same list',
    async run({ page, account, open }) {
      const { key, api } = await account();
      await api.transcribe(toneFile('hello'));
      await api.transcribe(toneFile('planet'), { plan: 'lite' });
      await open(key, '/jobs');

      await choose(page, 'Plan', 'lite');
      await page.getByRole('link', { name: 'hello.wav' }).waitFor({ state: 'detached' });
      assert.match(page.url(), /#\/jobs\?plan=lite$/);
      await page.reload();
      await page.getByRole('link', { name: 'planet.wav' }).waitFor();
      assert.equal(await page.getByRole('link', { name: 'hello.wav' }).count(), 0);

      await page.getByLabel('Name or id').fill('nothing like it');
      await page.getByText('No jobs match these filters.').waitFor();
      await page.getByRole('button', { name: 'As code' }).click();
      await page.getByText("plan=lite&query=nothing+like+it'").waitFor();
    },
  },
  {
    title: 'a filter that was typed does not come back, and a space at its end stays',
    async run({ page, account, open }) {
      const { key, api } = await account();
      await api.transcribe(toneFile('hello'));
      await open(key, '/jobs');
      const field = page.getByLabel('Name or id');

      await field.fill('nothing ');
      await page.waitForURL(/#\/jobs\?query=nothing$/);
      await page.getByText('No jobs match these filters.').waitFor();
      assert.equal(await field.inputValue(), 'nothing ');
      await page.getByRole('link', { name: 'Jobs', exact: true }).click();

      await page.getByRole('link', { name: 'hello.wav' }).waitFor();
      assert.equal(await field.inputValue(), '');
      assert.match(page.url(), /#\/jobs$/);
    },
  },
  {
    title: 'Escape leaves a filter, so that letters are shortcuts again; boxes have the names of their rows',
    async run({ page, account, open }) {
      const { key, api } = await account();
      await api.transcribe(toneFile('hello'));
      await api.transcribe(toneFile('planet'));
      await open(key, '/jobs');
      await page.getByRole('link', { name: 'hello.wav' }).waitFor();

      await page.keyboard.press('/');
      await page.keyboard.type('he');
      await page.waitForURL(/#\/jobs\?query=he$/);
      // Until then the rows are those of before, whose cursor and selection end with them.
      await page.getByRole('link', { name: 'planet.wav' }).waitFor({ state: 'detached' });
      for (const pressed of ['Escape', 'j', 'x']) await page.keyboard.press(pressed);

      await page.getByRole('checkbox', { name: 'Select hello.wav', checked: true }).waitFor();
      assert.doesNotMatch(page.url(), /hej/);
    },
  },
  {
    title: 'a list is limited to a preset of time, or to days of a calendar',
    async run({ page, account, open, checkView }) {
      const { key, api } = await account();
      await api.transcribe(toneFile('hello'));
      await open(key, '/jobs');
      const row = page.getByRole('link', { name: 'hello.wav' });

      await choose(page, 'Time', 'Last hour');
      await page.getByRole('button', { name: 'Time Last hour' }).waitFor();
      await row.waitFor();
      assert.match(page.url(), /#\/jobs\?created_after=/);

      await choose(page, 'Time', 'Choose days…');
      await page.getByRole('dialog', { name: 'Days' }).getByRole('button', { name: 'Previous' }).click();
      await checkView('range-of-days');
      await page.getByRole('button', { name: / 1 \w+ 20\d\d/ }).click();
      await page.getByRole('button', { name: / 3 \w+ 20\d\d/ }).click();
      await page.getByText('No jobs match these filters.').waitFor();
      await page.getByRole('button', { name: /^Time 1 \w+ – 3 \w+$/ }).waitFor();

      await choose(page, /^Time/, 'Any time');
      await row.waitFor();
    },
  },
  {
    title: 'a job opens beside the list, by an address that others can use, and as a page on a narrower screen',
    async run({ page, account, open, checkView }) {
      const { key, api } = await account();
      for (const words of ['hello', 'planet']) await api.transcribe(toneFile(words));
      await open(key, '/jobs');
      const panel = page.getByRole('complementary', { name: 'Details' });

      await page.locator('tr', { hasText: 'hello.wav' }).getByText('completed').click();
      await panel.getByRole('heading', { name: 'hello.wav' }).waitFor();
      assert.match(page.url(), /#\/jobs\?show=/);
      await panel.getByRole('tab', { name: 'Details' }).click();
      await page.keyboard.press('Escape');
      await panel.waitFor({ state: 'detached' });

      await page.keyboard.press('j');
      await page.keyboard.press('Enter');
      await panel.getByRole('heading').first().waitFor();
      await page.reload();
      await panel.getByRole('heading').first().waitFor();
      const before = page.viewportSize()!;
      await page.setViewportSize({ width: 1200, height: 900 });
      await page.waitForURL((url) => /^#\/jobs\/job_/.test(url.hash));
      await page.setViewportSize(before);

      await page.goBack();
      await page.getByRole('link', { name: 'planet.wav' }).click();
      await panel.getByRole('heading', { name: 'planet.wav' }).waitFor();
      await checkView('job-in-panel');
    },
  },
  {
    title: 'rows are selected by keys; transcripts are saved as a zip; jobs are erased',
    async run({ page, account, open }) {
      const { key, api } = await account();
      for (const words of ['hello', 'planet']) await api.transcribe(toneFile(words));
      await open(key, '/jobs');
      await page.getByRole('link', { name: 'hello.wav' }).waitFor();

      for (const pressed of ['j', 'x', 'j', 'x']) await page.keyboard.press(pressed);
      await page.getByText('2 selected').waitFor();

      const saving = page.waitForEvent('download');
      await page.getByRole('button', { name: 'Download 2 as zip' }).click();
      const file = await (await saving).path();
      const names = execFileSync('python3', ['-m', 'zipfile', '--list', file], { encoding: 'utf8' });
      assert.match(names, /hello-\w{6}\.txt/);
      assert.match(names, /planet-\w{6}\.txt/);
      assert.match(readFileSync(file, 'latin1'), /hello/);

      for (const pressed of ['j', 'x']) await page.keyboard.press(pressed);
      await page.getByText('1 selected').waitFor();
      await page.getByRole('button', { name: 'Erase 1' }).click();
      await page.getByRole('button', { name: 'Erase', exact: true }).click();
      await page.getByText('1 of 1 jobs erased.').waitFor();
      assert.equal((await api.jobs.list()).data.length, 1);
      assert.equal(await page.evaluate(() => document.activeElement?.tagName), 'H1');
    },
  },
];
