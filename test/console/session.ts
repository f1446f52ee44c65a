import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { VerbatimAdmin } from '../../sdk/src/client/index.ts';
import type { Scope } from '../../src/rules/accounts/scopes.ts';
import { toneFile } from './harness/fixture.ts';
import type { Flow, FlowContext } from './harness/flow.ts';
import { choose } from './harness/menu.ts';
import { signInWithKey } from './harness/sign-in.ts';

// Signed in by a cookie: in all tabs, ended at the service, and not replaced without a question.

/** Whatever scripts of the page can read of what the browser keeps. */
const readKept = (page: Page) =>
  page.evaluate(() => JSON.stringify([document.cookie, { ...localStorage }, { ...sessionStorage }]));

/** An account of this name. */
async function named({ account, service }: FlowContext, name: string) {
  const made = await account();
  const admin = new VerbatimAdmin({ baseUrl: service.baseUrl, adminToken: service.adminToken });
  await admin.accounts.update(made.id, { name });
  const linkTo = async (...scopes: Scope[]) => (await admin.accounts.portalLink(made.id, { scopes })).url;
  return { ...made, linkTo };
}

async function signIn(page: Page, key: string, place: string): Promise<void> {
  await page.goto(`/#${place}`);
  await signInWithKey(page, key);
  await page.getByText('Signed in:').waitFor();
}

const signedInAs = (page: Page, name: string) => page.locator('.who', { hasText: name }).waitFor();

