import type { Page } from 'playwright-core';

/**
 * The words that stand on two lines in cells of tables, but for names and ids of strangers, which may be longer than a
 * column. Not on narrow screens.
 */
export async function findBrokenWords(page: Page): Promise<string[]> {
  return await page.evaluate(() => {
    const broken: string[] = [];
    const cells = document.querySelectorAll('td:not(.long)');
    for (const cell of cells) {
      const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
      while (texts.nextNode()) {
        const node = texts.currentNode as Text;
        if (node.parentElement!.closest('code, .url')) continue;
        for (const { 0: word, index } of node.data.matchAll(/[\p{L}\p{N}.,:]+/gu)) {
          const range = document.createRange();
          range.setStart(node, index);
          range.setEnd(node, index + word.length);
          const lines = new Set([...range.getClientRects()].map(({ top }) => Math.round(top)));
          if (lines.size > 1) broken.push(`${cell.getAttribute('data-head')}: ${word}`);
        }
      }
    }
    return broken;
  });
}
