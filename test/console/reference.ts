import assert from 'node:assert/strict';
import { findRuleProblems } from './harness/accessibility.ts';
import type { Flow } from './harness/flow.ts';

export const flows: Flow[] = [
  {
    title: 'the documentation is found by its search, with the keyboard alone',
    async run({ page, checkView }) {
      await page.goto('/docs/');
      await checkView('docs');
      await page.keyboard.press('/');
      await page.keyboard.type('verify signat');
      const hits = page.locator('#hits li a');
      await hits.first().waitFor();
      assert.match((await hits.first().textContent())!, /› Verify the signature/);
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Enter');
      await page.waitForURL(/\/docs\/webhooks/);
      assert.equal(await page.locator('.pages [aria-current]').textContent(), 'Webhooks');
      await checkView('docs-webhooks');
    },
  },
  {
    title: 'the API reference is accessible: all operations, and a form with each kind of field',
    async run({ page, checkView }) {
      await page.goto('/docs');
      const transcribe = page.locator('#operations-Transcription-post_transcribe .opblock-summary-control');
      // 1.7 MB of scripts, on a machine that is busy.
      await transcribe.waitFor({ timeout: 60_000 });
      assert.deepEqual(await findRuleProblems(page), []);
      await page.locator('.operation-filter-input').fill('Transcription');
      await page.locator('#operations-Balance-get_balance').waitFor({ state: 'detached' });
      await transcribe.click();
      await page.locator('[data-property-name="keywords"] input').first().waitFor();
      const boxes = page.getByRole('checkbox', { name: 'Send empty value' });
      const labels = await boxes.evaluateAll((found) => found.map((box) => (box as HTMLInputElement).labels!.length));
      assert.ok(labels.length > 10 && labels.every((count) => count === 1), `${labels}`);
      await checkView('reference');
    },
  },
  {
    title: 'the API reference has examples in three languages, and sends requests with a key',
    async run({ page, account }) {
      const { key } = await account();
      await page.goto('/docs');
      await page.locator('.opblock').first().waitFor({ timeout: 60_000 });
      await page.locator('#operations-Balance-get_balance .opblock-summary-control').click();
      const examples = page.getByRole('group', { name: 'Examples' });
      assert.match((await examples.locator('pre').textContent())!, /^curl "\$VERBATIM_URL\/v1\/balance"/);
      await examples.getByRole('button', { name: 'Python' }).click();
      assert.match((await examples.locator('pre').textContent())!, /balance = client\.balance\(\)/);
      assert.equal(await examples.getByRole('button', { pressed: true }).textContent(), 'Python');

      // The page with one tag is checked faster.
      await page.locator('.operation-filter-input').fill('Balance');
      await page.locator('#operations-Jobs-get_jobs').waitFor({ state: 'detached' });
      await page.getByRole('button', { name: 'Authorize' }).first().click();
      assert.deepEqual(await findRuleProblems(page), []);
      await page.locator('.dialog-ux input').first().fill(key);
      await page.locator('.dialog-ux .auth-btn-wrapper button').first().click();
      await page.locator('.dialog-ux .close-modal').click();
      await page.getByRole('button', { name: 'Execute' }).click();
      await page.locator('.live-responses-table .response-col_status', { hasText: '200' }).waitFor();
      assert.deepEqual(await findRuleProblems(page), []);

      const colours = () =>
        page.locator('#operations-Balance-get_balance').evaluate((operation) => {
          const path = operation.querySelector('.opblock-summary-path span')!;
          return [getComputedStyle(operation).backgroundColor, getComputedStyle(path).color];
        });
      const light = await colours();
      await page.emulateMedia({ colorScheme: 'dark' });
      const dark = await colours();
      assert.ok(light[0] !== dark[0] && light[1] !== dark[1], `${light} and ${dark}`);
      await page.emulateMedia({ colorScheme: 'light' });
      await page.getByRole('navigation', { name: 'Service' }).getByRole('link', { name: 'Console' }).waitFor();
    },
  },
];
