import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { assertAccessible } from './accessibility.ts';
import { openPage } from './browser.ts';
import type { ConsoleFixture } from './fixture.ts';

/**
 * Something that a user does in the console. Each view has its flows in `test/console/<view>.ts`, which exports them as
 * `flows`; `browser.test.ts` finds the file and runs them, two at a time, all with one service and one Chromium.
 */
export type Flow = {
  /** A sentence about behaviour. */
  title: string;
  run: (flow: FlowContext) => Promise<void>;
  /** Messages that the flow causes on purpose. */
  allowed?: readonly RegExp[];
};

export type FlowContext = ConsoleFixture & {
  page: Page;
  /** Opens a view, signed in with the key: `/jobs?status=failed`. Waits for its title. */
  open(key: string, place: string): Promise<void>;
  /** The same as the operator. */
  openAsOperator(place: string): Promise<void>;
  /** axe, 320 px, and screenshots where they are wanted. */
  checkView(name: string): Promise<void>;
};

// A folder for screenshots of each view in both themes; absent: none are made.
const SCREENSHOTS = process.env['CONSOLE_SCREENSHOTS'];

/** Runs a flow in a page of its own, and asserts that the page did nothing that no page may do. */
export async function runFlow(browser: Browser, fixture: ConsoleFixture, flow: Flow): Promise<void> {
  await using watched = await openPage(browser, fixture.service.baseUrl, flow.allowed);
  const { page } = watched;
  const openWith = async (slot: string, secret: string, place: string) => {
    await page.goto('/healthz');
    await page.evaluate(([name, value]) => sessionStorage.setItem(name!, value!), [slot, secret]);
    await page.goto(`/#${place}`);
    await page.locator('main h1').waitFor();
    await settle(page);
  };
  await flow.run({
    ...fixture,
    page,
    open: (key, place) => openWith('verbatim.key', key, place),
    openAsOperator: (place) => openWith('verbatim.admin', fixture.service.adminToken, place),
    async checkView(name) {
      await settle(page);
      await assertAccessible(page, name);
      if (SCREENSHOTS) await takeScreenshots(page, SCREENSHOTS, name);
    },
  });
  assert.deepEqual(watched.problems(), []);
}

/** Waits until nothing in the view says that it loads. */
async function settle(page: Page): Promise<void> {
  await page.waitForFunction(() => document.querySelector('main h1') && !document.querySelector('main .loading'));
}

async function takeScreenshots(page: Page, folder: string, name: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    await page.screenshot({ path: path.join(folder, `${name}-${colorScheme}.png`) });
  }
}
