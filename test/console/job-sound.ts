import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { type ConsoleAccount, toneFile } from './harness/fixture.ts';
import type { Flow } from './harness/flow.ts';

const WORDS = 'the quick brown fox jumps over the lazy dog';
const GONE = { error: { type: 'conflict', message: 'The audio of this job is no longer stored.' } };

async function transcribed(account: () => Promise<ConsoleAccount>) {
  const owner = await account();
  return { ...owner, job: await owner.api.transcribe(toneFile(WORDS), { timestamps: 'word' }) };
}

/** Waits until the sound is loaded, at this time. */
async function untilAt(page: Page, seconds: number): Promise<void> {
  await page.waitForFunction((wanted) => {
    const audio = document.querySelector('audio');
    return audio !== null && audio.readyState >= 1 && audio.currentTime === wanted;
  }, seconds);
}

export const flows: Flow[] = [
  {
    title: 'without stored audio the file of this computer is played, and only the right one',
    async run({ page, open, account }) {
      const { key, job } = await transcribed(account);
      for (const route of ['audio-link', 'peaks*']) {
        await page.route(`**/v1/jobs/${job.id}/${route}`, (answer) => answer.fulfill({ status: 409, json: GONE }));
      }
      await open(key, `/jobs/${job.id}?t=2`);
      const attach = async (file: File) =>
        await page
          .getByLabel('Audio file')
          .setInputFiles({ name: file.name, mimeType: 'audio/wav', buffer: Buffer.from(await file.arrayBuffer()) });
      const drawn = () =>
        page.locator('.waveform canvas').evaluate((canvas: HTMLCanvasElement) => {
          const { data } = canvas.getContext('2d')!.getImageData(0, 0, canvas.width, canvas.height);
          return data.filter((value, at) => at % 4 === 3 && value > 0).length / data.length;
        });

      await attach(toneFile('another file'));
      await page.getByRole('alert').filter({ hasText: 'This file is not the audio of the job.' }).waitFor();
      const before = await drawn();
      await attach(toneFile(WORDS));
      await untilAt(page, 2);

      assert.match(await page.evaluate(() => document.querySelector('audio')!.src), /^blob:/);
      await page.waitForFunction(() => {
        const canvas = document.querySelector<HTMLCanvasElement>('.waveform canvas')!;
        const { data } = canvas.getContext('2d')!.getImageData(0, 0, canvas.width, 1);
        return data.some((value) => value > 0);
      });
      assert.ok((await drawn()) > 5 * before, 'the waveform of the file is drawn');
    },
  },
  {
    title: 'a link to the audio that has expired is replaced, and the sound goes on at the same place',
    async run({ page, open, account }) {
      const { key, job } = await transcribed(account);
      const expired = { url: '/v1/audio-links/expired', expires_at: new Date(0).toISOString() };
      let links = 0;
      await page.route(`**/v1/jobs/${job.id}/audio-link`, (route) =>
        ++links === 1 ? route.fulfill({ status: 201, json: expired }) : route.continue(),
      );

      await open(key, `/jobs/${job.id}?t=3`);

      await untilAt(page, 3);
      assert.equal(links, 2);
    },
  },
  {
    title: 'audio that the browser cannot play is said to be so, with a way out',
    async run({ page, open, account }) {
      const { key, job } = await transcribed(account);
      await page.route('**/v1/audio-links/*', (route) => route.fulfill({ contentType: 'audio/wav', body: 'no audio' }));

      await open(key, `/jobs/${job.id}`);

      await page.getByText('This browser cannot play this audio.').waitFor();
      await page.getByLabel('Audio file').waitFor();
    },
  },
];
