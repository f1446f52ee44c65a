import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import type { Segment } from '../../sdk/src/wire.ts';
import { collectGarbage, cpuMs, heapBytes } from './harness/devtools.ts';
import { type ConsoleAccount, toneFile } from './harness/fixture.ts';
import type { Flow } from './harness/flow.ts';
import { MAX_GROWTH_BYTES, MAX_HEAP_BYTES, MAX_NODES, MAX_STEP_CPU_MS, MB } from './harness/limits.ts';

const SEGMENTS = 10_000;
const WORDS_PER_SEGMENT = 4;
const WORD_SECONDS = 0.36;
// The start of the console included.
const MAX_LIVE_CPU_MS = 5_000;

const segments: Segment[] = Array.from({ length: SEGMENTS }, (_, at) => {
  const start = at * WORDS_PER_SEGMENT * WORD_SECONDS;
  const words = Array.from({ length: WORDS_PER_SEGMENT }, (_, word) => ({
    text: `w${at}x${word}`,
    start: round(start + word * WORD_SECONDS),
    confidence: word === 0 ? 0.2 : 0.9,
    end: round(start + (word + 1) * WORD_SECONDS),
  }));
  const text = words.map((word) => word.text).join(' ');
  return { start: round(start), end: words.at(-1)!.end, text, confidence: 0.7, speaker: 'AB'[at % 2]!, words };
});

function round(seconds: number): number {
  return Math.round(seconds * 1_000) / 1_000;
}

/** Four hours with 40,000 words: the answers about a short job, with another transcript. */
async function openLong(page: Page, account: () => Promise<ConsoleAccount>, status = 'completed') {
  const { key, api } = await account();
  const { metadataText: _, ...job } = await api.transcribe(toneFile('short'), { timestamps: 'word' });
  const audio = { ...job.audio, duration_seconds: segments.at(-1)!.end };
  const gone = { error: { type: 'conflict', message: 'The audio of this job is no longer stored.' } };
  await page.route(`**/v1/jobs/${job.id}`, (route) => route.fulfill({ json: { ...job, status, audio, segments } }));
  await page.route(`**/v1/jobs/${job.id}/transcript*`, async (route) =>
    route.fulfill({ json: { ...(await api.jobs.transcript(job.id)), segments } }),
  );
  await page.route(`**/v1/jobs/${job.id}/audio-link`, (route) => route.fulfill({ status: 409, json: gone }));
  return { key, id: job.id };
}

