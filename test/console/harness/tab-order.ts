import type { Page } from 'playwright-core';
import type { Devtools } from './devtools.ts';

type Stop = { element: Element; problem: string };
type Walk = { expected: Element[]; previous: Element | null; scrollY: number; stops: Stop[]; onKey: () => void };

const TAB = { type: 'rawKeyDown', key: 'Tab', code: 'Tab', windowsVirtualKeyCode: 9 } as const;
// Browsers let the Tab key stop at regions that scroll, too.
const MAX_REGIONS = 10;
const STOPS_PER_TIME_FIELD = 8;

/**
 * What is wrong with the way of the Tab key through the view, or through the dialog that is open: an element that the
 * user can operate and that it does not reach, another order than that of the page, and a focus that is not seen.
 * @param root  where the way begins and ends; absent: the dialog, or the view
 */
export async function findTabProblems(page: Page, devtools: Devtools, root = '.dialog, main'): Promise<string[]> {
  const { elements, timeFields } = await page.evaluate(startWalk, root);
  const keys = elements + MAX_REGIONS + timeFields * STOPS_PER_TIME_FIELD;
  // The keys are sent at once: what has the focus is looked at before the next key moves it.
  await Promise.all(Array.from({ length: keys }, () => devtools.send('Input.dispatchKeyEvent', TAB)));
  return (await page.evaluate(endWalk)).map((text) => `keyboard: ${text}`);
}

/** Runs in the page. Puts the focus before the first element, and counts those that must be reached. */
function startWalk(selector: string): { elements: number; timeFields: number } {
  // A dialog makes the view inert.
  const root = [...document.querySelectorAll<HTMLElement>(selector)].findLast((found) =>
    document.querySelector('.dialog') ? found.matches('.dialog') : true,
  )!;
  const operable = 'a[href], button, input, select, textarea, summary, audio[controls], [tabindex]';
  const isShown = (element: HTMLElement) =>
    element.checkVisibility({ visibilityProperty: true }) && !element.matches(':disabled, [type=hidden]');
  const expected = [...root.querySelectorAll<HTMLElement>(operable)].filter((element) => {
    // Of radio buttons with one name the Tab key reaches one; in lists, tabs and calendars the arrow keys move.
    const isOther = element instanceof HTMLInputElement && element.type === 'radio' && !element.checked;
    const isTitle = element.matches('h1, main') || element === root;
    const isInside = element.tabIndex < 0 && element.matches('[role=tab], [role=option], .calendar *');
    return isShown(element) && !isOther && !isTitle && !isInside;
  });
  const walk: Walk = {
    expected,
    previous: document.activeElement,
    scrollY,
    stops: [],
    onKey() {
      const element = document.activeElement!;
      // The first key finds the root, and those after the last element another part of the page.
      if (element !== root && root.contains(element) && element !== walk.stops.at(-1)?.element)
        walk.stops.push({ element, problem: problemOf(element) });
    },
  };
  const problemOf = (element: Element): string => {
    if ((element as HTMLElement).tabIndex > 0) return 'has a tabindex that changes the order';
    const { outlineStyle, outlineWidth } = getComputedStyle(element);
    if (outlineStyle === 'none' || Number.parseFloat(outlineWidth) < 1) return 'has no visible focus';
    const { left, right, top, bottom } = element.getBoundingClientRect();
    if (bottom <= 0 || top >= innerHeight || right <= 0 || left >= innerWidth)
      return 'has the focus outside of the window';
    const [x, y] = [
      (Math.max(left, 0) + Math.min(right, innerWidth)) / 2,
      (Math.max(top, 0) + Math.min(bottom, innerHeight)) / 2,
    ];
    const hit = document.elementFromPoint(x, y);
    const isCovered = hit !== null && !element.contains(hit) && !hit.contains(element) && !hit.closest('label');
    return isCovered ? `has the focus behind ${hit.outerHTML.slice(0, 80)}` : '';
  };
  Object.assign(globalThis, { walk });
  addEventListener('keydown', walk.onKey, { capture: true });
  root.tabIndex = -1;
  root.focus();
  return { elements: expected.length, timeFields: root.querySelectorAll('[type=datetime-local]').length };
}

/** Runs in the page. */
function endWalk(): string[] {
  const { walk } = globalThis as unknown as { walk: Walk };
  removeEventListener('keydown', walk.onKey, { capture: true });
  const name = (element: Element) => element.outerHTML.slice(0, 160);
  const firstAgain = walk.stops.findIndex(({ element }, index) => index > 0 && element === walk.stops[0]!.element);
  const stops = firstAgain < 0 ? walk.stops : walk.stops.slice(0, firstAgain);
  const reached = stops.map(({ element }) => element);
  // A control may be disabled once the page knows what the service offers.
  const missed = walk.expected.filter((element) => !reached.includes(element) && !element.matches(':disabled'));
  const found = [
    ...missed.map((element) => `not reached: ${name(element)}`),
    ...stops.filter(({ problem }) => problem !== '').map(({ element, problem }) => `${problem}: ${name(element)}`),
  ];
  // Its place depends on the scrolling.
  const isFloating = (element: Element | null): boolean =>
    element !== null && (/sticky|fixed/.test(getComputedStyle(element).position) || isFloating(element.parentElement));
  for (const [index, element] of reached.entries()) {
    const before = reached[index - 1];
    if (!before) continue;
    const [from, to] = [before.getBoundingClientRect(), element.getBoundingClientRect()];
    const isEarlier = (before.compareDocumentPosition(element) & Node.DOCUMENT_POSITION_PRECEDING) !== 0;
    const isAbove = to.bottom <= from.top && to.left < from.right && !isFloating(before) && !isFloating(element);
    if (isEarlier || isAbove) found.push(`reached after ${name(before)}: ${name(element)}`);
  }
  (walk.previous as HTMLElement | null)?.focus({ preventScroll: true });
  if (walk.previous === document.body) (document.activeElement as HTMLElement | null)?.blur();
  scrollTo(0, walk.scrollY);
  return found;
}
