import assert from 'node:assert/strict';
import test from 'node:test';
import { findChromium, openBrowser } from '../harness/browser.ts';
import { readLayouts } from './kept.ts';
import { differencesOf, type Layout } from './layout.ts';
import { openSeeded } from './seed.ts';
import { visitPages } from './take.ts';

// Pixels depend on the fonts and the browser of the machine: the boxes of landmarks, cards and tables do not.

const chromium = findChromium();
const skip = chromium ? false : 'NOT TESTED: the layouts of the console. Install Chromium, or name one in CHROMIUM.';

test('every page of the console has the layout that is kept', { skip }, async () => {
  await using seeded = await openSeeded();
  await using browser = await openBrowser(chromium!);

  const found = await visitPages(browser, seeded, {});

  const kept = readLayouts();
  const differences = [...found].flatMap(([name, layouts]) =>
    Object.entries(layouts).flatMap(([width, layout]) =>
      differencesOf(kept[name]?.[width], layout).map((difference) => `${name} at ${width}: ${difference}`),
    ),
  );
  const cure = 'If the change is intended, run test/console/pictures/run.ts.';
  assert.deepEqual([...differences, ...Object.keys(kept).filter((name) => !found.has(name))], [], cure);
});

const KEPT: Layout = {
  overflow: 0,
  boxes: [
    ['main', 224, 1216],
    ['h1', 252, 300],
  ],
};

for (const [title, now, expected] of [
  ['is the same', KEPT, []],
  ['has other fonts', { overflow: 0, boxes: [KEPT.boxes[0]!, ['h1', 252, 420]] }, []],
  ['is wider than its window', { ...KEPT, overflow: 30 }, ['is 30 px wider than the window']],
  ['lost a card', { overflow: 0, boxes: [KEPT.boxes[0]!] }, ['lacks h1']],
  [
    'moved',
    { overflow: 0, boxes: [['main', 200, 1240], KEPT.boxes[1]!] },
    ['main is at 200, 1240 wide; was at 224, 1216 wide'],
  ],
] satisfies [string, Layout, string[]][]) {
  test(`a layout that ${title}`, () => assert.deepEqual(differencesOf(KEPT, now as Layout), expected));
}
