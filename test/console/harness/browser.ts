import { accessSync, constants } from 'node:fs';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import type { Devtools } from './devtools.ts';

// Of one step. A machine that runs other tests at the same time is ten times as slow.
const STEP_MS = 20_000;
const CANDIDATES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** The Chromium to test in: `CHROMIUM`, or that of the system; null where there is none. */
export function findChromium(): string | null {
  return [process.env['CHROMIUM'], ...CANDIDATES].find((file) => file && isExecutable(file)) ?? null;
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * One Chromium. Its microphone hears a file again and again, and permission for it is given without a question.
 * @param spoken  the file, a WAV; absent: a beep
 */
export async function openBrowser(executablePath: string, spoken?: string): Promise<Browser> {
  return await chromium.launch({
    executablePath,
    args: [
      // Tests may run as root, and in containers with a small /dev/shm.
      ...['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'],
      ...['--use-fake-ui-for-media-stream', '--use-fake-device-for-media-stream'],
      ...(spoken === undefined ? [] : [`--use-file-for-fake-audio-capture=${spoken}`]),
    ],
  });
}

/** A page that records what no page may do, and that one flow after the other uses. */
export type WatchedPage = AsyncDisposable & {
  page: Page;
  devtools: Devtools;
  /**
   * Empties what a flow left in the page: routes, listeners, storage, and the document.
   * Leaves it at the origin of the service.
   */
  reset(): Promise<void>;
  /**
   * Errors, violations of the policy and requests to other hosts since the last reset.
   * @param allowed  parts of messages that the test causes on purpose
   */
  problems(allowed?: readonly RegExp[]): string[];
};

/** A page in a context of its own. A second page or document costs a renderer process, and much of it anew. */
export async function openPage(browser: Browser, baseUrl: string): Promise<WatchedPage> {
  const context = await browser.newContext({
    baseURL: baseUrl,
    viewport: { width: 1280, height: 900 },
    locale: 'en-GB',
  });
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: baseUrl });
  const found: string[] = [];
  // Listeners of the context: those of the page are the flows', and are removed after each.
  await watchPolicy(context, (text) => void found.push(text));
  watchEvents(context, new URL(baseUrl).origin, (text) => void found.push(text));
  const page = await context.newPage();
  page.setDefaultTimeout(STEP_MS);
  const devtools = await context.newCDPSession(page);
  await devtools.send('Performance.enable', { timeDomain: 'threadTicks' });
  return {
    page,
    devtools,
    async reset() {
      page.removeAllListeners();
      await context.clearCookies();
      await page.unrouteAll({ behavior: 'ignoreErrors' });
      // A document of the service without scripts.
      await page.goto('/healthz');
      await page.evaluate(() => {
        sessionStorage.clear();
        localStorage.clear();
      });
      found.length = 0;
    },
    problems: (allowed = []) => found.filter((text) => !allowed.some((pattern) => pattern.test(text))),
    [Symbol.asyncDispose]: () => context.close(),
  };
}

async function watchPolicy(context: BrowserContext, report: (text: string) => void): Promise<void> {
  await context.exposeBinding('reportViolation', (_source, text: string) => report(`policy: ${text}`));
  await context.addInitScript(() => {
    document.addEventListener(
      'securitypolicyviolation',
      ({ violatedDirective, blockedURI, sourceFile, lineNumber }) => {
        const { reportViolation } = globalThis as unknown as { reportViolation(text: string): void };
        reportViolation(`${violatedDirective} ${blockedURI} ${sourceFile}:${lineNumber}`);
      },
    );
  });
}

function watchEvents(context: BrowserContext, origin: string, report: (text: string) => void): void {
  context.on('console', (message) => {
    // Chromium logs each answer with an error status; what the console does about them is asserted by the tests.
    if (message.type() === 'error' && !/Failed to load resource/.test(message.text()))
      report(`console: ${message.text()}`);
  });
  context.on('weberror', (thrown) => report(`error: ${thrown.error().stack ?? thrown.error().message}`));
  context.on('request', (request) => {
    const url = new URL(request.url());
    if (url.origin !== origin && !['blob:', 'data:'].includes(url.protocol)) report(`request: ${url}`);
  });
}
