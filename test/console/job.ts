import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import type { Job } from '../../sdk/src/client/index.ts';
import { channelsWav } from '../fixtures/audio/test-audio.ts';
import { toneSpeech } from '../fixtures/audio/tone/speech.ts';
import { type ConsoleAccount, toneFile } from './harness/fixture.ts';
import type { Flow } from './harness/flow.ts';
import { choose } from './harness/menu.ts';

const WORDS = 'the quick brown fox jumps over the lazy dog';

/** A completed job of an account of its own. */
async function transcribed(account: () => Promise<ConsoleAccount>, words = WORDS) {
  const owner = await account();
  const job = await owner.api.transcribe(toneFile(words), { timestamps: 'word' });
  return { ...owner, job };
}

function wordOf(job: Pick<Job, 'segments'>, text: string) {
  return job.segments!.flatMap(({ words }) => words ?? []).find((word) => word.text === text)!;
}

/** Clicks in the middle of a word of the transcript. */
async function clickWord(page: Page, word: string): Promise<void> {
  const place = await page.locator('[data-segment-text]').evaluateAll((rows, wanted) => {
    const text = rows.map((row) => row.firstChild as Text).find(({ data }) => data.includes(wanted))!;
    const range = document.createRange();
    range.setStart(text, text.data.indexOf(wanted));
    range.setEnd(text, text.data.indexOf(wanted) + wanted.length);
    const { x, y, width, height } = range.getBoundingClientRect();
    return { x: x + width / 2, y: y + height / 2 };
  }, word);
  await page.mouse.click(place.x, place.y);
}

/** The time of the sound, in seconds. */
const soundTime = (page: Page) => page.evaluate(() => document.querySelector('audio')!.currentTime);

/** The texts that a highlight marks in the page. */
const marked = (page: Page, name: string) =>
  page.evaluate(
    (wanted) =>
      [...(CSS.highlights.get(wanted) ?? [])].map((range) =>
        (range.startContainer as Text).data.slice(range.startOffset, range.endOffset),
      ),
    name,
  );

async function untilPlayable(page: Page): Promise<void> {
  await page.waitForFunction(() => (document.querySelector('audio')?.readyState ?? 0) >= 1);
}

async function untilMarked(page: Page, name: string, texts: string[]): Promise<void> {
  await page.waitForFunction(
    ([wanted, expected]) => {
      const ranges = [...(CSS.highlights.get(wanted!) ?? [])];
      const found = ranges.map(({ startContainer, startOffset, endOffset }) =>
        (startContainer as Text).data.slice(startOffset, endOffset),
      );
      return found.join('|') === expected;
    },
    [name, texts.join('|')],
  );
}

