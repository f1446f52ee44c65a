import type { Page } from 'playwright-core';

/** Opens a menu of the view and chooses an entry. @param button  names the menu, as a part of the button's name */
export async function choose(page: Page, button: string | RegExp, entry: string): Promise<void> {
  await page.getByRole('button', { name: button }).click();
  await page.getByRole('menu').getByText(entry, { exact: true }).click();
}
