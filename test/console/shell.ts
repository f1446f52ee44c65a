import assert from 'node:assert/strict';
import { FRAMING_ORIGIN, toneFile } from './harness/fixture.ts';
import type { Flow, FlowContext } from './harness/flow.ts';
import { openKeyForm, signInWithKey } from './harness/sign-in.ts';

/** Every view of the account, with something in it. */
const VIEWS = (shown: FlowContext['shown']): [name: string, place: string][] => [
  ['home', '/'],
  ['transcribe', '/transcribe'],
  ['jobs', '/jobs'],
  ['job', `/jobs/${shown.jobId}`],
  ['webhooks', '/webhooks'],
  ['webhook', `/webhooks/${shown.webhookId}`],
  ['attempt', `/webhooks/${shown.webhookId}/deliveries/${shown.deliveryId}`],
  ['deliveries', '/deliveries'],
  ['events', '/events'],
  ['event', `/events/${shown.eventId}`],
  ['debugger', '/debugger'],
  ['usage', '/usage'],
  ['keys', '/keys'],
  ['start', '/start'],
];
const OPERATOR_VIEWS = (shown: FlowContext['shown']): [name: string, place: string][] => [
  ['operator', '/operator'],
  ['operator-accounts', '/operator/accounts'],
  ['operator-account', `/operator/accounts/${shown.id}`],
  ['operator-jobs', '/operator/jobs'],
  ['operator-webhooks', '/operator/webhooks'],
  ['operator-models', '/operator/models'],
  ['operator-settings', '/operator/settings'],
  ['operator-audit', '/operator/audit'],
];

const checkAll = (title: string, slot: 'key' | 'operator', list: typeof VIEWS): Flow => ({
  title,
  async run(flow) {
    const { page, shown, checkView } = flow;
    const [first, ...rest] = list(shown);
    if (slot === 'key') await flow.open(shown.key, first![1]);
    else await flow.openAsOperator(first![1]);
    await checkView(first![0]);
    for (const [name, place] of rest) {
      await page.evaluate((hash) => {
        (document.activeElement as HTMLElement).blur();
        location.hash = hash;
      }, place);
      // The address changes before the view does, which then focuses its title.
      await page.waitForFunction(() => document.activeElement?.matches('main h1'));
      await checkView(name);
      // What came after the title, and the title itself when it changed, left the focus there.
      assert.ok(await page.evaluate(() => document.activeElement?.matches('main h1')), `${name}: the focus`);
    }
  },
});

