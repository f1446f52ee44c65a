import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTinyproxy, WITHOUT_TINYPROXY } from '../fixtures/servers/egress-proxy.ts';
import { openReceiver } from '../fixtures/webhooks/receiver.ts';
import { openWebhookService } from '../fixtures/webhooks/webhook-service.ts';

test('with WEBHOOK_PROXY_URL the service delivers through the proxy, and logs no credentials', {
  skip: WITHOUT_TINYPROXY,
}, async () => {
  await using receiver = await openReceiver();
  await using proxy = await startTinyproxy([receiver.port]);
  const proxyUrl = `http://verbatim:pass.word@${proxy.address}`;
  await using service = await openWebhookService([receiver.port], { WEBHOOK_PROXY_URL: proxyUrl });
  const node = await service.start('api,deliverer');
  const { call, webhook } = await service.caller(node);
  const { path } = await webhook(receiver.url);

  await call('POST', `${path}/test`);
  await receiver.waitFor(1);

  assert.match(proxy.logText(), new RegExp(`CONNECT 127\\.0\\.0\\.1:${receiver.port}`));
  assert.doesNotMatch(node.logText(), /pass\.word/);
});
