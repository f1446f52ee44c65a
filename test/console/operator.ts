import assert from 'node:assert/strict';
import type { Flow } from './harness/flow.ts';

export const flows: Flow[] = [
  {
    title: 'the console at the listener of operators asks for their token, and takes it',
    async run({ page, service }) {
      const ways = { setup: false, password: false, oidc: null };
      await page.route('**/v1/sign-in', (route) => route.fulfill({ json: ways }));
      await page.goto('/');
      await page.getByText('This page is for operators.').waitFor();
      await page.getByLabel("API key or operator's token").fill(service.adminToken);
      await page.getByRole('button', { name: 'Sign in with the key' }).click();

      await page.getByText(/^Signed in as the operator/).waitFor();
      assert.equal(await page.evaluate(() => sessionStorage.getItem('verbatim.admin')), service.adminToken);
      await page.unroute('**/v1/sign-in');
    },
  },
  {
    title: 'the operator creates an account, finds it by its name, and gives it credits',
    async run({ page, openAsOperator, checkView }) {
      const name = `Quill <i>${Date.now()}</i>`;
      await openAsOperator('/operator/accounts');
      await page.getByRole('button', { name: 'New account' }).click();
      const dialog = page.getByRole('dialog', { name: 'New account' });
      await dialog.getByLabel('Name').fill(name);
      await dialog.getByLabel('Credits').fill('2.5');
      await dialog.getByRole('button', { name: 'Create' }).click();
      await page.getByRole('heading', { name, exact: true }).waitFor();

      await page.getByLabel('Amount').fill('10');
      await page.getByLabel('Note').fill('invoice 7');
      await page.getByRole('button', { name: 'Add', exact: true }).click();
      await page.getByText('12.5', { exact: true }).waitFor();
      await page.getByRole('tab', { name: 'Ledger' }).click();
      const rows = page.getByRole('table', { name: 'Ledger' }).locator('tbody tr');
      await rows.getByText('invoice 7').waitFor();
      assert.equal(await rows.count(), 2);

      await page.getByRole('link', { name: 'Accounts', exact: true }).first().click();
      await page.getByLabel('Search').fill(name.toUpperCase());
      await page.waitForURL(/query=/);
      const found = page.getByRole('table', { name: 'Accounts' }).locator('tbody tr');
      await page.waitForFunction(() => document.querySelectorAll('main tbody tr').length === 1);
      assert.equal(await found.getByRole('link').textContent(), name);
      await checkView('operator-accounts-found');
    },
  },
  {
    title: 'the operator makes a key and a portal link for an account, and revokes the key',
    async run({ page, openAsOperator, account, service, checkView }) {
      const { id } = await account();
      await openAsOperator(`/operator/accounts/${id}?tab=keys`);
      await page.getByLabel('Name').fill('for the shop');
      await page.getByRole('checkbox', { name: 'jobs:read' }).check();
      await page.getByRole('button', { name: 'Create' }).click();
      const key = (await page.getByText(/^vb_\w{30,}/).textContent())!;
      const statusWithKey = async () =>
        (await fetch(`${service.baseUrl}/v1/jobs`, { headers: { 'x-api-key': key } })).status;
      assert.equal(await statusWithKey(), 200);
      await checkView('operator-account-keys');

      await page.getByRole('button', { name: 'Revoke for the shop' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
      await page.getByText('is revoked.').waitFor();
      assert.equal(await statusWithKey(), 401);

      await page.getByRole('tab', { name: 'Portal links' }).click();
      await page.getByRole('button', { name: 'Create' }).click();
      await page.getByRole('alert').filter({ hasText: 'Choose at least one scope.' }).waitFor();
      await page.getByRole('checkbox', { name: 'webhooks:read' }).check();
      await page.getByRole('button', { name: 'Create' }).click();
      const link = (await page.getByText(/#token=vb_/).textContent())!;
      assert.ok(link.startsWith(service.baseUrl), link);
    },
  },
  {
    title: 'engines of the plans are named, and commands are those that the operator can type',
    async run({ page, openAsOperator }) {
      await page.route(/\/admin\/v1\/models/, async (route) => {
        const answer = (await (await route.fetch()).json()) as object;
        await route.fulfill({ json: { ...answer, node: { host: 'front-1', transcribes: false } } });
      });

      await openAsOperator('/operator');
      await page.getByRole('row', { name: /^lite/ }).getByText('tone', { exact: true }).waitFor();
      await page.getByRole('link', { name: 'Models', exact: true }).click();
      await page.locator('dl > div').filter({ hasText: 'Plan lite' }).getByText('tone', { exact: true }).waitFor();

      // As bin/verbatim sets it for the tests.
      const command = process.env['VERBATIM_COMMAND'] ?? 'verbatim';
      await page.getByText(`${command} models pull NAME`).waitFor();
    },
  },
  {
    title: 'a model is pulled from the page, which shows the progress, and a pull is canceled',
    async run({ page, openAsOperator, checkView }) {
      const requests: string[] = [];
      let pull: object | null = null;
      const running = { model: 'parakeet-110m', status: 'running', message: null, total_bytes: 131_662_124 };
      const times = { started_at: new Date().toISOString(), ended_at: null };
      await page.route(/\/admin\/v1\/models/, async (route) => {
        const method = route.request().method();
        requests.push(`${method} ${new URL(route.request().url()).pathname}`);
        if (method === 'POST') {
          pull = { ...running, ...times, done_bytes: 65_831_062 };
          return route.fulfill({ status: 202, json: pull });
        }
        if (method === 'DELETE') {
          pull = { ...running, ...times, status: 'failed', message: 'The hub cannot be reached.', done_bytes: 0 };
          return route.fulfill({ json: pull });
        }
        const answer = (await (await route.fetch()).json()) as { data: object[] };
        return route.fulfill({ json: { ...answer, node: { host: 'gpu-1', transcribes: true }, pull } });
      });
      await openAsOperator('/operator/models');
      await page.getByRole('button', { name: 'Pull parakeet-110m' }).click();

      await page.getByText('65.8 MB of 132 MB, 50 %').waitFor();
      const bar = page.getByRole('progressbar', { name: 'Pulling parakeet-110m' });
      assert.equal(await bar.getAttribute('value'), '65831062');
      assert.ok(await page.getByRole('button', { name: 'Pull whisper-tiny' }).isDisabled());
      await page.getByText('Pull downloads a model to gpu-1').waitFor();
      await checkView('operator-models');

      await page.getByRole('button', { name: 'Cancel' }).click();
      await page.getByRole('alert').filter({ hasText: 'The hub cannot be reached.' }).waitFor();
      const route = '/admin/v1/models/parakeet-110m/pull';
      assert.deepEqual(
        requests.filter((each) => !each.startsWith('GET')),
        [`POST ${route}`, `DELETE ${route}`],
      );
    },
  },
  {
    title: 'the operator sees what runs, disabled webhooks, settings and changes, and no secrets',
    async run({ page, openAsOperator, account, receiver, service }) {
      const { api, id } = await account();
      const { name } = await api.account();
      const webhook = await api.webhooks.create({ url: receiver.url, events: ['transcription.failed'] });
      await api.webhooks.update(webhook.id, { active: false });

      await openAsOperator('/operator');
      const nodes = page.getByRole('table', { name: 'Nodes' });
      await nodes.getByText('ready', { exact: true }).waitFor();
      await page.getByRole('table', { name: 'Engines of the plans' }).getByRole('row', { name: /pro/ }).waitFor();

      await openAsOperator(`/operator/webhooks?active=false&account_id=${id}`);
      await page.getByRole('row', { name: `${webhook.url} ${name} disabled` }).waitFor();

      await openAsOperator('/operator/settings?source=set');
      const table = page.getByRole('table', { name: 'Settings' });
      await table.getByRole('row', { name: /WEBHOOK_TIMEOUT_MS 2500 set/ }).waitFor();
      assert.doesNotMatch((await table.textContent())!, new RegExp(service.adminToken));
      await page.getByLabel('Search').fill('retention');
      await table.getByText('AUDIO_RETENTION_HOURS').waitFor();

      await openAsOperator(`/operator/audit?account_id=${id}&action=webhook.changed`);
      const changes = page.getByRole('table', { name: 'Changes' }).locator('tbody tr');
      await changes.getByText(webhook.id).waitFor();
      assert.equal(await changes.count(), 1);
    },
  },
];