export const flows: Flow[] = [
  {
    title: 'in 10,000 segments the page stays small and quick, and a time is found at once',
    async run({ page, devtools, open, account }) {
      const { key, id } = await openLong(page, account);
      await open(key, `/jobs/${id}`);
      await page.locator('.segment').first().waitFor();

      await page.mouse.move(700, 700);
      const steps: { nodes: number; ms: number }[] = [];
      for (let i = 0; i < 12; i++) {
        await collectGarbage(devtools);
        const before = await cpuMs(devtools);
        await page.mouse.wheel(0, 2_000);
        await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(resolve)));
        const nodes = await page.evaluate(() => document.querySelectorAll('*').length);
        steps.push({ nodes, ms: (await cpuMs(devtools)) - before });
      }
      assert.deepEqual(
        steps.filter(({ nodes, ms }) => nodes > MAX_NODES || ms > MAX_STEP_CPU_MS),
        [],
      );

      const wanted = segments[7_777]!.words![2]!;
      await page.evaluate((seconds) => {
        const slider = document.querySelector<HTMLInputElement>('[data-player-position]')!;
        slider.value = String(seconds);
        slider.dispatchEvent(new Event('input', { bubbles: true }));
      }, wanted.start + 0.1);
      await page.waitForFunction((text) => {
        const [range, ...others] = [...(CSS.highlights.get('spoken') ?? [])];
        if (!range || others.length > 0) return false;
        const { data } = range.startContainer as Text;
        return data.slice(range.startOffset, range.endOffset) === text;
      }, wanted.text);
      const row = page.locator('.segment[aria-current]');
      assert.match((await row.textContent())!, /w7777x0 w7777x1/);
      const { y } = (await row.boundingBox())!;
      assert.ok(y > 150 && y < 800, `the row is at ${y} px`);

      await page.getByRole('button', { name: 'Follow the sound', pressed: true }).waitFor();
      await page.mouse.wheel(0, -5_000);
      await page.getByRole('button', { name: 'Follow the sound', pressed: false }).waitFor();
    },
  },
  {
    title: 'the search stays in view below the player, and shows each match beside it',
    async run({ page, open, account }) {
      const { key, id } = await openLong(page, account);
      await open(key, `/jobs/${id}`);
      const field = page.getByRole('searchbox', { name: 'Find' });
      await field.fill('x1');
      for (const height of [900, 844]) {
        await page.setViewportSize({ width: height === 900 ? 1280 : 390, height });
        await page.evaluate(() => scrollTo(0, document.body.scrollHeight / 2));
        await field.press('Enter');
        const row = page.locator('.segment', { has: page.getByText(/w\d+x1/) }).first();
        await row.waitFor();
        const player = (await page.getByRole('region', { name: 'Player' }).boundingBox())!;
        for (const part of [field, page.getByRole('button', { name: 'Next match' })]) {
          const { y } = (await part.boundingBox())!;
          assert.ok(y >= player.y + player.height - 1 && y < 400, `${y} px, with a window of ${height} px`);
        }
        await page.waitForFunction(() => {
          const [match] = [...(CSS.highlights.get('match-now') ?? [])];
          if (!match) return false;
          const range = new Range();
          range.setStart(match.startContainer, match.startOffset);
          range.setEnd(match.endContainer, match.endOffset);
          const { x, y, height } = range.getBoundingClientRect();
          const shown = document.elementFromPoint(x + 2, y + height / 2);
          return shown?.closest('[data-segment-text]') !== null && y + height < innerHeight;
        });
      }
      await page.setViewportSize({ width: 1280, height: 900 });
    },
  },
  {
    title: 'an open job that sends thousands of segments leaves the page small and quick',
    async run({ page, devtools, open, account }) {
      const { key, id } = await openLong(page, account, 'processing');
      const frame = (event: string, data: object) => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
      const sent = segments.slice(0, 5_000).map((segment, index) => frame('segment', { index, ...segment }));
      const body = [frame('status', { id, status: 'processing', error: null }), ...sent].join('');
      await page.route(`**/v1/jobs/${id}/events`, (route) => route.fulfill({ contentType: 'text/event-stream', body }));

      await open(key, `/jobs/${id}`);
      await page.locator('[data-index="4999"]').waitFor();

      const nodes = await page.evaluate(() => document.querySelectorAll('*').length);
      const ms = await cpuMs(devtools);
      assert.ok(nodes <= MAX_NODES, `${nodes} nodes`);
      assert.ok(ms <= MAX_LIVE_CPU_MS, `${ms} ms`);
      await page.mouse.move(700, 700);
      await page.mouse.wheel(0, -3_000);
      await page.getByRole('button', { name: 'Follow new text', pressed: false }).waitFor();
    },
  },
  {
    title: 'leaving a transcript of four hours frees its memory',
    async run({ page, devtools, open, account }) {
      const { key, id } = await openLong(page, account);
      await open(key, '/search');
      const goTo = (place: string) =>
        page.evaluate((hash) => {
          location.hash = hash;
        }, place);
      const sizes: number[] = [];

      for (let i = 0; i < 5; i++) {
        await goTo(`/jobs/${id}`);
        await page.locator('.segment').first().waitFor();
        await goTo('/search');
        await page.getByRole('heading', { name: 'Search' }).waitFor();
        sizes.push(await heapBytes(devtools));
      }

      const shown = sizes.map((bytes) => `${(bytes / MB).toFixed(1)} MB`).join(', ');
      assert.ok(sizes.at(-1)! <= MAX_HEAP_BYTES, shown);
      assert.ok(sizes.at(-1)! - sizes[0]! <= MAX_GROWTH_BYTES, shown);
      if (process.env['CONSOLE_FIGURES']) process.stderr.write(`heap after each visit: ${shown}\n`);
    },
  },
];
