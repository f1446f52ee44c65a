import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { findAccessibilityProblems } from './accessibility.ts';
import { findBrokenWords } from './broken-words.ts';
import type { WatchedPage } from './browser.ts';
import type { Devtools } from './devtools.ts';
import type { ConsoleFixture } from './fixture.ts';

/**
 * Something that a user does in the console. Each view has its flows in `test/console/<view>.ts`, which exports them as
 * `flows`; `browser.all.test.ts` finds the file and runs them, three at a time, all with one service and one Chromium.
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
  devtools: Devtools;
  /** Opens a view, signed in with the key: `/jobs?status=failed`. Waits for its title. */
  open(key: string, place: string): Promise<void>;
  /** The same as the operator. */
  openAsOperator(place: string): Promise<void>;
  /** Asserts that the view is accessible, and takes screenshots where they are wanted. */
  checkView(name: string): Promise<void>;
};

// A folder for screenshots of each view in both themes; absent: none are made.
const SCREENSHOTS = process.env['CONSOLE_SCREENSHOTS'];

/** Runs a flow in a page, and asserts that the page did nothing that no page may do. Leaves the page as it is. */
export async function runFlow(watched: WatchedPage, fixture: ConsoleFixture, flow: Flow): Promise<void> {
  const { page, devtools } = watched;
  await watched.reset();
  const openWith = async (signIn: () => Promise<unknown>, place: string) => {
    // After the reset, and not on a view: that would see the session change.
    if (new URL(page.url()).pathname !== '/healthz') await page.goto('/healthz');
    await signIn();
    await page.goto(`/#${place}`);
    await settle(page);
  };
  const { adminToken } = fixture.service;
  await flow.run({
    ...fixture,
    page,
    devtools,
    open: (key, place) => openWith(() => signInWith(page, key), place),
    openAsOperator: (place) =>
      openWith(() => page.evaluate((token) => sessionStorage.setItem('verbatim.admin', token), adminToken), place),
    async checkView(name) {
      await settle(page);
      assert.deepEqual(await findAccessibilityProblems(page, devtools), [], name);
      assert.deepEqual(await findBrokenWords(page), [], name);
      if (SCREENSHOTS) await takeScreenshots(page, SCREENSHOTS, name);
    },
  });
  assert.deepEqual(watched.problems(flow.allowed), []);
}

/** Gives the browser the cookie of a new session. */
async function signInWith(page: Page, key: string): Promise<void> {
  const answer = await page.request.post('/v1/session', { headers: { 'x-api-key': key } });
  assert.equal(answer.status(), 201);
}

/** Waits until nothing in the view says that it loads. */
async function settle(page: Page): Promise<void> {
  await page.locator('main:has(h1):not(:has(.loading))').waitFor();
}

async function takeScreenshots(page: Page, folder: string, name: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    await page.screenshot({ path: path.join(folder, `${name}-${colorScheme}.png`) });
  }
}
