import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { toneFile } from './harness/fixture.ts';
import type { Flow, FlowContext } from './harness/flow.ts';
import { choose } from './harness/menu.ts';

const TEXT = 'hello quiet world';

/** A completed job with an edit, of an account of its own. */
async function edited({ account }: FlowContext) {
  const owner = await account();
  const job = await owner.api.transcribe(toneFile(TEXT, 'Monday.wav'));
  await owner.api.jobs.editTranscript(job.id, [{ index: 0, text: 'Hello, <b>quiet</b> world.' }]);
  return { ...owner, job };
}

/** Visits an address as somebody else: in a browser without cookies. */
async function asStranger(page: Page, url: string, run: (stranger: Page, requests: string[]) => Promise<void>) {
  const context = await page.context().browser()!.newContext({ acceptDownloads: true });
  const stranger = await context.newPage();
  const requests: string[] = [];
  stranger.on('request', (request) => requests.push(new URL(request.url()).pathname));
  await stranger.goto(url);
  await run(stranger, requests);
  await context.close();
}

export const flows: Flow[] = [
  {
    title: 'a transcript is shared by the keyboard, read by somebody without an account, and the link ends',
    async run(flow) {
      const { page, open, checkView } = flow;
      const { key, job, api } = await edited(flow);
      await open(key, `/jobs/${job.id}`);

      const share = page.getByRole('button', { name: 'Share' });
      await share.focus();
      await page.keyboard.press('Enter');
      await page.getByText('No link has been made').waitFor();
      await page.getByLabel('The link ends').waitFor();
      assert.equal(await page.evaluate(() => document.activeElement!.tagName), 'SELECT');
      await page.keyboard.press('ArrowUp');
      await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      const url = (await page.locator('.secret').textContent())!;
      await page.getByText('Not opened yet').waitFor();
      const [link] = await api.jobs.shares(job.id);
      assert.ok(Math.abs(Date.parse(link!.expires_at) - Date.now() - 86_400_000) < 60_000);
      await page.getByRole('button', { name: 'Copy The new link' }).click();
      await page.waitForFunction(async (copied) => (await navigator.clipboard.readText()) === copied, url);
      await checkView('share-dialog');

      await asStranger(page, url, async (stranger, requests) => {
        await stranger.getByText('Hello, <b>quiet</b> world.').waitFor();
        await stranger.getByRole('heading', { level: 1, name: 'Monday.wav' }).waitFor();
        assert.equal(await stranger.getByRole('navigation').count(), 0);
        const saved = stranger.waitForEvent('download');
        await choose(stranger, 'Download', 'Word, .docx');
        assert.equal((await saved).suggestedFilename(), 'Monday.wav.docx');
        assert.deepEqual(
          requests.filter((path) => path.startsWith('/v1/')).map((path) => path.replace(/[^/]+$/, '')),
          ['/v1/shared/', '/v1/shared/'],
        );
      });

      await page.keyboard.press('Escape');
      await share.click();
      await page.getByText('Opened 2 times').waitFor();
      await page.getByRole('button', { name: 'End' }).focus();
      await page.keyboard.press('Enter');
      await page.getByText('No link has been made').waitFor();
      assert.equal(await page.evaluate(() => document.activeElement!.tagName), 'SELECT');
      await asStranger(page, url, async (stranger) => {
        await stranger.getByRole('heading', { name: 'This link has ended' }).waitFor();
      });
    },
  },
  {
    title: 'a shared transcript and an ended link are accessible pages without navigation, also for who is signed in',
    allowed: [/404/],
    async run(flow) {
      const { page, open, checkView } = flow;
      const { key, job, api } = await edited(flow);
      const { url, id } = await api.jobs.share(job.id);
      await open(key, url.replace('/#', ''));

      await page.getByText('Hello, <b>quiet</b> world.').waitFor();
      assert.equal(await page.getByRole('navigation').count(), 0);
      await checkView('shared');
      await page.getByRole('link', { name: 'Verbatim' }).click();
      await page.getByRole('navigation', { name: 'Console' }).waitFor();
      await api.jobs.endShare(job.id, id);
      await page.goto('/healthz');
      await page.goto(url);
      await page.getByRole('heading', { name: 'This link has ended' }).waitFor();
      await checkView('shared-ended');
    },
  },
  {
    title: 'who may only read has no button to share',
    async run(flow) {
      const { page, open } = flow;
      const { job, api } = await edited(flow);
      const { key } = await api.keys.create({ scopes: ['jobs:read'] });
      await open(key, `/jobs/${job.id}`);

      await page.getByRole('button', { name: 'Download' }).waitFor();

      assert.equal(await page.getByRole('button', { name: 'Share' }).count(), 0);
    },
  },
];
