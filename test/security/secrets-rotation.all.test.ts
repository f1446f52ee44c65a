import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { verifyDelivery } from '#sdk/webhooks/signature.ts';
import { openDatabase } from '../../src/db/database.ts';
import { socketFolder } from '../../src/db/embedded/place.ts';
import { serviceUrl } from '../../src/db/embedded/role.ts';
import { runVerbatim } from '../fixtures/cli.ts';
import { openService, type TestService, temporaryFolder } from '../fixtures/service.ts';
import { openReceiver, type Receiver, testAuthority } from '../fixtures/webhooks/receiver.ts';

function open(receiver: Receiver, dataDir: string): Promise<TestService> {
  const caFile = path.join(dataDir, 'receiver-ca.pem');
  writeFileSync(caFile, testAuthority.cert);
  const env = { ROLES: 'api,deliverer', NODE_EXTRA_CA_CERTS: caFile };
  return openService({ ...env, WEBHOOK_ALLOWED_TARGETS: `127.0.0.1/32:${receiver.port}` }, dataDir);
}

/** A webhook whose answer is kept for its Idempotency-Key; asked again, the same answer. */
async function createWebhook(service: TestService, key: string, url: string) {
  const answer = await fetch(`${service.baseUrl}/v1/webhooks`, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json', 'idempotency-key': 'k' },
    body: JSON.stringify({ url, events: ['webhook.test'], headers: { 'X-Token': 'hush' } }),
  });
  return { status: answer.status, ...((await answer.json()) as { id: string; secret: string }) };
}

const ping = (service: TestService, key: string, id: string) =>
  fetch(`${service.baseUrl}/v1/webhooks/${id}/test`, { method: 'POST', headers: { 'x-api-key': key } });

/** As after a day. */
async function expireAnswers({ dataDir }: TestService): Promise<void> {
  const folder = path.join(dataDir, 'database');
  const db = openDatabase(serviceUrl(folder, socketFolder(folder)), { maxConnections: 1 });
  await db.run({ text: 'update idempotency_keys set expires_at = now()' });
  await db.close();
}

test('the secrets key is changed on a service that goes on sending with the same webhook secrets and headers', async () => {
  await using receiver = await openReceiver();
  const dataDir = temporaryFolder();
  const keyFile = path.join(dataDir, 'secrets-key');
  const fresh = randomBytes(32).toString('base64');
  const isSigned = async (
    service: TestService,
    key: string,
    webhook: { id: string; secret: string },
    count: number,
  ) => {
    assert.equal((await ping(service, key, webhook.id)).status, 202);
    const { headers, body } = await receiver.waitFor(count);
    verifyDelivery({ secret: webhook.secret, headers, body });
    assert.equal(headers['x-token'], 'hush');
  };

  const before = await open(receiver, dataDir);
  const { key } = await before.account();
  const webhook = await createWebhook(before, key, receiver.url);
  await isSigned(before, key, webhook, 1);
  await before.stop();

  writeFileSync(keyFile, `${fresh}\n${readFileSync(keyFile, 'utf8')}`);
  const both = await open(receiver, dataDir);
  await isSigned(both, key, webhook, 2);
  const replay = await createWebhook(both, key, receiver.url);
  const env = { VERBATIM_URL: both.baseUrl, ADMIN_TOKEN: both.adminToken };
  const rotate = () => runVerbatim('secrets rotate', { env });
  const [rotated, again] = [await rotate(), await rotate()];
  await isSigned(both, key, webhook, 3);
  await expireAnswers(both);
  // What is told to be encrypted anew is so also after a crash.
  await both.crash();

  writeFileSync(keyFile, `${fresh}\n`);
  await using after = await open(receiver, dataDir);
  await isSigned(after, key, webhook, 4);

  assert.deepEqual([replay.status, replay.secret], [201, webhook.secret]);
  assert.equal(rotated.stdout, '1 webhooks are encrypted anew, none is left.\n');
  assert.equal(again.stdout, '0 webhooks are encrypted anew, none is left.\n');
  assert.doesNotMatch(after.logText(), /attempt not made/);
});
