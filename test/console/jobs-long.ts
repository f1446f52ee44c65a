import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { cpuMs, heapBytes } from './harness/devtools.ts';
import type { Flow } from './harness/flow.ts';
import { MAX_GROWTH_BYTES, MAX_HEAP_BYTES, MAX_NODES, MAX_STEP_CPU_MS, MB } from './harness/limits.ts';
import { madeJob, openAll } from './harness/made-jobs.ts';

const MADE_ROWS = 1_000;
// Those of ten seconds, 20 in each.
const CHANGES = 200;
const MAX_CHANGES_CPU_MS = 1_000;
const REOPENINGS = 5;
const STEPS = 12;

const report = (text: string) => void (process.env['CONSOLE_FIGURES'] && process.stderr.write(`${text}\n`));

/** Changes the rows at the top by the account's stream, 200 of them at once, when the returned function is called. */
async function prepareChanges(page: Page): Promise<() => void> {
  const released = Promise.withResolvers<void>();
  // The row at the top is the last that changes.
  const frames = Array.from({ length: CHANGES }, (_, at) => {
    const data = { ...madeJob(CHANGES - 1 - at), text: 'changed' };
    return `event: job\nid: ${new Date().toISOString()}\ndata: ${JSON.stringify(data)}\n\n`;
  });
  await page.route('/v1/stream*', async (route) => {
    await released.promise;
    // The page connects again after each answer, and may be gone.
    await route.fulfill({ contentType: 'text/event-stream', body: frames.join('') }).catch(() => undefined);
  });
  return released.resolve;
}

export const flows: Flow[] = [
  {
    title: 'a list of 1,000 rows leaves the page small and quick, also while rows change, and keys move through it',
    async run({ page, devtools, account, open }) {
      const { key } = await account();
      const change = await prepareChanges(page);
      await openAll(page, MADE_ROWS, () => open(key, '/jobs'));
      const nodes = () => page.evaluate(() => document.querySelectorAll('*').length);
      const showTop = async () => {
        await page.evaluate(() => scrollTo(0, 0));
        await page.locator('[data-row="job_0"]').waitFor();
      };
      assert.ok((await nodes()) <= MAX_NODES, `${await nodes()} elements`);

      await showTop();
      await page.mouse.move(700, 700);
      const steps: { nodes: number; ms: number }[] = [];
      for (let step = 0; step < STEPS; step++) {
        const before = await cpuMs(devtools);
        await page.mouse.wheel(0, 2_000);
        await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(resolve)));
        steps.push({ nodes: await nodes(), ms: (await cpuMs(devtools)) - before });
      }
      report(`steps through 1,000 rows: ${steps.map(({ ms }) => ms.toFixed(0)).join(', ')} ms`);
      assert.deepEqual(
        steps.filter((step) => step.nodes > MAX_NODES),
        [],
      );
      // A single step may fall into a collection of garbage, or wait for a busy machine.
      const median = steps.map((step) => step.ms).toSorted((a, b) => a - b)[STEPS / 2]!;
      assert.ok(median <= MAX_STEP_CPU_MS, `${median} ms`);

      await showTop();
      const before = await cpuMs(devtools);
      change();
      await page.locator('[data-row="job_0"]').getByText('changed').waitFor();
      const ms = (await cpuMs(devtools)) - before;
      report(`${CHANGES} changes in 1,000 rows: ${ms.toFixed(0)} ms`);
      assert.ok(ms <= MAX_CHANGES_CPU_MS, `${ms} ms`);

      for (let step = 0; step < 60; step++) await page.keyboard.press('j');
      assert.equal(await page.evaluate(() => document.activeElement?.textContent), '59.wav');

      const scrolledTo = await page.evaluate(() => scrollY);
      assert.ok(scrolledTo > 1_000, `${scrolledTo} px`);
      await page.getByRole('link', { name: 'Search', exact: true }).click();
      await page.getByRole('heading', { name: 'Search' }).waitFor();
      assert.equal(await page.evaluate(() => scrollY), 0);
      await page.goBack();
      await page.waitForFunction((px) => Math.abs(scrollY - px) < 100, scrolledTo);

      const sizes: number[] = [];
      for (let count = 0; count < REOPENINGS; count++) {
        await page.getByRole('link', { name: 'Search', exact: true }).click();
        await page.getByRole('heading', { name: 'Search' }).waitFor();
        sizes.push(await heapBytes(devtools));
        await page.getByRole('link', { name: 'Jobs', exact: true }).click();
        await page.locator('[data-row]').first().waitFor();
      }
      const shown = sizes.map((bytes) => `${(bytes / MB).toFixed(1)} MB`).join(', ');
      report(`heap after the list was left: ${shown}`);
      assert.ok(sizes.at(-1)! <= MAX_HEAP_BYTES, shown);
      assert.ok(sizes.at(-1)! - sizes[0]! <= MAX_GROWTH_BYTES, shown);
    },
  },
];
