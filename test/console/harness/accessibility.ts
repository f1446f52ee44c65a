import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import type { Devtools } from './devtools.ts';
import { findTabProblems } from './tab-order.ts';

type AxeResults = { violations: { id: string; nodes: { html: string; failureSummary: string }[] }[] };
type Axe = { run(context: unknown, options: object): Promise<AxeResults> };

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const ALL_RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];
// Of the others, the result does not depend on the colours.
const COLOUR_RULES = ['color-contrast', 'link-in-text-block'];
// On a narrow page other elements are shown, such as the button of the menu.
const LAYOUT_RULES = ['target-size', 'scrollable-region-focusable', 'button-name'];
const NARROW_PX = 320;
const TEXT_PX = { standard: 16, fixed: 13 };

/**
 * What is missing for WCAG 2.2 AA in the page as it is now: in light, dark and forced colours, in a window of 320 px,
 * with text of twice the size, and for the keyboard. Each line begins with the mode. The page is left as it was.
 */
export async function findAccessibilityProblems(page: Page, devtools: Devtools): Promise<string[]> {
  const problems = [...(await findRuleProblems(page)), ...(await findTabProblems(page, devtools))];
  await page.emulateMedia({ forcedColors: 'active' });
  problems.push(...(await page.evaluate(findUnseenStates)), ...(await axe(page, 'forced colours', COLOUR_RULES)));
  await page.emulateMedia({ forcedColors: 'none' });

  await devtools.send('Page.setFontSizes', {
    fontSizes: { standard: 2 * TEXT_PX.standard, fixed: 2 * TEXT_PX.fixed },
  });
  problems.push(...(await fit(page, '200 % text')), ...(await axe(page, '200 % text', LAYOUT_RULES)));
  await devtools.send('Page.setFontSizes', { fontSizes: TEXT_PX });

  const before = page.viewportSize()!;
  await page.setViewportSize({ width: NARROW_PX, height: before.height });
  // What a panel shows beside a list on a wide page is the view itself on a narrow one.
  await page.locator('.side-panel').waitFor({ state: 'detached' });
  await page.locator('main:has(h1):not(:has(.loading))').waitFor();
  problems.push(...(await fit(page, '320 px')), ...(await axe(page, '320 px', LAYOUT_RULES)));
  await page.setViewportSize(before);
  return problems;
}

/** The part of it that no window size and no key changes: the rules of axe, in light and dark. */
export async function findRuleProblems(page: Page): Promise<string[]> {
  const problems = await axe(page, 'light', ALL_RULES);
  await page.emulateMedia({ colorScheme: 'dark' });
  problems.push(...(await axe(page, 'dark', COLOUR_RULES)));
  await page.emulateMedia({ colorScheme: 'light' });
  return problems;
}

/** @param rules  tags, or names of rules */
async function axe(page: Page, mode: string, rules: readonly string[]): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(AXE);
  await page.evaluate(waitUntilAppeared);
  const { violations } = await page.evaluate(
    async (given) => await (globalThis as unknown as { axe: Axe }).axe.run(document, given),
    // The other results take longer than the check.
    { runOnly: rules, resultTypes: ['violations'] },
  );
  return violations.map(
    ({ id, nodes }) =>
      `${mode}: ${id}: ${nodes.map(({ html, failureSummary }) => `${html}\n${failureSummary}`).join('\n')}`,
  );
}

/** Runs in the page. What still fades in, such as a dialog, has less contrast. */
async function waitUntilAppeared(): Promise<void> {
  const ending = document.getAnimations().filter(({ effect }) => effect?.getComputedTiming().endTime !== Infinity);
  await Promise.allSettled(ending.map(({ finished }) => finished));
}

/** Whether the page fits into the width of the window, and no text is cut. */
async function fit(page: Page, mode: string): Promise<string[]> {
  return (await page.evaluate(findOverflow)).map((text) => `${mode}: ${text}`);
}

/** Runs in the page. */
function findOverflow(): string[] {
  const shown = [...document.querySelectorAll<HTMLElement>('main *, header *, .dialog *')];
  const found: string[] = [];
  if (document.documentElement.scrollWidth > innerWidth) {
    const right = (element: Element) => element.getBoundingClientRect().right;
    const widest = shown.reduce((most, element) => (right(element) > right(most) ? element : most));
    found.push(`${document.documentElement.scrollWidth} px wide: ${widest.outerHTML.slice(0, 200)}`);
  }
  for (const element of shown) {
    const { overflowX, textOverflow } = getComputedStyle(element);
    // Text with an ellipsis is shown whole elsewhere; a width of 1 px is for screen readers only.
    const mayCut = textOverflow === 'ellipsis' || element.clientWidth <= 1 || element.textContent === '';
    if (['hidden', 'clip'].includes(overflowX) && !mayCut && element.scrollWidth > element.clientWidth + 1) {
      found.push(`cut at ${element.clientWidth} of ${element.scrollWidth} px: ${element.outerHTML.slice(0, 200)}`);
    }
  }
  return found;
}

/**
 * What is chosen or current, and looks like what is not:
 * backgrounds and shadows have no colours of their own. Runs in the page.
 */
function findUnseenStates(): string[] {
  const states = ['[aria-current]:not([aria-current=false])', '[aria-selected=true]', '[aria-pressed=true]'];
  const paper = getComputedStyle(document.body).backgroundColor;
  const look = (element: Element) => {
    const style = getComputedStyle(element);
    const ground = /, 0\)$/.test(style.backgroundColor) ? paper : style.backgroundColor;
    const colours = [style.color, ground, style.borderBottomColor, style.borderLeftColor];
    return [...colours, style.outlineStyle, style.borderStyle, style.fontWeight, style.textDecorationLine].join();
  };
  return states.flatMap((state) =>
    [...document.querySelectorAll(`:is(main, header, .dialog) ${state}`)]
      .filter((element) => {
        const others = [...element.parentElement!.children].filter(
          (other) => other.tagName === element.tagName && !other.matches(state),
        );
        return others.some((other) => look(other) === look(element));
      })
      .map((element) => `forced colours: looks like the others: ${element.outerHTML.slice(0, 160)}`),
  );
}
