/** The layout of a page in a window of one width, in CSS pixels. */
export type Layout = {
  /** How far the page is wider than the window. */
  overflow: number;
  /** Landmarks, headings, cards and columns of tables: what each is, its left edge and its width. */
  boxes: [what: string, left: number, width: number][];
};

/** Runs in the page. */
export function measureLayout(): Layout {
  const wanted = 'header, nav, main, h1, h2, section[aria-label], table, form[aria-label], [role=tablist], aside';
  const isShown = (element: Element) => element.checkVisibility({ visibilityProperty: true });
  const boxes = [...document.querySelectorAll(wanted)].filter(isShown).map((element): Layout['boxes'][number] => {
    const { left, width } = element.getBoundingClientRect();
    const name = element.getAttribute('aria-label') ?? element.querySelector('caption')?.textContent ?? '';
    const label = name.replace(/\b[a-z]+_[0-9a-z]{26}\b/g, 'ID');
    const heads = [...element.querySelectorAll('th')].map(({ textContent }) => textContent).join(', ');
    const what = element.localName === 'table' ? `table ${label}: ${heads}` : `${element.localName} ${label}`.trim();
    return [what, Math.round(left), Math.round(width)];
  });
  return { overflow: document.documentElement.scrollWidth - innerWidth, boxes };
}

// Texts are as wide as the fonts of the machine make them.
const TEXT = /^h[12]\b/;
const TOLERANCE_PX = 12;

/** What differs between the layout that is kept and that of now; empty where nothing does. */
export function differencesOf(kept: Layout | undefined, now: Layout): string[] {
  const found: string[] = [];
  if (now.overflow > 0) found.push(`is ${now.overflow} px wider than the window`);
  if (kept === undefined) return [...found, 'has no layout yet'];
  const names = ({ boxes }: Layout) => boxes.map(([what]) => what);
  const missing = names(kept).filter((what) => !names(now).includes(what));
  const added = names(now).filter((what) => !names(kept).includes(what));
  found.push(...missing.map((what) => `lacks ${what}`), ...added.map((what) => `has a new ${what}`));
  if (missing.length + added.length > 0) return found;
  for (const [index, [what, left, width]] of now.boxes.entries()) {
    const [keptWhat, keptLeft, keptWidth] = kept.boxes[index]!;
    const isMoved = Math.abs(left - keptLeft) > TOLERANCE_PX;
    const isResized = !TEXT.test(what) && Math.abs(width - keptWidth) > TOLERANCE_PX;
    if (what !== keptWhat) found.push(`${what} stands in place of ${keptWhat}`);
    else if (isMoved || isResized)
      found.push(`${what} is at ${left}, ${width} wide; was at ${keptLeft}, ${keptWidth} wide`);
  }
  return found;
}
