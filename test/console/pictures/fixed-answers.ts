import type { BrowserContext, Page, Route } from 'playwright-core';

// Pictures are the same on every day: answers of the API are changed on their way to the page. A second of the
// preparation becomes a minute, and its end a fixed time; the hours and days of figures are moved whole; addresses of
// this machine become those of an example.

/** The time in the pages. */
const SHOWN_NOW_MS = Date.parse('2026-03-18T10:24:00Z');
const STRETCH = 60;
const HOUR_MS = 3_600_000;
const QUIET_FRAMES = 12;
const TIME = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;

export type Shown = {
  /** The moment that becomes `SHOWN_NOW_MS`. */
  atMs: number;
  /** Texts of this machine, and what stands for them. */
  shownFor: readonly (readonly [string, string])[];
};

/** Waits until a page has the answers to all its requests, and shows them. */
export type Settle = (page: Page) => Promise<void>;

/** Changes what the pages of the context get, and stops their clock. */
export async function showFixed(context: BrowserContext, { atMs, shownFor }: Shown): Promise<Settle> {
  let [asked, pending] = [0, 0];
  await context.clock.setFixedTime(SHOWN_NOW_MS);
  await context.route(/\/(admin\/)?v1\//, async (route) => {
    const request = route.request();
    const isStream = request.headers()['accept']?.includes('text/event-stream');
    if (isStream || request.method() !== 'GET') return route.continue();
    asked++;
    pending++;
    try {
      await answer(route);
    } finally {
      pending--;
    }
  });
  async function answer(route: Route): Promise<void> {
    const request = route.request();
    const { toReal, toShown } = timesOf(atMs, /bucket=(day|month)/.test(request.url()) ? 24 * HOUR_MS : HOUR_MS);
    const url = request.url().replace(/\?.*/, (query) => encodeURI(decodeURIComponent(query).replace(TIME, toReal)));
    const real = await route.fetch({ url });
    if (!real.headers()['content-type']?.includes('json')) return route.fulfill({ response: real });
    let body = (await real.text()).replace(TIME, toShown);
    for (const [own, shown] of shownFor) body = body.replaceAll(own, shown);
    return route.fulfill({ response: real, body });
  }
  return async (page) => {
    // An answer may lead to further requests, once it is shown.
    for (let before = -1; pending > 0 || asked !== before; ) {
      before = asked;
      await page.evaluate(waitForFrames, QUIET_FRAMES);
    }
  };
}

/** @param bucketMs  times at its multiples are the starts of the buckets of figures */
function timesOf(atMs: number, bucketMs: number) {
  const bucketOf = (timeMs: number) => Math.floor(timeMs / bucketMs) * bucketMs;
  const moved = bucketOf(SHOWN_NOW_MS) - bucketOf(atMs);
  return {
    toShown(time: string): string {
      const ms = Date.parse(time);
      return new Date(ms === bucketOf(ms) ? ms + moved : SHOWN_NOW_MS + (ms - atMs) * STRETCH).toISOString();
    },
    toReal(time: string): string {
      const ms = Date.parse(time);
      const isOld = SHOWN_NOW_MS - ms > HOUR_MS;
      return new Date(isOld ? ms - moved : atMs + (ms - SHOWN_NOW_MS) / STRETCH).toISOString();
    },
  };
}

/** Runs in the page. */
async function waitForFrames(count: number): Promise<void> {
  for (let frame = 0; frame < count; frame++) await new Promise((resolve) => requestAnimationFrame(resolve));
}
