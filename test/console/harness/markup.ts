import type { Page } from 'playwright-core';

// Without a slash: the name of a file would end at it.
const MARKUP = `'><xss-probe>"><img src=xss-probe onerror=isProbed=1><svg onload=isProbed=1><script>isProbed=1`;

/**
 * A text that shows in the page where a browser takes it for markup.
 * @param what  finds it again, in square brackets
 */
export function marked(what: string): string {
  return `[${what}]${MARKUP}`;
}

/** What was marked and is in the page as text, also in fields. */
export async function shownMarks(page: Page): Promise<Set<string>> {
  const text = await page.evaluate(() => {
    const fields = [...document.querySelectorAll<HTMLInputElement>('input, textarea')];
    return [document.body.textContent, ...fields.map(({ value }) => value)].join('\n');
  });
  return new Set([...text.matchAll(/\[([a-z -]+)\](?='>|%27%3E|%27>)/g)].map(([, what]) => what!));
}

/** What of the marked texts the browser has taken for markup; a script of them that ran. */
export async function findInterpreted(page: Page): Promise<string[]> {
  return await page.evaluate(() => {
    const probes = document.querySelectorAll(
      'xss-probe, [src*="xss-probe"], [onerror], [onload], body script:not([src]), [href^="javascript:"], [srcdoc]',
    );
    const ran = 'isProbed' in globalThis ? ['a script ran'] : [];
    return [...[...probes].map(({ outerHTML }) => outerHTML.slice(0, 200)), ...ran];
  });
}
