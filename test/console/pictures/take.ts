import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Browser, CDPSession, Page } from 'playwright-core';
import { showFixed } from './fixed-answers.ts';
import { type Layout, measureLayout } from './layout.ts';
import { PAGES, type PicturedPage } from './pages.ts';
import type { Seeded } from './seed.ts';

const WIDTHS = [1440, 1024, 390] as const;
const HEIGHTS: Record<(typeof WIDTHS)[number], number> = { 1440: 900, 1024: 768, 390: 844 };
const QUALITY = 70;
const STEP_MS = 20_000;

/** The layouts of a page, by the width of the window. */
export type Layouts = Record<string, Layout>;

/**
 * Visits each page at each width.
 * @param folder  gets a picture of each in both themes; absent: none are made
 */
export async function visitPages(
  browser: Browser,
  seeded: Seeded,
  { folder, names }: { folder?: string | undefined; names?: readonly string[] | undefined },
): Promise<Map<string, Layouts>> {
  const found = new Map<string, Layouts>();
  const context = await browser.newContext({
    baseURL: seeded.service.baseUrl,
    locale: 'en-GB',
    timezoneId: 'UTC',
    reducedMotion: 'reduce',
  });
  const settle = await showFixed(context, seeded);
  const page = await context.newPage();
  page.setDefaultTimeout(STEP_MS);
  const devtools = await context.newCDPSession(page);
  for (const pictured of PAGES.filter(({ name }) => names === undefined || names.includes(name))) {
    await openPictured(page, seeded, pictured);
    await settle(page);
    const layouts: Layouts = {};
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: HEIGHTS[width] });
      layouts[width] = await page.evaluate(measureLayout);
      if (folder !== undefined) await takePictures(page, devtools, path.join(folder, `${pictured.name}-${width}`));
    }
    found.set(pictured.name, layouts);
  }
  await context.close();
  return found;
}

async function openPictured(page: Page, { service, accountKey, ids }: Seeded, pictured: PicturedPage): Promise<void> {
  await page.setViewportSize({ width: WIDTHS[0], height: HEIGHTS[WIDTHS[0]] });
  await page.goto('/healthz');
  await page.context().clearCookies();
  const admin = pictured.as === 'operator' ? service.adminToken : null;
  await page.evaluate((token) => {
    sessionStorage.clear();
    if (token !== null) sessionStorage.setItem('verbatim.admin', token);
  }, admin);
  if (pictured.as === undefined) {
    await page.request.post('/v1/session', { headers: { 'x-api-key': accountKey } });
  }
  await page.goto(`/#${pictured.place(ids)}`);
  await page.locator('main:has(h1):not(:has(.loading, [aria-busy=true]))').waitFor();
  await pictured.prepare?.(page);
}

/** WebP in the light theme, and in the dark one. */
async function takePictures(page: Page, devtools: CDPSession, file: string): Promise<void> {
  mkdirSync(path.dirname(file), { recursive: true });
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    const { data } = await devtools.send('Page.captureScreenshot', { format: 'webp', quality: QUALITY });
    writeFileSync(`${file}-${colorScheme}.webp`, Buffer.from(data, 'base64'));
  }
  await page.emulateMedia({ colorScheme: 'light' });
}
