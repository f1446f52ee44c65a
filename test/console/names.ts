import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { toneFile } from './harness/fixture.ts';
import type { Flow } from './harness/flow.ts';

/** The accessible name of what has the focus. */
const focused = (page: Page) => page.evaluate(() => document.activeElement?.getAttribute('aria-label'));

export const flows: Flow[] = [
  {
    title: 'a job is renamed in its header by keys, and every view shows the name',
    async run({ page, account, open, checkView }) {
      const { key, api } = await account();
      const { id } = await api.transcribe(toneFile('hello'));
      await open(key, `/jobs/${id}`);
      const heading = page.getByRole('heading', { level: 1 });

      await page.getByRole('button', { name: 'Rename' }).press('Enter');
      await page.keyboard.type('never kept');
      await page.keyboard.press('Escape');
      await heading.getByText('hello.wav').waitFor();
      assert.equal(await focused(page), 'Rename');
      assert.equal((await api.jobs.get(id)).title, null);

      await page.keyboard.press('Enter');
      await page.keyboard.type('Call with Zoë');
      await checkView('job-renaming');
      await page.keyboard.press('Enter');
      await heading.getByText('Call with Zoë').waitFor();
      assert.equal(await focused(page), 'Rename');
      assert.match(await page.title(), /^Call with Zoë · /);
      await page.getByRole('link', { name: 'Jobs', exact: true }).first().click();
      await page.getByRole('link', { name: 'Call with Zoë' }).waitFor();
      assert.equal((await api.jobs.get(id)).title, 'Call with Zoë');

      await page.getByLabel('Name or id').fill('with zoë');
      await page.waitForURL(/query=with/);
      await page.getByRole('link', { name: 'Call with Zoë' }).click();
      await page.getByRole('button', { name: 'Rename' }).click();
      await page.getByLabel('Title').fill('');
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'hello.wav' }).waitFor();
    },
  },
  {
    title: 'tags are added and removed by keys, and a click on one filters the list',
    async run({ page, account, open, checkView }) {
      const { key, api } = await account();
      const { id } = await api.transcribe(toneFile('hello'));
      await api.transcribe(toneFile('planet'));
      await open(key, `/jobs/${id}`);
      const tags = page.getByRole('list', { name: 'Tags' });

      for (const tag of ['sales', 'Zoë', 'sales']) {
        await page.getByRole('button', { name: 'Add a tag' }).press('Enter');
        await page.getByLabel('New tag').fill(tag);
        await page.keyboard.press('Enter');
        await tags.getByRole('link', { name: tag }).waitFor();
      }
      assert.equal(await focused(page), 'Add a tag');
      await checkView('job-tags');
      await tags.getByRole('button', { name: 'Remove the tag Zoë' }).press('Enter');
      await tags.getByRole('link', { name: 'Zoë' }).waitFor({ state: 'detached' });
      assert.equal(await focused(page), 'Remove the tag sales');

      await tags.getByRole('link', { name: 'sales' }).click();
      await page.getByRole('link', { name: 'hello.wav' }).waitFor();
      await page.getByRole('link', { name: 'planet.wav' }).waitFor({ state: 'detached' });
      assert.match(page.url(), /#\/jobs\?tag=sales$/);
      assert.equal(await page.getByLabel('Tag', { exact: true }).inputValue(), 'sales');
      assert.deepEqual((await api.jobs.get(id)).tags, ['sales']);
      await page.goto(page.url().replace('?tag=sales', '?status=completed'));
      await page.getByRole('link', { name: 'sales' }).click();
      await page.waitForURL(/#\/jobs\?status=completed&tag=sales$/);
      await checkView('jobs-tagged');
    },
  },
  {
    title: 'a key that may only read sees names and tags, and cannot change them',
    async run({ page, account, open }) {
      const { api } = await account();
      const { id } = await api.transcribe(toneFile('hello'), { title: 'Call', tags: ['sales'] });
      const { key } = await api.keys.create({ scopes: ['jobs:read'] });

      await open(key, `/jobs/${id}`);
      await page.getByRole('heading', { name: 'Call' }).waitFor();
      await page.getByRole('link', { name: 'sales' }).waitFor();
      await page.getByRole('tab', { name: 'Details' }).waitFor();

      for (const name of ['Rename', 'Add a tag', 'Remove the tag sales']) {
        assert.equal(await page.getByRole('button', { name }).count(), 0, name);
      }
    },
  },
  {
    title: 'a name or a text that is read from the right loses its end, not its beginning, where it is cut',
    async run({ page, account, open, checkView }) {
      const { key, api } = await account();
      const hebrew = 'פגישת צוות ראשון בבוקר, סיכום והחלטות חשובות מאוד לכל מי שהיה שם ולכל מי שלא היה';
      const { id } = await api.transcribe(toneFile('hello'), { title: hebrew, tags: ['לקוחות', 'a'.repeat(60)] });
      await api.transcribe(toneFile('hello', `${hebrew}.wav`), { replacements: [{ from: 'hello', to: hebrew }] });
      await open(key, '/jobs');
      const rows = page.getByRole('table', { name: 'Jobs' }).locator('[data-row]');
      await rows.nth(1).waitFor();

      for (const shown of [
        rows.nth(0).getByRole('link'),
        rows.locator(`[href="#/jobs/${id}"]`),
        rows.locator('.snippet'),
      ]) {
        const found = await shown.first().evaluate((element) => {
          const { direction, overflow, textOverflow } = getComputedStyle(element);
          return { direction, overflow, textOverflow, isCut: element.scrollWidth > element.clientWidth };
        });
        assert.deepEqual(found, { direction: 'rtl', overflow: 'hidden', textOverflow: 'ellipsis', isCut: true });
      }
      const tag = rows.getByRole('link', { name: 'לקוחות' });
      assert.ok((await tag.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)) <= 0);
      await checkView('jobs-rtl');
      await open(key, `/jobs/${id}`);
      assert.equal(await page.locator('h1 bdi').textContent(), hebrew);
      await checkView('job-rtl');
    },
  },
];
