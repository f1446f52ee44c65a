import { accessSync, constants } from 'node:fs';
import type { Browser, Page } from 'playwright-core';
import { chromium } from 'playwright-core';

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

/** One Chromium. Its microphone plays beeps, and permission for it is given without a question. */
export async function openBrowser(executablePath: string): Promise<Browser> {
  return await chromium.launch({
    executablePath,
    args: [
      // Tests may run as root, and in containers with a small /dev/shm.
      ...['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'],
      ...['--use-fake-ui-for-media-stream', '--use-fake-device-for-media-stream'],
    ],
  });
}

export type WatchedPage = AsyncDisposable & {
  page: Page;
  /** What no page may do, so far. Answers with these statuses are expected by a test, and not listed. */
  problems: () => string[];
};

/**
 * A page in a context of its own, in which errors, violations of the policy and requests to other hosts are recorded.
 * @param allowed  parts of messages that the test causes on purpose
 */
export async function openPage(
  browser: Browser,
  baseUrl: string,
  allowed: readonly RegExp[] = [],
): Promise<WatchedPage> {
  const context = await browser.newContext({
    baseURL: baseUrl,
    viewport: { width: 1280, height: 900 },
    locale: 'en-GB',
  });
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: baseUrl });
  const page = await context.newPage();
  page.setDefaultTimeout(STEP_MS);
  const found: string[] = [];
  await page.exposeBinding('reportViolation', (_source, text: string) => void found.push(`policy: ${text}`));
  await page.addInitScript(() => {
    document.addEventListener(
      'securitypolicyviolation',
      ({ violatedDirective, blockedURI, sourceFile, lineNumber }) => {
        const { reportViolation } = globalThis as unknown as { reportViolation(text: string): void };
        reportViolation(`${violatedDirective} ${blockedURI} ${sourceFile}:${lineNumber}`);
      },
    );
  });
  page.on('console', (message) => {
    // Chromium logs each answer with an error status; what the console does about them is asserted by the tests.
    if (message.type() === 'error' && !/Failed to load resource/.test(message.text()))
      found.push(`console: ${message.text()}`);
  });
  page.on('pageerror', (error) => found.push(`error: ${error.stack ?? error.message}`));
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (url.origin !== new URL(baseUrl).origin && !['blob:', 'data:'].includes(url.protocol))
      found.push(`request: ${url}`);
  });
  return {
    page,
    problems: () => found.filter((text) => !allowed.some((pattern) => pattern.test(text))),
    [Symbol.asyncDispose]: () => context.close(),
  };
}
