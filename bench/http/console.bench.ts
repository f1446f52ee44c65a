// The console in Chromium: bytes and time of the first view with a cold cache at 10 Mbit/s, each change of the view by
// the menu, the first opening of Usage with its chart, and the frames while a list of 10,000 rows is scrolled.
import { setTimeout } from 'node:timers/promises';
import type { Browser, Page } from 'playwright-core';
import { findChromium, openBrowser } from '../../test/console/harness/browser.ts';
import { cpuMs } from '../../test/console/harness/devtools.ts';
import { openFixture } from '../../test/console/harness/fixture.ts';
import { openAll } from '../../test/console/harness/made-jobs.ts';
import { report, round, spread } from '../figures.ts';

const ROUNDS = 5;
const ROWS = 10_000;
const FRAMES = 600;
const PAUSE_MS = 500;
const FRAME_PX = 150;
// A line of 10 Mbit/s.
const NETWORK = { offline: false, latency: 20, downloadThroughput: 1_250_000, uploadThroughput: 1_250_000 };

const chromium = findChromium();
if (!chromium) throw new Error('Install Chromium, or name one in CHROMIUM.');
await using fixture = await openFixture();
await using browser = await openBrowser(chromium);
const { key } = fixture.shown;

const first: { bytes: number; ms: number }[] = [];
const usage: number[] = [];
const changes = new Map<string, number[]>();
for (let count = 0; count < ROUNDS; count++) {
  await using page = await openPage(browser);
  first.push(await openFirstView(page));
  await idle(page);
  const usageMs = await timeChange(page, 'Usage', '.chart canvas');
  usage.push(usageMs);
  for (const name of await page.locator('.navigation a').allInnerTexts()) {
    if (name !== 'Usage') changes.set(name, [...(changes.get(name) ?? []), await timeChange(page, name, 'h1')]);
  }
}
const views = [...changes].map(([name, times]) => ({ name, ms: spread(times).p50 })).toSorted((a, b) => a.ms - b.ms);
const [slowest] = views.slice(-1);
report(
  'first view, with dialogs that come meanwhile, KiB',
  String(round(spread(first.map(({ bytes }) => bytes)).p50 / 1024)),
  '–',
);
report('first view at 10 Mbit/s, ms, median and worst', both(first.map(({ ms }) => ms)), '<= 1000');
report('click in the menu to the heading, ms, median', String(spread([...changes.values()].flat()).p50), '<= 150');
report('the same of the slowest view, median', `${slowest!.ms} (${slowest!.name})`, '<= 150');
report('click on Usage to its chart, first time, ms, median and worst', both(usage), '<= 150');
const { median, p95, cpuMsPerFrame } = await timeFrames();
report(`frame of a list of ${ROWS} rows, ms, median and p95`, `${round(median)}, ${round(p95)}`, '<= 17');
report('processor time of the page for such a frame, ms', String(round(cpuMsPerFrame)), '–');

type Timed = { shownAt?: number; clickedAt?: number };

/** A page with a cache of its own, signed in, at 10 Mbit/s. */
async function openPage(of: Browser): Promise<Page & AsyncDisposable> {
  const context = await of.newContext({ baseURL: fixture.service.baseUrl, viewport: { width: 1440, height: 900 } });
  await context.request.post('/v1/session', { headers: { 'x-api-key': key } });
  const page = await context.newPage();
  const devtools = await context.newCDPSession(page);
  await devtools.send('Network.enable');
  await devtools.send('Network.emulateNetworkConditions', NETWORK);
  await page.addInitScript(() => {
    const timed = globalThis as Timed;
    const observer = new MutationObserver(() => {
      if (!document.querySelector('main:has(h1):not(:has(.loading))')) return;
      timed.shownAt = performance.now();
      observer.disconnect();
    });
    observer.observe(document, { subtree: true, childList: true });
  });
  return Object.assign(page, { [Symbol.asyncDispose]: () => context.close() });
}

/** The list of jobs: its rows are shown. */
async function openFirstView(page: Page): Promise<{ bytes: number; ms: number }> {
  await page.goto('/#/jobs');
  await page.waitForFunction(() => (globalThis as Timed).shownAt !== undefined);
  return await page.evaluate(() => {
    const ms = (globalThis as Timed).shownAt!;
    const loaded = performance.getEntries().filter((entry) => entry instanceof PerformanceResourceTiming);
    const inTime = loaded.filter(({ responseEnd }) => responseEnd > 0 && responseEnd <= ms);
    return { bytes: inTime.reduce((bytes, { transferSize }) => bytes + transferSize, 0), ms };
  });
}

/** Milliseconds from a click on an entry of the menu until a new element of this kind is drawn in the view. */
async function timeChange(page: Page, name: string, selector: string): Promise<number> {
  const ended = page.evaluate(async (wanted) => {
    const find = () => document.querySelector(`main ${wanted}`);
    const before = find();
    const clickedAt = new Promise<number>((resolve) =>
      addEventListener('click', ({ timeStamp }) => resolve(timeStamp), { capture: true, once: true }),
    );
    await new Promise<void>((resolve) => {
      const observer = new MutationObserver(() => {
        const found = find();
        if (!found || found === before) return;
        observer.disconnect();
        resolve();
      });
      observer.observe(document.body, { subtree: true, childList: true });
    });
    await new Promise(requestAnimationFrame);
    return performance.now() - (await clickedAt);
  }, selector);
  await page.locator('.navigation a', { hasText: new RegExp(`^\\s*${name}\\s*$`) }).click();
  const ms = await ended;
  await idle(page);
  return ms;
}

/** Waits until nothing was loaded for a moment. The stream of the account stays open. */
async function idle(page: Page): Promise<void> {
  const loaded = () => page.evaluate(() => performance.getEntriesByType('resource').length);
  for (let before = -1, now = await loaded(); now !== before; now = await loaded()) {
    before = now;
    await setTimeout(PAUSE_MS);
  }
}

/** Milliseconds of the frames while the list is scrolled to its end and back. */
async function timeFrames(): Promise<{ median: number; p95: number; cpuMsPerFrame: number }> {
  await using page = await openPage(browser);
  await openAll(page, ROWS, async () => void (await page.goto('/#/jobs')));
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Performance.enable', { timeDomain: 'threadTicks' });
  const beforeMs = await cpuMs(devtools);
  const frames = await page.evaluate(
    async ([count, px]) => {
      scrollTo(0, 0);
      const times = [await new Promise<number>(requestAnimationFrame)];
      for (let frame = 0; frame < count!; frame++) {
        scrollBy(0, frame < count! / 2 ? px! : -px!);
        times.push(await new Promise<number>(requestAnimationFrame));
      }
      return times.slice(1).map((time, at) => time - times[at]!);
    },
    [FRAMES, FRAME_PX],
  );
  const cpuMsPerFrame = ((await cpuMs(devtools)) - beforeMs) / FRAMES;
  const sorted = frames.toSorted((a, b) => a - b);
  return { median: sorted[FRAMES / 2]!, p95: sorted[Math.floor(FRAMES * 0.95)]!, cpuMsPerFrame };
}

function both(values: number[]): string {
  const { p50, max } = spread(values);
  return `${p50}, ${max}`;
}
