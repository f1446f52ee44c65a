import assert from 'node:assert/strict';
import type { Delivery } from '../../sdk/src/api.ts';
import { until } from '../fixtures/until.ts';
import { type ConsoleAccount, toneFile } from './harness/fixture.ts';
import type { Flow } from './harness/flow.ts';
import { choose } from './harness/menu.ts';

const EVENTS: ['transcription.completed'] = ['transcription.completed'];

/** A webhook at a URL, and the entry of its first attempt once that has ended. */
async function testedWebhook({ api }: ConsoleAccount, url: string): Promise<{ id: string; entry: Delivery }> {
  const { id } = await api.webhooks.create({ url, events: EVENTS });
  await api.webhooks.test(id);
  const entry = await until('the attempt', async () => {
    const { data } = await api.webhooks.deliveries(id);
    return data.find(({ status }) => status !== 'pending');
  });
  return { id, entry };
}

const placeOf = ({ webhook_id, id }: Delivery) => `/webhooks/${webhook_id}/deliveries/${id}`;

/** What the page of an attempt says about each way to fail. */
const REASONS = [
  ['http_status', 'Answered 503', 'The proxy answers, but the server behind it does not'],
  ['redirect', 'Redirect', 'Register the URL that the Location header'],
  ['timeout', 'Timeout, waiting for the answer', 'Store the event, answer 2xx'],
  ['connect', 'No connection', 'runs and listens on port 443'],
  ['tls', 'TLS failed', 'has not expired and contains this host name'],
  ['reset', 'Connection closed', 'Check whether your handler crashed'],
  ['protocol', 'Invalid HTTP', 'an HTTPS server listens on this port'],
] as const;

