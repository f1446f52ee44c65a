import assert from 'node:assert/strict';
import type { Flow } from './harness/flow.ts';

export const flows: Flow[] = [
  {
    title: 'the API reference has examples in three languages, and sends requests with a key',
    async run({ page, account }) {
      const { key } = await account();
      await page.goto('/docs');
      // 1.7 MB of scripts, on a machine that is busy.
      await page.locator('.opblock').first().waitFor({ timeout: 60_000 });
      await page.locator('#operations-Balance-get_balance .opblock-summary-control').click();
      const examples = page.getByRole('group', { name: 'Examples' });
      assert.match((await examples.locator('pre').textContent())!, /^curl "\$VERBATIM_URL\/v1\/balance"/);
      await examples.getByRole('button', { name: 'Python' }).click();
      assert.match((await examples.locator('pre').textContent())!, /balance = client\.balance\(\)/);
      assert.equal(await examples.getByRole('button', { pressed: true }).textContent(), 'Python');

      await page.getByRole('button', { name: 'Authorize' }).first().click();
      await page.locator('.dialog-ux input').first().fill(key);
      await page.locator('.dialog-ux .auth-btn-wrapper button').first().click();
      await page.locator('.dialog-ux .close-modal').click();
      await page.getByRole('button', { name: 'Execute' }).click();
      await page.locator('.live-responses-table .response-col_status', { hasText: '200' }).waitFor();
    },
  },
];
