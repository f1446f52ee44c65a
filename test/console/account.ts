import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { until } from '../fixtures/until.ts';
import { toneFile } from './harness/fixture.ts';
import type { Flow } from './harness/flow.ts';
import { choose } from './harness/menu.ts';

// Home, usage, keys and start.

export const flows: Flow[] = [
  {
    title: 'home shows the balance, the newest jobs, the first steps, and webhooks that fail',
    async run({ page, account, open }) {
      const { key, api } = await account({ credits: 50 });
      await open(key, '/');
      await page.getByText('50', { exact: true }).waitFor();
      await page.getByText('No jobs yet.').waitFor();
      await page.getByRole('link', { name: 'Add a webhook' }).waitFor();

      const { id } = await api.webhooks
        .create({ url: 'https://127.0.0.1:9/hook', events: ['webhook.test'] })
        .catch(() =>
          // No such target is allowed: a name that does not resolve.
          api.webhooks.create({ url: 'https://hooks.nothing-here.example/', events: ['webhook.test'] }),
        );
      await api.transcribe(toneFile('hello'));
      await api.webhooks.test(id);
      await until('the failure', async () => (await api.webhooks.get(id)).consecutive_failures > 0);
      await page.reload();

      const failing = page.getByRole('region', { name: '1 webhook is failing' });
      await failing.getByText('1 failed').waitFor();
      await failing.getByText('dns', { exact: true }).waitFor();
      await page.getByRole('link', { name: 'hello.wav' }).waitFor();
    },
  },
  {
    title: 'home tells of deliveries that failed for good in the last week, with a link to each event',
    async run({ page, account, open }) {
      const { key } = await account();
      const event = (id: string, type: string, days: number) => ({
        id,
        type,
        job_id: null,
        created_at: new Date(Date.now() - days * 86_400_000).toISOString(),
      });
      const webhook = { id: 'wh_1', url: 'https://hooks.example.com/', consecutive_failures: 10 };
      // A delivery is given up after half an hour.
      await page.route('/v1/events?type=webhook.disabled*', (route) =>
        route.fulfill({
          json: { data: [event('evt_old', 'webhook.disabled', 8)], has_more: false, next_cursor: null },
        }),
      );
      await page.route('/v1/events?type=webhook.exhausted*', (route) =>
        route.fulfill({
          json: { data: [event('evt_new', 'webhook.exhausted', 1)], has_more: false, next_cursor: null },
        }),
      );
      await page.route('/v1/events/evt_new', (route) => {
        const found = event('evt_new', 'webhook.exhausted', 1);
        return route.fulfill({ json: { ...found, payload: { ...found, data: { webhook } }, deliveries: [] } });
      });

      await open(key, '/');

      const told = page.getByRole('region', { name: 'Deliveries that failed for good' });
      await told.getByText('did not accept an event in any attempt').waitFor();
      assert.deepEqual(
        await told.getByRole('link').evaluateAll((links) => links.map((link) => link.getAttribute('href'))),
        ['#/webhooks/wh_1', '#/events/evt_new'],
      );
    },
  },
  {
    title: 'usage and ledger are shown by day, and saved as CSV',
    async run({ page, account, open, checkView }) {
      const { key, api } = await account({ credits: 50 });
      await api.transcribe(toneFile('hello'));
      await api.transcribe(toneFile('hello'), { plan: 'lite' });
      await open(key, '/usage');
      const rows = page.getByRole('table', { name: 'Usage', exact: true }).locator('[data-row]');
      await rows.nth(1).waitFor();
      assert.deepEqual((await rows.locator('td:nth-child(2)').allTextContents()).sort(), ['lite', 'pro']);
      await page.locator('canvas').waitFor();

      await choose(page, /^By/, 'hour');
      await page.locator('figcaption', { hasText: 'Minutes of audio by hour' }).waitFor();
      const saving = page.waitForEvent('download');
      await page.getByRole('button', { name: 'Download as CSV' }).click();
      const lines = readFileSync(await (await saving).path(), 'utf8')
        .trim()
        .split('\r\n');
      assert.equal(lines[0], 'start,end,group,jobs,failed,canceled,audio_seconds,billed_seconds,cost');
      assert.equal(lines.length, 3);

      await page.getByRole('tab', { name: 'Ledger' }).click();
      const entries = page.getByRole('table', { name: 'Ledger' }).locator('[data-row]');
      await entries.nth(4).waitFor();
      assert.deepEqual(await entries.locator('td:nth-child(3)').allTextContents(), [
        ...['capture', 'hold', 'capture', 'hold', 'credit'],
      ]);
      await checkView('ledger');
      await page.reload();
      await page.getByRole('tab', { name: 'Ledger', selected: true }).waitFor();
    },
  },
  {
    title: 'days and months of usage are those of UTC in every time zone, and have no time of day',
    async run({ page, account, open, devtools }) {
      const { key, api } = await account();
      await api.transcribe(toneFile('hello'));
      const [{ start } = { start: '' }] = (await api.usage({ bucket: 'day' })).data;
      const dateOf = (options: Intl.DateTimeFormatOptions) =>
        new Intl.DateTimeFormat('en-GB', { ...options, timeZone: 'UTC' }).format(new Date(start));
      const [day, month] = [dateOf({ dateStyle: 'medium' }), dateOf({ month: 'short', year: 'numeric' })];
      const shown = page.getByRole('table', { name: 'Usage', exact: true }).locator('[data-row] td:first-child');
      try {
        for (const timezoneId of ['Asia/Kolkata', 'America/Los_Angeles']) {
          await devtools.send('Emulation.setTimezoneOverride', { timezoneId });
          await open(key, '/usage');
          assert.deepEqual(await shown.allTextContents(), [day]);
          await page.getByText('Minutes of audio by day as a table').click();
          await page.locator('.chart-values').getByRole('cell', { name: day, exact: true }).waitFor();
          await open(key, '/usage?bucket=month');
          assert.deepEqual(await shown.allTextContents(), [month]);
        }
      } finally {
        await devtools.send('Emulation.setTimezoneOverride', { timezoneId: '' });
      }
    },
  },
  {
    title: 'a key is made with scopes, shown one time, and revoked after a question',
    async run({ page, account, open, checkView }) {
      const { key, api } = await account();
      await open(key, '/keys');

      await page.getByRole('button', { name: 'New key' }).click();
      const dialog = page.getByRole('dialog', { name: 'New key' });
      await dialog.getByLabel('Name').fill('website');
      await dialog.getByLabel('jobs:read').check();
      await dialog.getByLabel('Expires').selectOption('30');
      await checkView('new-key');
      await dialog.getByRole('button', { name: 'Create' }).click();

      const secret = (await page.locator('.secret').textContent())!;
      assert.match(secret, /^vb_\w{49}$/);
      const made = (await api.keys.list()).data.find(({ name }) => name === 'website')!;
      assert.deepEqual(made.scopes, ['jobs:read']);
      assert.ok(made.expires_at);
      await page.getByRole('button', { name: 'Copy The new key' }).click();
      assert.equal(await page.evaluate(() => navigator.clipboard.readText()), secret);
      await page.reload();
      await page.getByRole('button', { name: 'Revoke website' }).click();
      assert.equal(await page.locator('.secret').count(), 0);

      const question = page.getByRole('dialog', { name: 'Revoke the key “website”?' });
      await question.getByRole('button', { name: 'Keep' }).click();
      assert.equal((await api.keys.list()).data.length, 2);
      await page.getByRole('button', { name: 'Revoke website' }).click();
      await question.getByRole('button', { name: 'Revoke' }).click();
      await page.getByText(/The key vb_\w+… is revoked\./).waitFor();
      assert.equal((await api.keys.list()).data.length, 1);
    },
  },
  {
    title: 'a view that the rate limit refuses counts down, while other views go on',
    async run({ page, account, open }) {
      const { key } = await account();
      let asked = 0;
      await page.route('/v1/keys*', async (route) => {
        if (++asked > 1) return await route.continue();
        const error = { message: 'At most 600 requests in 60 s.', code: 429, type: 'rate_limited' };
        const body = JSON.stringify({ error, retry_after: 3, request_id: 'req_1' });
        await route.fulfill({ status: 429, headers: { 'retry-after': '3' }, contentType: 'application/json', body });
      });
      await open(key, '/keys');

      const problem = page.getByRole('alert');
      await problem.getByText('At most 600 requests in 60 s.').waitFor();
      await problem.getByRole('button', { name: /Again in \d s/ }).waitFor();
      assert.equal(await problem.getByRole('button').isDisabled(), true);

      await page.getByRole('table', { name: 'Keys' }).waitFor();
      assert.equal(asked, 2);
      assert.equal(await problem.count(), 0);
    },
  },
  {
    title: 'without an answer a banner says so, and the last data remains',
    async run({ page, account, open }) {
      const { key } = await account();
      await open(key, '/keys');
      await page.getByRole('table', { name: 'Keys' }).waitFor();

      await page.route('/v1/**', (route) => route.abort('connectionrefused'));
      await page.getByRole('button', { name: 'New key' }).click();
      await page.getByRole('button', { name: 'Create' }).click();
      await page.getByRole('dialog').getByText('Cannot reach the service.').waitFor();
      await page.keyboard.press('Escape');
      await page.getByRole('link', { name: 'Usage' }).click();
      await page.locator('.banner').waitFor();
      await page.getByRole('link', { name: 'Keys' }).click();
      await page.getByRole('table', { name: 'Keys' }).waitFor();

      await page.unroute('/v1/**');
      await page.getByRole('link', { name: 'Jobs', exact: true }).click();
      await page.getByText('No jobs yet').waitFor();
      await page.locator('.banner').waitFor({ state: 'detached' });
    },
  },
  {
    title: 'the examples of the start say when their job has arrived',
    async run({ page, account, open, service }) {
      const { key, api } = await account();
      await open(key, '/start');
      const section = (name: string) => page.getByRole('region', { name, exact: true });
      await section('curl').getByText(`curl '${service.baseUrl}/v1/transcribe'`).waitFor();
      await section('curl').getByText('waiting').waitFor();

      await api.transcribe(toneFile('hello'), { metadata: { start: 'sdk' } });

      await section('TypeScript').getByText('received').waitFor();
      await section('curl').getByText('waiting').waitFor();
      await page.reload();
      await section('TypeScript').getByRole('link', { name: 'Open the job' }).click();
      await page.waitForURL((url) => url.hash.startsWith('#/jobs/job_'));
    },
  },
];