export const flows: Flow[] = [
  {
    title: 'a sign-in outlives its tab, no script can read it, and signing out ends it at the service',
    async run({ page, account, service }) {
      const { key } = await account();
      await signIn(page, key, '/keys');
      await page.getByRole('table', { name: 'Keys' }).waitFor();

      const other = await page.context().newPage();
      await other.goto('/#/keys');
      await other.getByRole('table', { name: 'Keys' }).waitFor();

      const [cookie, ...more] = await page.context().cookies();
      assert.equal(more.length, 0);
      const { name, httpOnly, sameSite, expires } = cookie!;
      assert.deepEqual([name, httpOnly, sameSite], ['verbatim_session', true, 'Strict']);
      assert.ok(Math.abs(expires - Date.now() / 1000 - 12 * 3_600) < 300, String(expires));
      for (const each of [page, other]) assert.doesNotMatch(await readKept(each), /vb_|verbatim/);

      await choose(other, 'Account menu', 'Sign out');
      await other.getByRole('heading', { name: 'Sign in' }).waitFor();
      const again = await fetch(`${service.baseUrl}/v1/account`, { headers: { cookie: `${name}=${cookie!.value}` } });
      assert.equal(again.status, 401);
      assert.deepEqual(await page.context().cookies(), []);
      await other.close();

      await page.getByRole('link', { name: 'Usage' }).click();
      await page.getByText('The session has ended').waitFor();
      await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    },
  },
  {
    title: 'without an answer of the service the user remains signed in, and is told so',
    async run({ page, account, open }) {
      const { key } = await account();
      await open(key, '/keys');

      await page.route('/v1/session', (route) => route.abort('connectionrefused'));
      await choose(page, 'Account menu', 'Sign out');
      await page.getByText('You are still signed in.').waitFor();
      await page.unroute('/v1/session');

      await choose(page, 'Account menu', 'Sign out');
      await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    },
  },
  {
    title: 'a page that is loaded while the service cannot say who is signed in goes on when it can',
    async run({ page, account, open }) {
      const { key } = await account();
      await open(key, '/keys');
      const error = { message: 'The database is away.', code: 503, type: 'unavailable' };
      await page.route('/v1/session', (route) => route.fulfill({ status: 503, json: { error, request_id: 'req_1' } }));
      await page.reload();
      await page.getByRole('heading', { name: 'Sign in' }).waitFor();

      await page.unroute('/v1/session');

      await page.getByRole('table', { name: 'Keys' }).waitFor();
    },
  },
  {
    title: 'a tab of an account changes nothing by the session of another account, and follows it',
    async run(flow) {
      const { page, open } = flow;
      const [one, two] = [await named(flow, 'Account one'), await named(flow, 'Account two')];
      await open(one.key, '/keys');
      await signedInAs(page, 'Account one');

      // As another tab of the browser does.
      await page.request.post('/v1/session', { headers: { 'x-api-key': two.key } });
      await page.getByRole('button', { name: 'New key' }).click();
      await page.getByRole('button', { name: 'Create' }).click();
      await page.getByRole('alert').filter({ hasText: 'not the session of this browser' }).waitFor();
      await page.keyboard.press('Escape');
      await page.getByRole('link', { name: 'Usage' }).click();

      await page.getByText('Another tab has signed in anew.').waitFor();
      await signedInAs(page, 'Account two');
      assert.deepEqual([(await one.api.keys.list()).data.length, (await two.api.keys.list()).data.length], [1, 1]);
    },
  },
  {
    title: 'who may only read sees a sentence in place of forms, and no buttons that would be refused',
    async run({ page, account, open, checkView }) {
      const { api } = await account();
      await api.transcribe(toneFile('hello'));
      const { key } = await api.keys.create({ scopes: ['jobs:read', 'webhooks:read', 'usage:read'] });
      const refused = page.getByText('You cannot use this page.');
      for (const [place, scope] of [
        ['/transcribe', 'jobs:write'],
        ['/live', 'jobs:write'],
        ['/keys', 'keys:write'],
      ] as const) {
        await open(key, place);
        await refused.waitFor();
        await page.locator('main code', { hasText: scope }).waitFor();
        assert.equal(await page.locator('main').getByRole('button').count(), 0, place);
      }
      await checkView('not-permitted');
      await open(key, '/people');
      await page.getByText('sign in with your email').waitFor();

      await open(key, '/jobs');
      await page.locator('[data-row]').getByRole('checkbox').check();
      await page.getByRole('button', { name: 'Download 1 as zip' }).waitFor();
      assert.equal(await page.getByRole('button', { name: /^(Erase|Cancel)/ }).count(), 0);
      assert.equal(await page.locator('main').getByRole('link', { name: 'Transcribe' }).count(), 0);
      await open(key, '/');
      await page.getByRole('link', { name: 'hello.wav' }).waitFor();
      assert.equal(await page.getByRole('region', { name: 'First steps' }).count(), 0);
    },
  },
  {
    title: 'a portal link asks, with both names, before it ends the session that there is',
    async run(flow) {
      const { page, open, checkView } = flow;
      const [own, other] = [await named(flow, 'Own Ltd'), await named(flow, 'Other Ltd')];
      const link = await other.linkTo('usage:read');
      await open(own.key, '/keys');

      await page.goto(link);
      const question = page.getByRole('dialog', { name: 'Open this link?' });
      await question.getByText('You are signed in to Own Ltd. The link opens the account Other Ltd').waitFor();
      assert.doesNotMatch(page.url(), /token/);
      assert.ok(
        await question
          .getByRole('button', { name: 'Keep this session' })
          .evaluate((it) => it === document.activeElement),
      );
      await checkView('portal-link');
      await question.getByRole('button', { name: 'Keep this session' }).click();
      await question.waitFor({ state: 'hidden' });
      await page.reload();
      await signedInAs(page, 'Own Ltd');

      await page.goto(link);
      await page.getByRole('button', { name: 'Open Other Ltd' }).click();
      await signedInAs(page, 'Other Ltd');
      await page.getByRole('link', { name: 'Keys', exact: true }).waitFor({ state: 'detached' });
      assert.doesNotMatch(await readKept(page), /vb_|verbatim/);
      await page.reload();
      await signedInAs(page, 'Other Ltd');
    },
  },
  {
    title: 'a portal link asks, with the name of its account, where nobody is signed in',
    async run(flow) {
      const { page, checkView } = flow;
      const { linkTo } = await named(flow, 'Sender Ltd');
      const link = await linkTo('usage:read');

      await page.goto(link);
      const question = page.getByRole('dialog', { name: 'Open this link?' });
      await question.getByText('The link opens the account Sender Ltd.').waitFor();
      assert.doesNotMatch(page.url(), /token/);
      await checkView('portal-link-signed-out');
      await question.getByRole('button', { name: 'Stay signed out' }).click();
      await question.waitFor({ state: 'hidden' });
      await page.getByRole('heading', { name: 'Sign in' }).waitFor();
      assert.deepEqual(await page.context().cookies(), []);

      await page.goto(link);
      await page.getByRole('button', { name: 'Open Sender Ltd' }).click();
      await signedInAs(page, 'Sender Ltd');
    },
  },
  {
    title: 'a portal link asks the operator too, and a link that has ended changes nothing',
    async run(flow) {
      const { page, openAsOperator } = flow;
      const { linkTo } = await named(flow, 'Customer');
      const link = await linkTo('jobs:read');
      const second = await (await named(flow, 'Second')).linkTo('jobs:read');
      await openAsOperator('/operator');

      await page.goto(`${link.slice(0, -6)}000000`);
      const question = page.getByRole('dialog', { name: 'Open this link?' });
      await question.getByRole('alert').filter({ hasText: 'This API key is unknown' }).waitFor();

      await page.keyboard.press('Escape');
      await page.evaluate((address) => location.assign(address), link);
      await question.getByText('You are signed in as the operator. The link opens the account Customer').waitFor();
      await page.evaluate((address) => location.assign(address), second);
      await question.getByText('You are signed in as the operator. The link opens the account Second').waitFor();
      await page.evaluate((address) => location.assign(address), link);
      await question.getByText('You are signed in as the operator. The link opens the account Customer').waitFor();
      await page.getByRole('button', { name: 'Open Customer' }).click();
      await signedInAs(page, 'Customer');
      await page.getByRole('link', { name: 'Audit log' }).waitFor({ state: 'detached' });
    },
  },
];