export const flows: Flow[] = [
  checkAll('every view is accessible, fits into 320 px and keeps the policy', 'key', VIEWS),
  checkAll('every view of the operator does the same', 'operator', OPERATOR_VIEWS),
  {
    title: 'until a view has its answers, the browser loads at most 120 KiB',
    async run({ page, shown }) {
      await page.request.post('/v1/session', { headers: { 'x-api-key': shown.key } });
      await page.route(/\/v1\/(jobs|usage|events|webhooks)\b/, () => undefined);
      for (const place of ['/', '/jobs']) {
        await page.goto('/healthz');
        await page.goto(`/#${place}`);
        await page.locator('main .loading').first().waitFor();
        const files = await page.evaluate(() =>
          [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
            .filter(({ name }) => !new URL(name).pathname.startsWith('/v1/'))
            .map((entry) => [entry.name, (entry as PerformanceResourceTiming).encodedBodySize] as const),
        );

        const bytes = files.reduce((sum, [, size]) => sum + size, 0);
        assert.ok(files.length >= 5 && bytes > 80_000 && bytes <= 120 * 1024, `${bytes} bytes: ${files.join()}`);
      }
    },
  },
  {
    title: 'a wrong key is refused with a sentence, and a right one opens the wanted view',
    async run({ page, shown, checkView }) {
      await page.goto('/#/keys');
      await page.getByRole('heading', { name: 'Sign in' }).waitFor();
      await checkView('sign-in');
      await openKeyForm(page);
      const field = page.getByLabel('API key or operator');
      assert.ok(await field.evaluate((element) => element === document.activeElement), 'the field has the focus');

      await field.fill(`vb_${'x'.repeat(49)}`);
      await field.press('Enter');
      await page.getByRole('alert').filter({ hasText: 'Check that it was copied whole' }).waitFor();

      await field.fill(` ${shown.key} `);
      await field.press('Enter');
      await page.getByText('Signed in: test, plan pro.').waitFor();
      await page.getByRole('heading', { name: 'Keys' }).waitFor();
      assert.match(page.url(), /#\/keys$/);
      // The focus is on the title of the view, without a frame around it or the page.
      await page.waitForFunction(() => document.activeElement?.tagName === 'H1');
      const outline = await page.evaluate(() => getComputedStyle(document.activeElement!).outlineStyle);
      assert.equal(outline, 'none');
    },
  },
  {
    title: "the operator's token opens the operator's views only",
    async run({ page, service }) {
      await page.goto('/#/sign-in');
      await signInWithKey(page, service.adminToken);
      await page.getByText('Signed in as the operator').waitFor();
      await page.getByRole('link', { name: 'Audit log' }).waitFor();
      assert.equal(await page.getByRole('link', { name: 'Jobs', exact: true }).count(), 0);
    },
  },
  {
    title: 'a portal link signs in with its scopes, and leaves no key in the address or the history',
    async run({ page, service, shown }) {
      const answer = await fetch(`${service.baseUrl}/admin/v1/accounts/${shown.id}/portal-links`, {
        method: 'POST',
        headers: { authorization: `Bearer ${service.adminToken}`, 'content-type': 'application/json' },
        body: JSON.stringify({ scopes: ['jobs:read'] }),
      });
      const { url } = (await answer.json()) as { url: string };

      await page.goto('/');
      await page.goto(url);
      const opens = page.getByRole('dialog').getByRole('button', { name: /^Open (?!it)/ });
      await opens.waitFor();
      const released = Promise.withResolvers<void>();
      await page.route('/v1/account', async (route) => {
        await released.promise;
        await route.continue();
      });
      const menu = page.locator('.navigation');

      await opens.click();
      // Until it is known what the session may open, the menu has no entries.
      await menu.locator('.bone').first().waitFor();
      assert.deepEqual(await menu.getByRole('link').allInnerTexts(), []);
      released.resolve();
      await menu.getByRole('link').first().waitFor();
      const entries = ['Home', 'Jobs', 'Search', 'Signature debugger', 'Start'];
      assert.deepEqual(await menu.getByRole('link').allInnerTexts(), entries);

      assert.doesNotMatch(page.url(), /token/);
      await page.goBack();
      assert.doesNotMatch(page.url(), /token/);
      assert.equal(await page.evaluate(() => localStorage.length), 0);
    },
  },
  {
    title: 'keys move between views, open the palette, and jump to an id',
    async run({ page, open, shown }) {
      await open(shown.key, '/');

      await page.keyboard.press('g');
      await page.keyboard.press('k');
      await page.getByRole('heading', { name: 'Keys' }).waitFor();
      await page.waitForFunction(() => document.activeElement?.tagName === 'H1');
      assert.equal(await page.title(), 'Keys · Verbatim');

      await page.keyboard.press('?');
      const sheet = page.getByRole('dialog', { name: 'Keyboard' });
      await sheet.waitFor();
      await page.keyboard.press('Escape');
      await sheet.waitFor({ state: 'hidden' });

      const opener = page.getByRole('button', { name: /Search or go to/ });
      await opener.focus();
      await page.keyboard.press('Control+k');
      await page.getByRole('searchbox', { name: 'View, command' }).waitFor();
      await page.keyboard.type(shown.jobId);
      await page.keyboard.press('Enter');
      await page.waitForURL((url) => url.hash === `#/jobs/${shown.jobId}`);

      await page.keyboard.press('Control+k');
      await page.getByRole('searchbox', { name: 'View, command' }).fill(shown.deliveryId);
      await page.keyboard.press('Enter');
      await page.waitForURL((url) => url.hash === `#/webhooks/${shown.webhookId}/deliveries/${shown.deliveryId}`);
      // The title of this view takes the focus first; until the view is loaded, that of the job may have it.
      await page.locator('main h1:focus', { hasText: 'transcription.completed' }).waitFor();

      await opener.focus();
      await page.keyboard.press('Control+k');
      const palette = page.getByRole('dialog', { name: 'Go to' });
      await palette.waitFor();
      await page.keyboard.press('Escape');
      await palette.waitFor({ state: 'hidden' });
      // The focus returns in the next frame.
      await opener.and(page.locator(':focus')).waitFor();
    },
  },
  {
    title: 'the palette finds jobs by the name of their file, and one Escape closes it',
    async run({ page, account, open }) {
      const { key, api } = await account();
      const { id } = await api.transcribe(toneFile('hello', 'chapter-one.wav'));
      await api.transcribe(toneFile('hello', 'other.wav'));
      await open(key, '/');
      const palette = page.getByRole('dialog', { name: 'Go to' });

      await page.keyboard.press('Control+k');
      await palette.getByRole('searchbox').fill('CHAPTER');
      const found = palette.getByRole('menuitem', { name: /^chapter-one\.wav/ });
      await found.waitFor();
      assert.deepEqual(await palette.getByRole('menuitem').count(), 2);
      await page.keyboard.press('Escape');
      await palette.waitFor({ state: 'hidden' });

      await page.keyboard.press('Control+k');
      await palette.getByRole('searchbox').fill('chapter');
      await found.click();
      await page.waitForURL((url) => url.hash === `#/jobs/${id}`);
    },
  },
  {
    title: 'a revoked key leads back to the sign-in',
    async run({ page, open, account }) {
      const { key, api } = await account();
      const { id, key: other } = await api.keys.create({ name: 'short-lived' });
      await open(other, '/keys');
      assert.ok(key);

      await api.keys.delete(id);
      await page.getByRole('link', { name: 'Usage' }).click();

      await page.getByText('The session has ended, or its key was revoked.').waitFor();
      await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    },
  },
  {
    title: 'a page of an origin that the operator named shows the console in a frame, and no other page does',
    allowed: [/^request: http:\/\/localhost:300[89]\//, /frame-ancestors/],
    async run({ page, service, shown }) {
      const other = FRAMING_ORIGIN.replace(/9$/, '8');
      const body = `<!doctype html><iframe src="${service.baseUrl}/"></iframe>`;
      for (const origin of [FRAMING_ORIGIN, other]) {
        // A page that the test answers counts as one of the internet, which is asked before it may reach this machine.
        await page.context().grantPermissions(['local-network-access'], { origin });
        await page.route(`${origin}/`, (route) => route.fulfill({ contentType: 'text/html', body }));
      }
      const frame = page.frameLocator('iframe');

      await page.goto(`${FRAMING_ORIGIN}/`);
      // The browser refuses this frame its storage.
      await signInWithKey(frame, shown.key);
      await frame.getByRole('heading', { name: 'Newest jobs' }).waitFor();

      const refused = page.waitForEvent('console', (message) => /frame-ancestors/.test(message.text()));
      await page.goto(`${other}/`);
      await refused;
      assert.equal(await frame.getByRole('heading', { name: 'Sign in' }).count(), 0);
    },
  },
  {
    title: 'a page that failed while the service was away shows its content when the service answers again',
    allowed: [/^request: /, /Failed to load resource/],
    async run({ page, shown, open }) {
      await open(shown.key, '/jobs');
      await page.route(/\/(v1|healthz)/, (route) => route.abort('connectionrefused'));
      await page.getByRole('link', { name: 'Webhooks', exact: true }).click();
      await page.getByText('The service cannot be reached.').first().waitFor();
      await page.getByRole('button', { name: 'Try again' }).first().waitFor();

      await page.unroute(/\/(v1|healthz)/);
      await page.locator('.banner').waitFor({ state: 'detached' });
      await page
        .getByText(/localhost|127\.0\.0\.1/)
        .first()
        .waitFor();
    },
  },
];