export const flows: Flow[] = [
  {
    title: 'of a long URL in a list the end is shown, where it differs from others',
    async run({ page, open, account, receiver }) {
      const { key, api } = await account();
      const base = `${receiver.url}${receiver.url.endsWith('/') ? '' : '/'}${'services/'.repeat(20)}`;
      for (const end of ['orders', 'invoices']) await api.webhooks.create({ url: base + end, events: EVENTS });
      await open(key, '/webhooks');

      for (const end of ['orders', 'invoices']) {
        const link = page.getByRole('link', { name: base + end, exact: true });
        const ends = await link.evaluate((element, chars) => {
          const text = element.querySelector('bdi')!.firstChild as Text;
          const range = new Range();
          range.setStart(text, text.length - chars);
          range.setEnd(text, text.length);
          const [cell, last] = [element.closest('td')!.getBoundingClientRect(), range.getBoundingClientRect()];
          return { isIn: last.left >= cell.left && last.right <= cell.right, wide: last.width };
        }, end.length);
        assert.ok(ends.isIn && ends.wide > 10, JSON.stringify(ends));
      }
    },
  },
  {
    title: 'a webhook is created, its secret shown once, and an example sent and opened',
    async run({ page, open, account, receiver, checkView }) {
      const { key } = await account();
      await open(key, '/webhooks');
      await page.getByRole('button', { name: 'New webhook' }).click();
      const dialog = page.getByRole('dialog', { name: 'New webhook' });
      await dialog.getByLabel('URL').fill('http://127.0.0.1/');
      await dialog.getByRole('button', { name: 'Create' }).click();
      await dialog.getByRole('alert').waitFor();
      assert.equal(await dialog.getByLabel('URL').getAttribute('aria-invalid'), 'true');

      await dialog.getByLabel('URL').fill(receiver.url);
      await dialog.getByLabel('Headers').fill('Authorization: Bearer token-of-the-gateway');
      await dialog.getByRole('button', { name: 'Create' }).click();
      await dialog.getByText(/^whsec_/).waitFor();
      await dialog.getByRole('link', { name: 'Send an example' }).click();

      await page.getByLabel('Event type').selectOption('transcription.failed');
      await page.getByRole('button', { name: 'Send', exact: true }).click();
      const row = page.getByRole('row', { name: /transcription\.failed/ });
      await row.getByText('succeeded').waitFor();
      await row.getByRole('link').first().click();

      await page.getByRole('heading', { name: 'transcription.failed, attempt 1' }).waitFor();
      await page.getByText('Sent', { exact: true }).waitFor();
      const phases = page.getByRole('table', { name: 'Phases of the attempt' });
      await phases.getByText('up to the first byte of the answer').waitFor();
      const headers = page.getByRole('table', { name: 'Headers of the request' });
      await headers.getByRole('row', { name: /X-Service-Signature .*service/ }).waitFor();
      await headers.getByRole('row', { name: /Authorization yours/ }).waitFor();
      assert.doesNotMatch((await page.locator('main').textContent())!, /token-of-the-gateway/);
      await checkView('attempt-succeeded');
    },
  },
  {
    title: 'each attempt that failed says why, and what to do',
    async run({ page, open, account, failing, checkView }) {
      // A plan allows five webhooks.
      for (const reasons of [REASONS.slice(0, 4), REASONS.slice(4)]) {
        const owner = await account();
        const tested = await Promise.all(reasons.map(([reason]) => testedWebhook(owner, failing.urls[reason])));
        for (const [index, [reason, title, step]] of reasons.entries()) {
          const { entry } = tested[index]!;
          assert.equal(entry.error?.reason, reason);
          if (index === 0) await open(owner.key, placeOf(entry));
          else await page.goto(`/#${placeOf(entry)}`);
          const advice = page.getByRole('region', { name: 'Why it failed' });
          await advice.getByRole('heading', { name: title }).waitFor();
          await advice.getByText(step).waitFor();
          await page.getByRole('table', { name: 'Phases of the attempt' }).waitFor();
          if (reason === 'timeout') await checkView('attempt-failed');
        }
      }
    },
  },
  {
    title: 'sending again shows the new attempt, and what changed since the one before',
    async run({ page, open, account, failing }) {
      const owner = await account();
      const { id, entry } = await testedWebhook(owner, failing.flaky('again'));
      await open(owner.key, placeOf(entry));
      await page.getByRole('heading', { name: 'Answered 500' }).waitFor();

      await page.getByRole('button', { name: 'Send again' }).click();

      await page.waitForURL((url) => url.hash.startsWith(`#/webhooks/${id}/`) && !url.hash.endsWith(entry.id));
      const changes = page.getByRole('table', { name: 'Differences from the previous attempt' });
      await changes.getByRole('row', { name: 'Outcome failed, 500 succeeded, 204' }).waitFor();
      const tabs = page.getByRole('navigation', { name: 'Attempts of the event' });
      // The failed attempt is repeated by itself too, in 30 s.
      assert.equal(await tabs.getByRole('link').count(), 3);
      await tabs.getByRole('link', { name: /^Attempt 1: 500/ }).click();
      await page.getByRole('heading', { name: 'Answered 500' }).waitFor();
    },
  },
  {
    title: 'the log is filtered by the address, and chosen deliveries are sent again after they are counted',
    async run({ page, open, account, failing }) {
      const owner = await account();
      const { id } = await testedWebhook(owner, failing.flaky('log'));
      const event = await owner.api.webhooks.test(id, { type: 'transcription.failed' });
      await until('the second event', async () => {
        const { data } = await owner.api.webhooks.deliveries(id, { event_id: event.event_id, status: 'succeeded' });
        return data[0];
      });

      await open(owner.key, `/webhooks/${id}?tab=log&status=failed`);
      const rows = page.getByRole('table', { name: 'Deliveries' }).locator('tbody tr');
      await rows.getByText('webhook.test').waitFor();
      assert.equal(await rows.count(), 1);
      await choose(page, 'Status', 'All');
      await choose(page, 'Answer', '2xx');
      await rows.getByText('transcription.failed').waitFor();
      assert.match(page.url(), /status_class=2xx/);
      await choose(page, 'Answer', 'All');
      await choose(page, 'Reason', 'Timeout');
      await page.getByText('No deliveries match these filters.').waitFor();
      await choose(page, 'Reason', 'All');

      await page.getByRole('checkbox', { name: 'Select all' }).check();
      await page.getByRole('button', { name: /^Send \d again$/ }).click();
      const dialog = page.getByRole('dialog', { name: 'Send 2 events again?' });
      await dialog.getByRole('button', { name: 'Send again' }).click();
      await page.getByText('2 events sent again.').waitFor();
    },
  },
  {
    title: 'missed events are counted before they are recovered',
    async run({ page, open, account, failing }) {
      const owner = await account();
      const { id } = await owner.api.webhooks.create({ url: failing.flaky('recover'), events: EVENTS });
      await owner.api.webhooks.update(id, { active: false });
      const { id: jobId } = await owner.api.transcribe(toneFile('hello'));
      await open(owner.key, `/webhooks/${id}?tab=recover`);

      await page.getByRole('button', { name: 'Count', exact: true }).click();
      await page.getByText('1 event to send.').waitFor();
      await page.getByText('Enable the webhook first.').waitFor();
      assert.deepEqual((await owner.api.webhooks.deliveries(id)).data, []);
      await page.getByRole('button', { name: 'Enable' }).click();
      await page.getByRole('button', { name: 'Send 1 event again' }).click();

      await page.getByText('1 event is sent again.').waitFor();
      const { data } = await owner.api.webhooks.deliveries(id);
      assert.ok(data.length > 0 && jobId);
    },
  },
  {
    title: 'a count of missed events for another period than the form shows is not offered',
    async run({ page, open, account, failing }) {
      const owner = await account();
      const { id } = await owner.api.webhooks.create({ url: failing.flaky('recover-late'), events: EVENTS });
      await owner.api.webhooks.update(id, { active: false });
      await owner.api.transcribe(toneFile('hello'));
      await open(owner.key, `/webhooks/${id}?tab=recover`);
      const held = Promise.withResolvers<void>();
      await page.route(`/v1/webhooks/${id}/recover`, async (route) => {
        await held.promise;
        await route.continue();
      });

      await page.getByRole('button', { name: 'Count', exact: true }).click();
      await page.getByLabel('Last result').selectOption('failed');
      const answered = page.waitForResponse((answer) => answer.url().endsWith('/recover'));
      held.resolve();
      await answered;

      await page.locator('form[aria-label=Recover] button:not([aria-busy=true])').waitFor();
      assert.equal(await page.getByText('1 event to send.').count(), 0);
    },
  },
  {
    title: 'a streak of failures, its charts and their tables are shown',
    async run({ page, open, account, failing, checkView }) {
      const owner = await account();
      const { id } = await testedWebhook(owner, failing.urls.http_status);
      await open(owner.key, `/webhooks/${id}`);

      await page.getByRole('region', { name: 'Failures in a row' }).getByText('1 of 10 failed in a row').waitFor();
      await page.locator('.chart canvas').first().waitFor();
      await page.getByText('Failures by reason as a table').click();
      const table = page.getByRole('table', { name: 'Failures by reason' });
      await table.getByRole('columnheader', { name: 'Not a 2xx answer' }).waitFor();
      assert.equal(await table.locator('tbody td.number').first().textContent(), '1');
      await checkView('webhook-failing');

      await choose(page, 'Time', '7 days');
      await page.waitForURL(/span=7d/);
      await page.locator('.chart canvas').first().waitFor();
    },
  },
  {
    title: 'a rotation shows what is signed by which secret, and settings are changed and end with the webhook',
    async run({ page, open, account, receiver, checkView }) {
      const owner = await account();
      const { id } = await owner.api.webhooks.create({
        url: receiver.url,
        events: EVENTS,
        headers: { 'X-Tenant': 'acme' },
      });
      await open(owner.key, `/webhooks/${id}?tab=secret`);
      const signing = page.getByRole('table', { name: 'What is signed by which secret' });
      assert.equal(await signing.locator('tbody tr').count(), 2);
      await page.getByLabel('Old secret').selectOption('3600');
      await page.getByRole('button', { name: 'New secret' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Create a new secret' }).click();
      await page.getByText(/^whsec_/).waitFor();
      await signing.getByRole('row', { name: /X-Service-Signature-Previous the old secret/ }).waitFor();
      await checkView('webhook-secret');

      await page.getByRole('tab', { name: 'Settings' }).click();
      await page.getByLabel('Attempts per second').fill('7');
      await page.getByLabel('Description').fill('<b>CRM</b>');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText('Saved.').waitFor();
      const changed = await owner.api.webhooks.get(id);
      assert.deepEqual([changed.max_per_second, changed.headers, changed.description], [7, ['X-Tenant'], '<b>CRM</b>']);

      await page.getByRole('button', { name: 'Delete' }).click();
      const dialog = page.getByRole('dialog', { name: 'Delete this webhook?' });
      await dialog.getByRole('button', { name: 'Delete' }).click();
      await page.getByText('No webhooks yet').waitFor();
    },
  },
  {
    title: 'an attempt is copied as commands that hold no secret and sign anew',
    async run({ page, open, shown }) {
      await open(shown.key, `/webhooks/${shown.webhookId}/deliveries/${shown.deliveryId}`);
      const opener = page.getByRole('button', { name: 'As curl' });
      await opener.click();
      const dialog = page.getByRole('dialog', { name: 'The same request with a new signature' });
      const commands = await dialog.getByRole('region', { name: 'Commands' }).textContent();
      assert.match(commands!, /12345678901234567890/);
      assert.doesNotMatch(commands!, /whsec_[A-Za-z0-9+/]|[0-9a-f]{64}/);
      await page.keyboard.press('Escape');
      await page.waitForFunction(() => document.activeElement?.textContent === 'As curl');
    },
  },
  {
    title: 'an event shows its digits and who got it, and is sent to another webhook',
    async run({ page, open, account, failing, receiver }) {
      const owner = await account();
      await owner.api.webhooks.create({ url: failing.flaky('event'), events: EVENTS });
      await owner.api.transcribe(toneFile('hello', 'again.wav'));
      const { id } = await owner.api.webhooks.create({ url: `${receiver.url}/other`, events: EVENTS });
      await open(owner.key, '/events');
      await page.getByRole('link', { name: 'again.wav', exact: true }).click();
      await page.getByRole('region', { name: 'Payload', exact: true }).first().waitFor();
      await page.getByLabel('Send again to').selectOption(id);
      await page.getByRole('button', { name: 'Send', exact: true }).click();
      const row = page
        .getByRole('list', { name: 'Deliveries of the event' })
        .getByRole('listitem')
        .filter({ hasText: '/other' });
      await row.getByText('delivered').waitFor();
    },
  },
  {
    title: 'events and deliveries say which file they are about, and events what became of them',
    async run({ page, open, account, failing, receiver, checkView }) {
      const { key, api } = await account();
      await api.webhooks.create({ url: `${receiver.url}/named`, events: EVENTS });
      await api.transcribe(toneFile('hello', 'delivered.wav'));
      await api.webhooks.create({ url: failing.urls.http_status, events: EVENTS });
      await api.transcribe(toneFile('world', 'refused.wav'), { title: 'Refused once' });
      await open(key, '/events');

      const row = (name: string) => page.locator('[data-row]', { has: page.getByRole('link', { name, exact: true }) });
      await row('delivered.wav').getByText('delivered', { exact: true }).waitFor();
      await row('Refused once').getByText('1 of 2 pending').waitFor();
      assert.equal(await row('Refused once').getByText('transcription.completed').count(), 1);
      await checkView('events-named');
      await page.getByRole('link', { name: 'Deliveries', exact: true }).click();
      await page.getByRole('heading', { name: 'Refused once' }).waitFor();
      await page.getByRole('heading', { name: 'delivered.wav' }).waitFor();
    },
  },
  {
    title: 'a delivery of the list opens beside it, and its event too',
    async run({ page, open, shown, checkView }) {
      await open(shown.key, '/deliveries');
      const panel = page.getByRole('complementary', { name: 'Details' });
      const group = page.locator('.event-groups > li').first();
      await group.getByRole('heading').getByRole('link').click();
      await panel.getByRole('heading', { name: 'transcription.' }).waitFor();
      assert.match(page.url(), /#\/deliveries\?show=%2Fevents/);

      await group.locator('.target').getByRole('link').first().click();
      await panel.getByText('Answer').first().waitFor();
      await page.locator('.event-groups [data-shown]').waitFor();
      assert.match(page.url(), /#\/deliveries\?show=%2Fwebhooks%2F[^/]*%2Fdeliveries%2F/);
      await checkView('delivery-in-panel');
    },
  },
  {
    title: 'a key that may only read sees deliveries, and no button that the API refuses',
    async run({ page, open, shown }) {
      const { key } = await shown.api.keys.create({ name: 'reader', scopes: ['webhooks:read'] });
      const buttons = () => page.locator('main').getByRole('button').allTextContents();
      await open(key, `/webhooks/${shown.webhookId}/deliveries/${shown.deliveryId}`);
      await page.getByRole('button', { name: 'As curl' }).waitFor();
      assert.ok(!(await buttons()).includes('Send again'));

      await open(key, `/webhooks/${shown.webhookId}?tab=log`);
      await page.getByRole('table', { name: 'Deliveries' }).waitFor();
      assert.deepEqual(await page.getByRole('tab').allTextContents(), ['Overview', 'Deliveries', 'Secret']);
      assert.equal(await page.getByRole('checkbox').count(), 0);
      await open(key, '/webhooks');
      await page.getByRole('table', { name: 'Webhooks' }).waitFor();
      assert.deepEqual(await buttons(), []);
    },
  },
];
