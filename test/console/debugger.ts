import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import type { DeliveryWithExchange } from '../../sdk/src/api.ts';
import { until } from '../fixtures/until.ts';
import type { Flow, FlowContext } from './harness/flow.ts';

/** A webhook with its secret, and the request of a delivery that it accepted. */
async function openDelivery({ account, receiver }: Pick<FlowContext, 'account' | 'receiver'>) {
  const owner = await account();
  const { id, secret } = await owner.api.webhooks.create({ url: receiver.url, events: ['transcription.completed'] });
  await owner.api.webhooks.test(id, { type: 'transcription.completed' });
  const { id: deliveryId } = await until('the delivery', async () => {
    return (await owner.api.webhooks.deliveries(id, { status: 'succeeded' })).data[0];
  });
  const entry = await owner.api.webhooks.delivery(id, deliveryId);
  return { owner, id, secret, entry, pasted: rawOf(entry) };
}

/** As `nc` would show it. */
function rawOf({ request }: DeliveryWithExchange): string {
  const lines = Object.entries(request!.headers).map(([name, value]) => `${name}: ${value}`);
  return ['POST /hook HTTP/1.1', ...lines, '', request!.body].join('\n');
}

const explain = async (page: Page, verdict: string) => {
  await page.getByRole('button', { name: 'Explain' }).click();
  await page.getByRole('region', { name: 'Verdict' }).getByText(verdict, { exact: true }).waitFor();
};

export const flows: Flow[] = [
  {
    title: 'a pasted secret stays in the browser, which finds what is wrong with a pasted request',
    async run(flow) {
      const { page, open, checkView } = flow;
      const { owner, secret, pasted } = await openDelivery(flow);
      const sent: string[] = [];
      page.on('request', (request) => sent.push(request.url() + (request.postData() ?? '')));
      await open(owner.key, '/debugger');

      await explain(page, 'body_parsed');
      await page.getByLabel('Request', { exact: true }).fill('no request');
      await page.getByLabel('Secret', { exact: true }).fill(secret);
      await page.getByRole('button', { name: 'Explain' }).click();
      await page.getByRole('alert').filter({ hasText: 'This is not a request.' }).waitFor();

      await page.getByLabel('Request', { exact: true }).fill(pasted);
      await explain(page, 'genuine');
      await page.getByLabel('Secret', { exact: true }).fill(`"${secret} `);
      await explain(page, 'secret_whitespace');
      await page.getByLabel('Secret', { exact: true }).fill(secret);
      await page.getByLabel('Request', { exact: true }).fill(pasted.replace('{"', '{ "'));
      await explain(page, 'body_parsed');
      await page.getByLabel('Framework').selectOption('flask');
      await page.getByRole('button', { name: 'Explain' }).click();
      await page.getByText('request.get_data()').waitFor();
      await checkView('debugger-verdict');
      const checks = await page.getByRole('table', { name: 'Checks' }).textContent();
      assert.match(checks!, /It has the form of|The signature fits another form of it\. Expected: /);
      assert.doesNotMatch(checks!, /\.(Expected|Found):/);

      assert.ok(sent.length > 0);
      assert.deepEqual(
        sent.filter((text) => text.includes(secret.slice(6, 30))),
        [],
      );
    },
  },
  {
    title: 'opened from an attempt, the service compares with what was sent',
    async run(flow) {
      const { page, open } = flow;
      const { owner, id, entry } = await openDelivery(flow);
      await open(owner.key, `/webhooks/${id}/deliveries/${entry.id}`);
      await page.getByRole('link', { name: 'Debug the signature' }).click();
      const request = page.getByLabel('Request', { exact: true });
      await explain(page, 'genuine');

      const text = await request.inputValue();
      await request.fill(text.slice(0, -20));

      await explain(page, 'body_truncated');
      await page.getByRole('region', { name: /^The body differs from byte \d+ on$/ }).waitFor();
    },
  },
];