export const flows: Flow[] = [
  {
    title: 'a click on a word goes to it, and the words follow the sound',
    async run({ page, open, account }) {
      const { key, job } = await transcribed(account);
      const fox = wordOf(job, 'fox');
      await open(key, `/jobs/${job.id}?t=0.5`);
      await untilPlayable(page);
      await untilMarked(page, 'spoken', ['the']);

      await clickWord(page, 'fox');
      assert.ok(Math.abs((await soundTime(page)) - fox.start) < 0.05, `${await soundTime(page)} s for ${fox.start} s`);
      assert.deepEqual(await marked(page, 'spoken'), ['fox']);

      await page.keyboard.press('Space');
      await page.waitForFunction((end) => document.querySelector('audio')!.currentTime > end, fox.end + 0.3);
      await page.keyboard.press('Space');
      await page.waitForFunction(() => document.querySelector('audio')!.paused);
      const at = await soundTime(page);
      const [spoken, ...others] = await marked(page, 'spoken');
      const word = job.segments!.flatMap(({ words }) => words ?? []).findLast(({ start }) => start <= at)!;
      assert.deepEqual([spoken, others], [word.text, []]);
    },
  },
  {
    title: 'keys seek, change the speed and repeat a segment',
    async run({ page, open, account }) {
      const { key, job } = await transcribed(account);
      await open(key, `/jobs/${job.id}?t=6`);
      await untilPlayable(page);
      await page.waitForFunction(() => document.querySelector('audio')!.currentTime === 6);

      const times = [];
      for (const pressed of ['ArrowLeft', 'j', 'ArrowRight', 'ArrowLeft', 'l']) {
        await page.keyboard.press(pressed);
        times.push(await soundTime(page));
      }
      assert.deepEqual(times.slice(0, 4), [1, 0, 5, 0]);
      assert.ok(times[4]! > 7, `${times[4]} s`);
      await page.keyboard.press('+');
      await page.keyboard.press('+');
      assert.equal(await page.evaluate(() => document.querySelector('audio')!.playbackRate), 1.2);
      await page.getByRole('button', { name: 'Speed 1.2, back to 1' }).click();

      await page.keyboard.press('r');
      await page.getByRole('button', { name: /^Repeating/ }).click();
      await page.getByRole('slider', { name: 'Position' }).focus();
      await page.keyboard.press('j');
      await page.keyboard.press('ArrowRight');
      assert.equal(await page.getByRole('slider', { name: 'Position' }).getAttribute('aria-valuetext'), '0:05 of 0:08');
    },
  },
  {
    title: 'a text is found, gone through with n and N, and copied with times',
    async run({ page, open, account }) {
      const { key, job } = await transcribed(account);
      await open(key, `/jobs/${job.id}`);

      await page.keyboard.press('/');
      await page.keyboard.type('THE');
      await untilMarked(page, 'match', ['the', 'the']);
      await page.getByText('1 of 2').waitFor();
      await page.keyboard.press('Enter');
      await page.keyboard.press('Escape');
      await page.keyboard.press('n');
      await page.getByText('1 of 2').waitFor();
      await page.keyboard.press('N');
      await page.getByText('2 of 2').waitFor();

      await choose(page, 'Copy', 'Copy with times');
      await page.getByText('Copied.').waitFor();
      const clipboard = () => page.evaluate(() => navigator.clipboard.readText());
      assert.equal(await clipboard(), `[0:00.0] ${WORDS}`);

      await clickWord(page, 'fox');
      await choose(page, 'Copy', 'Copy link to this time');
      await page.waitForFunction(async () => (await navigator.clipboard.readText()).startsWith('http'));
      const [, place, seconds] = /^(.*)\?t=([\d.]+)$/.exec(await clipboard())!;
      const { start } = wordOf(job, 'fox');
      assert.equal(place, `${new URL(page.url()).origin}/#/jobs/${job.id}`);
      assert.ok(Number(seconds) <= start && Number(seconds) > start - 0.1, `${seconds} for ${start}`);
    },
  },
  {
    title: 'an edit is kept by a click elsewhere, a change of another reader is not overwritten',
    async run({ page, open, account }) {
      const { key, job, api } = await transcribed(account);
      await open(key, `/jobs/${job.id}`);
      const edit = page.getByRole('button', { name: /^Edit the segment/ });
      const stored = async () => (await api.jobs.transcript(job.id, 'text')).trim();

      await page.locator('.segment').hover();
      await edit.click();
      await page.getByRole('textbox', { name: /^Text from/ }).fill('A quick <b>fox</b>.');
      await page.getByRole('heading', { level: 1 }).click();
      await page.getByText('Edited. Saved').waitFor();
      assert.deepEqual(
        [await stored(), (await api.jobs.transcript(job.id, 'text', { version: 'original' })).trim()],
        ['A quick <b>fox</b>.', WORDS],
      );
      assert.equal(await page.locator('[data-segment-text]').textContent(), 'A quick <b>fox</b>.');

      await api.jobs.editTranscript(job.id, [{ index: 0, text: 'Of another reader.' }]);
      await page.keyboard.press('e');
      await page.getByRole('textbox', { name: /^Text from/ }).fill('Mine.');
      await page.keyboard.press('Enter');
      await page.getByRole('alert').filter({ hasText: 'Of another reader.' }).waitFor();
      assert.equal(await stored(), 'Of another reader.');
      await page.getByRole('button', { name: 'Keep my text' }).click();
      await page.getByText('Edited. Saved').waitFor();
      assert.equal(await stored(), 'Mine.');

      await page.getByText('Edited. Saved').click();
      await page.getByRole('button', { name: 'Restore the original' }).click();
      await page.getByText('Saved', { exact: true }).waitFor();
      assert.equal(await stored(), WORDS);
    },
  },
  {
    title: 'an edit that cannot be saved stays, and is sent again',
    async run({ page, open, account }) {
      const { key, job, api } = await transcribed(account);
      await open(key, `/jobs/${job.id}`);
      await page.route(`**/v1/jobs/${job.id}/transcript*`, (route) => route.abort());

      await page.keyboard.press('e');
      await page.getByRole('textbox', { name: /^Text from/ }).fill('Kept.');
      await page.keyboard.press('Escape');
      await page.getByRole('alert').filter({ hasText: 'Cannot reach the service' }).first().waitFor();
      const questions: string[] = [];
      page.on('dialog', (dialog) => {
        questions.push(dialog.message());
        void dialog.dismiss();
      });
      const isKept = () => page.waitForFunction(() => location.hash.startsWith('#/jobs/job_'));
      await page.getByRole('link', { name: 'Jobs', exact: true }).first().click();
      await isKept();
      await page.keyboard.press('g');
      await page.keyboard.press('u');
      await isKept();
      await choose(page, 'Account menu', 'Sign out');
      await isKept();
      await page.unroute(`**/v1/jobs/${job.id}/transcript*`);
      await page.getByRole('button', { name: 'Try again' }).click();
      await page.getByText('Edited. Saved').waitFor();

      assert.equal(questions.length, 3);
      await page.goBack();
      assert.equal(new URL(page.url()).pathname, '/healthz', 'a refused view leaves no entry before this one');
      assert.equal((await api.jobs.transcript(job.id, 'text')).trim(), 'Kept.');
    },
  },
  {
    title: 'the segments of an open job are shown as they come, and then the player',
    async run({ page, open, account }) {
      const { key, api, job } = await transcribed(account);
      await open(key, `/jobs/${job.id}`);
      await page.getByRole('button', { name: 'Play' }).waitFor();
      await page.evaluate(() => {
        const seen = { most: 0 };
        Object.assign(globalThis, { seen });
        new MutationObserver(() => {
          const rows = document.querySelectorAll('[aria-label="Live transcript"] .segment').length;
          seen.most = Math.max(seen.most, rows);
        }).observe(document.body, { childList: true, subtree: true });
      });
      const { id } = await api.jobs.create(toneFile(`${WORDS} `.repeat(48).trim(), 'long.wav'), { timestamps: 'word' });

      await page.evaluate((hash) => {
        location.hash = hash;
      }, `/jobs/${id}`);
      await page.getByRole('heading', { name: 'long.wav completed' }).waitFor({ timeout: 60_000 });
      await page.getByRole('button', { name: 'Play' }).waitFor();

      const { most } = await page.evaluate(() => (globalThis as unknown as { seen: { most: number } }).seen);
      assert.ok(most > 0, 'no segment was shown before the end of the job');
    },
  },
  {
    title: 'channels have names and colours, warnings an explanation, and captions are shown over the player',
    async run({ page, open, account, checkView }) {
      const { key, api } = await account();
      const file = new File(
        [Uint8Array.from(channelsWav([toneSpeech(WORDS), toneSpeech('yes'), new Int16Array(0)]))],
        'three-channels.wav',
      );
      const { id } = await api.transcribe(file, { timestamps: 'word', multichannel: true });
      await open(key, `/jobs/${id}`);
      await page.getByRole('list', { name: 'Speakers and channels' }).getByText('Channel 2').waitFor();
      await page.getByRole('region', { name: 'Warnings' }).getByText('A channel is silent throughout.').waitFor();
      await checkView('job-channels');

      await page.getByRole('tab', { name: 'Captions' }).click();
      await page.getByLabel('Format').selectOption('vtt');
      await page.getByLabel('Names of speakers and channels').check();
      await page.getByRole('radio', { name: 'Plain' }).check();
      assert.equal(await page.getByText('More', { exact: true }).count(), 0);
      await page.getByRole('radio', { name: 'Broadcast' }).check();
      await page.getByText('More', { exact: true }).click();
      await page.getByLabel('Characters per line').fill('12');
      await page.getByLabel('Lines at most').fill('1');
      // Both shapes stand on the player, the chosen one as the form has it.
      const screen = (label: string) => page.locator('.caption-screen', { hasText: label }).locator('p');
      await screen('Broadcast').filter({ hasText: 'Channel 1: the quick' }).waitFor();
      await screen('Plain').filter({ hasText: 'Channel 1: the quick' }).waitFor();
      await checkView('job-captions');
      const [saved] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: 'Download .vtt' }).click(),
      ]);
      assert.equal(saved.suggestedFilename(), `${id}.vtt`);
    },
  },
  {
    title: 'the other tabs show the job, its metadata with all digits, its events and their deliveries',
    async run({ page, open, shown, checkView }) {
      await open(shown.key, `/jobs/${shown.jobId}?tab=details`);
      await page.getByText(shown.jobId).first().waitFor();
      await checkView('job-details');

      await page.getByRole('tab', { name: 'Metadata' }).click();
      await page.getByText('12345678901234567890').waitFor();
      await page.getByRole('tab', { name: 'JSON' }).click();
      await page.getByText('12345678901234567890').waitFor();
      await page.getByRole('tab', { name: 'Events and deliveries' }).click();
      await page.getByRole('link', { name: 'Attempt 1' }).waitFor();
      await checkView('job-events');
      await page.getByRole('link', { name: 'Open the event' }).click();
      await page.waitForURL((url) => url.hash === `#/events/${shown.eventId}`);
    },
  },
  {
    title: 'an open job shows its place, and is canceled after a question',
    async run({ page, open, account }) {
      const { key, job } = await transcribed(account);
      const { metadataText: _, ...answer } = job;
      // A job of the test's engine may end before the click.
      const queued = { ...answer, status: 'queued', queue_position: 3, segments: null, text: null, completed_at: null };
      const status = JSON.stringify({ id: job.id, status: 'queued', queue_position: 3, error: null });
      await page.route(`**/v1/jobs/${job.id}`, (route) => route.fulfill({ json: queued }));
      await page.route(`**/v1/jobs/${job.id}/events`, (route) =>
        route.fulfill({ contentType: 'text/event-stream', body: `event: status\ndata: ${status}\n\n` }),
      );
      await page.route(`**/v1/jobs/${job.id}/cancel`, (route) =>
        route.fulfill({ json: { ...queued, status: 'canceled', queue_position: undefined } }),
      );
      await open(key, `/jobs/${job.id}`);
      await page.getByText('number 3 in the queue').waitFor();

      await page.getByRole('button', { name: 'Cancel', exact: true }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Cancel the job' }).click();
      await page.getByRole('button', { name: 'Transcribe again' }).waitFor();

      assert.equal(await page.getByRole('tab', { name: 'Transcript' }).count(), 0);
      await page.getByRole('tab', { name: 'Details' }).waitFor();
    },
  },
  {
    title: 'a job is transcribed again, and erased after a question',
    async run({ page, open, account }) {
      const { key, job, api } = await transcribed(account);
      await open(key, `/jobs/${job.id}`);

      await page.getByRole('button', { name: 'Transcribe again' }).click();
      await page.getByRole('dialog').getByLabel('Plan').selectOption('lite');
      await page.getByRole('dialog').getByRole('button', { name: 'Transcribe again' }).click();
      await page.waitForURL((url) => url.hash.startsWith('#/jobs/job_') && url.hash !== `#/jobs/${job.id}`);
      const again = /job_\w+/.exec(page.url())![0];
      await page.getByRole('button', { name: 'Erase' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Erase' }).click();
      await page.waitForURL((url) => url.hash === '#/jobs');

      const { data } = await api.jobs.list();
      assert.deepEqual(
        data.map(({ id }) => id),
        [job.id],
      );
      assert.notEqual(again, job.id);
    },
  },
];
