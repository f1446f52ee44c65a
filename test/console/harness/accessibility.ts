import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

type AxeResults = { violations: { id: string; help: string; nodes: { html: string; failureSummary: string }[] }[] };
type Axe = { run(context: unknown, options: object): Promise<AxeResults> };

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];
const NARROW_PX = 320;

/** Asserts what WCAG 2.2 AA asks of the page as it is now: in light and dark, and that it fits into 320 px. */
export async function assertAccessible(page: Page, name: string): Promise<void> {
  await page.emulateMedia({ colorScheme: 'light' });
  await assertNoViolations(page, `${name}, light`, { runOnly: TAGS });
  await page.emulateMedia({ colorScheme: 'dark' });
  await assertNoViolations(page, `${name}, dark`, { runOnly: { type: 'rule', values: ['color-contrast'] } });
  await page.emulateMedia({ colorScheme: 'light' });
  const before = page.viewportSize()!;
  await page.setViewportSize({ width: NARROW_PX, height: before.height });
  const width = await page.evaluate(() => document.documentElement.scrollWidth);
  const widest = width > NARROW_PX ? await page.evaluate(findWidest) : '';
  assert.ok(width <= NARROW_PX, `${name} is ${width} px wide in a window of ${NARROW_PX} px: ${widest}`);
  await page.setViewportSize(before);
}

async function assertNoViolations(page: Page, name: string, options: object): Promise<void> {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(AXE);
  const { violations } = await page.evaluate(
    async (given) => await (globalThis as unknown as { axe: Axe }).axe.run(document, given),
    // The other results take longer than the check.
    { ...options, resultTypes: ['violations'] },
  );
  const found = violations.map(
    ({ id, nodes }) => `${id}: ${nodes.map(({ html, failureSummary }) => `${html}\n${failureSummary}`).join('\n')}`,
  );
  assert.deepEqual(found, [], name);
}

/** The element that reaches the farthest to the right. Runs in the page. */
function findWidest(): string {
  const right = (element: Element) => element.getBoundingClientRect().right;
  const all = [...document.querySelectorAll('main *, header *')];
  return all.reduce((widest, element) => (right(element) > right(widest) ? element : widest)).outerHTML.slice(0, 200);
}
