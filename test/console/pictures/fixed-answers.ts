import type { BrowserContext } from 'playwright-core';

// Pictures are the same on every day: answers of the API are changed on their way to the page. A second of the
// preparation becomes a minute, and its end a fixed time; addresses of this machine become those of an example.

/** The time in the pages. */
const SHOWN_NOW_MS = Date.parse('2026-03-18T10:24:00Z');
const STRETCH = 60;
const TIME = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;

export type Shown = {
  /** The moment that becomes `SHOWN_NOW_MS`. */
  atMs: number;
  /** Texts of this machine, and what stands for them. */
  shownFor: readonly (readonly [string, string])[];
};

/** Changes what the pages of the context get, and stops their clock. */
export async function showFixed(context: BrowserContext, { atMs, shownFor }: Shown): Promise<void> {
  await context.clock.setFixedTime(SHOWN_NOW_MS);
  const toShown = (time: string) => new Date(SHOWN_NOW_MS + (Date.parse(time) - atMs) * STRETCH).toISOString();
  const toReal = (time: string) => new Date(atMs + (Date.parse(time) - SHOWN_NOW_MS) / STRETCH).toISOString();
  await context.route(/\/(admin\/)?v1\//, async (route) => {
    const request = route.request();
    const isStream = request.headers()['accept']?.includes('text/event-stream');
    if (isStream || request.method() !== 'GET') return route.continue();
    const url = request.url().replace(/\?.*/, (query) => encodeURI(decodeURIComponent(query).replace(TIME, toReal)));
    const answer = await route.fetch({ url });
    if (!answer.headers()['content-type']?.includes('json')) return route.fulfill({ response: answer });
    let body = (await answer.text()).replace(TIME, toShown);
    for (const [real, shown] of shownFor) body = body.replaceAll(real, shown);
    return route.fulfill({ response: answer, body });
  });
}
