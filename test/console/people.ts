import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { VerbatimAdmin } from '../../sdk/src/client/index.ts';
import { setupTokenOf } from '../../src/accounts/people/credentials/setup-token.ts';
import type { Flow } from './harness/flow.ts';
import { choose } from './harness/menu.ts';

const PASSWORD = 'correct horse battery';

/** Signed out, signs in with a password. */
async function signIn(page: Page, email: string, password = PASSWORD): Promise<void> {
  await page.getByRole('form', { name: 'Sign in', exact: true }).waitFor();
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.keyboard.press('Enter');
}

async function signOut(page: Page): Promise<void> {
  await choose(page, 'Account menu', 'Sign out');
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
}

export const flows: Flow[] = [
  {
    title: 'the first visit makes the owner, who invites somebody, changes the role, and removes them',
    async run({ page, service, account, checkView }) {
      const token = setupTokenOf(readFileSync(path.join(service.dataDir, 'secrets-key'), 'utf8').trim());
      await page.goto('/');
      await page.getByText('This service has no users yet.').waitFor();
      await checkView('before-setup');

      await page.goto(`/#setup=${token}`);
      await page.getByRole('heading', { name: 'Welcome to Verbatim' }).waitFor();
      assert.doesNotMatch(page.url(), /setup/);
      await checkView('setup');
      await page.getByLabel('Your name').fill('Olga');
      await page.getByLabel('Email').fill('olga@example.com');
      await page.getByLabel('Password').fill(PASSWORD);
      await page.getByLabel('Team').fill('Acme');
      await page.getByRole('button', { name: 'Create the account' }).click();
      await page.locator('.who', { hasText: 'Acme' }).waitFor();

      // An operator too, without the token.
      await page.getByRole('link', { name: 'Audit log' }).click();
      await page.getByRole('table').getByText('user.joined').waitFor();

      await page.keyboard.press('Control+k');
      await page.getByRole('searchbox', { name: 'View, command' }).fill('People');
      await page.keyboard.press('Enter');
      await page.getByRole('table', { name: 'People' }).getByText('Olga (you)').waitFor();
      await page.getByRole('button', { name: 'Invite' }).click();
      const dialog = page.getByRole('dialog', { name: 'Invite' });
      await dialog.getByLabel('Role').selectOption('viewer');
      await dialog.getByLabel('Email').fill('vera@example.com');
      await checkView('invite');
      await dialog.getByRole('button', { name: 'Create a link' }).click();
      const link = await page.locator('.once code').textContent();
      await page.getByRole('table', { name: 'Open invitations' }).getByText('vera@example.com').waitFor();
      await checkView('people');
      await signOut(page);
      await checkView('sign-in-with-password');

      await page.goto(link!);
      await page.getByText('Join Acme as a viewer.').waitFor();
      await checkView('invitation');
      await page.getByLabel('Your name').fill('Vera');
      await page.getByLabel('New password').fill(PASSWORD);
      await page.getByRole('button', { name: 'Join' }).click();
      await page.locator('.who', { hasText: 'Vera' }).waitFor();
      await page.getByRole('link', { name: 'Keys', exact: true }).waitFor({ state: 'detached' });
      await page.getByRole('link', { name: 'People' }).click();
      await page.getByRole('table', { name: 'People' }).getByText('Vera (you)').waitFor();
      await page.getByRole('button', { name: 'Invite' }).waitFor({ state: 'detached' });
      await page.goto('/#/transcribe');
      await page.getByText('Your role in this account is viewer.').waitFor();
      assert.equal(await page.locator('main form').count(), 0);
      await signOut(page);

      await signIn(page, 'olga@example.com', 'not the password');
      const wrong = page.getByRole('alert');
      await wrong.waitFor();
      assert.equal(await wrong.textContent(), 'The email or the password is wrong.');
      await signIn(page, 'olga@example.com');
      await page.getByRole('link', { name: 'People' }).click();
      await page.getByLabel('Role of Vera').selectOption('member');
      await page.getByText('Vera is member now.').waitFor();
      await page.getByRole('button', { name: 'Remove Vera' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
      await page.getByText('Vera is removed.').waitFor();
      await page.getByRole('cell', { name: 'Vera', exact: true }).waitFor({ state: 'detached' });

      await page.getByRole('button', { name: 'Change the password' }).click();
      const form = page.getByRole('form', { name: 'Your password' });
      await form.getByLabel('Current password').fill('not the password');
      await form.getByLabel('New password').fill('a wholly new password');
      await form.getByRole('button', { name: 'Save' }).click();
      await form.getByRole('alert').waitFor();
      assert.equal(await form.getByRole('alert').textContent(), 'The current password is wrong.');
      assert.equal(await form.getByLabel('Current password').getAttribute('aria-invalid'), 'true');
      await checkView('wrong-current-password');
      await page.getByLabel('Current password').fill(PASSWORD);
      await page.getByLabel('New password').fill('a wholly new password');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText('Your password is changed').waitFor();
      await signOut(page);
      await signIn(page, 'olga@example.com', 'a wholly new password');
      await page.locator('.who', { hasText: 'Olga' }).waitFor();

      // Signed in, by the invitation of another account.
      const other = await account();
      const admin = new VerbatimAdmin({ baseUrl: service.baseUrl, adminToken: service.adminToken });
      await admin.accounts.update(other.id, { name: 'Second Ltd' });
      const invitations = `/admin/v1/accounts/${other.id}/invitations`;
      const { text } = await admin.request('POST', invitations, { body: { role: 'viewer' } });
      await page.goto((JSON.parse(text) as { url: string }).url);
      await page.getByText('Join Second Ltd as a viewer.').waitFor();
      await page.getByText('You are signed in as Olga').waitFor();
      assert.equal(await page.locator('main').getByLabel('Password').count(), 0);
      await checkView('invitation-signed-in');
      await page.getByRole('button', { name: 'Join as Olga' }).click();
      await page.locator('.who', { hasText: 'Second Ltd' }).waitFor();
      await choose(page, 'Account menu', 'Acme');
      await page.locator('.who', { hasText: 'Acme' }).waitFor();
    },
  },
  {
    title: 'a provider and passwords are told apart, and a service that fails names the request',
    async run({ page, checkView }) {
      const oidc = { name: 'Example' };
      await page.route('/v1/sign-in', (route) =>
        route.request().method() === 'GET'
          ? route.fulfill({ json: { setup: false, password: true, oidc } })
          : route.fulfill({
              status: 500,
              json: { error: { message: 'It failed.', code: 500, type: 'internal' }, request_id: 'req_1' },
            }),
      );
      await page.goto('/');
      await page.getByRole('button', { name: 'Sign in with Example' }).waitFor();
      await page.locator('main').getByText('or', { exact: true }).waitFor();
      await checkView('sign-in-with-provider');
      await page.getByRole('form', { name: 'Sign in', exact: true }).waitFor();
      assert.equal(await page.locator('.button.primary').count(), 1);

      await signIn(page, 'olga@example.com');
      await page.getByRole('alert').getByText('req_1').waitFor();
    },
  },
];
