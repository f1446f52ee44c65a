import assert from 'node:assert/strict';
import { findAccessibilityProblems } from './harness/accessibility.ts';
import type { Flow } from './harness/flow.ts';
import { findTabProblems } from './harness/tab-order.ts';

type Fault = { tag: string; attributes: Record<string, string>; styles?: string; finds: RegExp };

/** Elements that are wrong in one mode each. */
const FAULTS: readonly Fault[] = [
  { tag: 'img', attributes: { id: 'everywhere' }, finds: /^light: image-alt: .*everywhere/ },
  {
    tag: 'p',
    attributes: { id: 'dim' },
    finds: /^dark: color-contrast: .*dim/,
    styles: '#dim { color: light-dark(#000, #222); background: light-dark(#fff, #111); }',
  },
  {
    tag: 'p',
    attributes: { id: 'forced' },
    finds: /^forced colours: color-contrast: .*forced/,
    styles: '@media (forced-colors: active) { #forced { forced-color-adjust: none; color: #777; background: #888; } }',
  },
  {
    tag: 'i',
    attributes: { id: 'current', 'aria-current': 'true' },
    finds: /^forced colours: looks like .*current/,
    styles: '#current { background: #ffe; }',
  },
  { tag: 'i', attributes: { id: 'other' }, finds: /^$/ },
  {
    tag: 'p',
    attributes: { id: 'large' },
    finds: /^200 % text: 1\d{3} px wide: .*large/,
    styles: '#large { width: 45rem; }',
  },
  {
    tag: 'p',
    attributes: { id: 'cut' },
    finds: /^200 % text: cut at 250 of \d+ px: .*cut/,
    styles: '#cut { width: 250px; white-space: nowrap; overflow: hidden; }',
  },
  {
    tag: 'p',
    attributes: { id: 'wide' },
    finds: /^320 px: \d+ px wide: .*wide/,
    styles: '#wide { min-width: 800px; }',
  },
  { tag: 'button', attributes: { id: 'skipped', tabindex: '-1' }, finds: /^keyboard: not reached: .*skipped/ },
  {
    tag: 'button',
    attributes: { id: 'unseen' },
    finds: /^keyboard: has no visible focus: .*unseen/,
    styles: '#unseen { outline: none; }',
  },
  {
    tag: 'button',
    attributes: { id: 'moved' },
    finds: /^keyboard: reached after .*unseen.*: .*moved/,
    styles: '#moved { display: block; position: relative; top: -6rem; }',
  },
  {
    tag: 'button',
    attributes: { id: 'aside' },
    finds: /^keyboard: has the focus outside of the window: .*aside/,
    styles: '#aside { position: fixed; left: -20rem; }',
  },
  {
    tag: 'button',
    attributes: { id: 'covered' },
    finds: /^keyboard: has the focus behind .*covered/,
    styles: '#covered { position: fixed; right: 0; bottom: 0; width: 3rem; }',
  },
  {
    tag: 'p',
    attributes: { id: 'cover' },
    finds: /^$/,
    styles:
      '#cover { position: fixed; right: 0; bottom: 0; width: 20rem; height: 5rem; margin: 0; background: Canvas; }',
  },
  { tag: 'button', attributes: { id: 'first', tabindex: '2' }, finds: /^keyboard: has a tabindex .*first/ },
];

export const flows: Flow[] = [
  {
    title: 'each fault that is planted in a view is found, in its mode',
    async run({ page, devtools, open, shown }) {
      await open(shown.key, '/keys');
      await page.evaluate(
        (faults) => {
          const sheet = new CSSStyleSheet();
          sheet.replaceSync(faults.map(({ styles = '' }) => styles).join('\n'));
          document.adoptedStyleSheets.push(sheet);
          const place = document.createElement('div');
          for (const { tag, attributes } of faults) {
            const element = document.createElement(tag);
            for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
            element.textContent = `A text that is as long as it must be: ${attributes['id']}`;
            place.append(element);
          }
          document.querySelector('main')!.append(place);
        },
        FAULTS.map(({ tag, attributes, styles = '' }) => ({ tag, attributes, styles })),
      );

      const found = await findAccessibilityProblems(page, devtools);

      const expected = FAULTS.filter(({ finds }) => finds.source !== '^$');
      assert.deepEqual(
        expected
          .filter(({ finds }) => !found.some((line) => finds.test(line)))
          .map(({ attributes }) => attributes['id']),
        [],
        found.join('\n'),
      );
    },
  },
  {
    title: 'the Tab key reaches the whole frame of the views, from the link that skips it',
    async run({ page, devtools, open, shown }) {
      await open(shown.key, '/');
      await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      await page.waitForFunction(() => document.activeElement?.id === 'main');

      assert.deepEqual(await findTabProblems(page, devtools, '.shell'), []);
    },
  },
];
