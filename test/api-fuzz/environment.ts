import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { setupTokenOf } from '../../src/accounts/people/credentials/setup-token.ts';
import { TONE_MODEL, toneWav } from '../fixtures/audio/test-audio.ts';
import { openService, temporaryFolder } from '../fixtures/service.ts';
import { until } from '../fixtures/until.ts';
import { openReceiver, testAuthority } from '../fixtures/webhooks/receiver.ts';

export type FuzzEnvironment = AsyncDisposable & {
  baseUrl: string;
  key: string;
  adminToken: string;
  /** Of an owner. */
  session: { id: string; token: string };
  /** Ids of things that exist, by a pattern of the ids of the operations that take them: parameters of Schemathesis. */
  ids: { operation: string; parameters: Record<string, string> }[];
  logText(): string;
};

const SECRETS_KEY = Buffer.alloc(32, 9).toString('base64');
/** Operations (a pattern of their ids) after which the keys of an account are refused. */
export const ENDING = 'delete_admin_accounts_id|post_admin_accounts_id_suspend|post_admin_accounts_id_resume';

/** A service with a completed job, a webhook with a delivery that succeeded, and no rate limits. */
export async function openFuzzEnvironment(): Promise<FuzzEnvironment> {
  const receiver = await openReceiver();
  const dataDir = temporaryFolder();
  const caFile = path.join(dataDir, 'receiver-ca.pem');
  writeFileSync(caFile, testAuthority.cert);
  const limits = ['TRANSCRIBE', 'BALANCE', 'JOBS', 'DEFAULT', 'RESEND', 'LIVE'].map((name) => [
    `RATE_LIMIT_${name}`,
    'off',
  ]);
  const service = await openService(
    {
      ENGINE_LITE: `sherpa-onnx:${TONE_MODEL}`,
      ENGINE_PRO: `sherpa-onnx:${TONE_MODEL}`,
      // Generated URLs name no server: each fetch would be tried for half a minute.
      AUDIO_URL: 'off',
      SECRETS_KEY,
      WEBHOOK_ALLOWED_TARGETS: `127.0.0.1/32:${receiver.port}`,
      NODE_EXTRA_CA_CERTS: caFile,
      ...Object.fromEntries(limits),
    },
    dataDir,
  );
  const account = await service.account();
  const { key } = account;

  async function call(method: string, route: string, body?: object): Promise<Record<string, unknown>> {
    const isForm = body instanceof FormData;
    const answer = await fetch(service.baseUrl + route, {
      method,
      headers: { 'x-api-key': key, ...(body && !isForm && { 'content-type': 'application/json' }) },
      ...(body && { body: isForm ? body : JSON.stringify(body) }),
    });
    if (!answer.ok) throw new Error(`${method} ${route} answered ${answer.status}: ${await answer.text()}`);
    return (await answer.json()) as Record<string, unknown>;
  }

  const webhook = await call('POST', '/v1/webhooks', { url: receiver.url, events: ['transcription.completed'] });
  const form = new FormData();
  form.append('file', new Blob([new Uint8Array(toneWav('hello quiet world'))]), 'tone.wav');
  const job = await call('POST', '/v1/transcribe', form);
  const log = `/v1/webhooks/${webhook['id']}/deliveries?status=succeeded`;
  const delivery = await until('a delivery in the log', async () => {
    const { data } = await call('GET', log);
    return (data as Record<string, string>[])[0];
  });
  const spareKey = (await adminCall(service, `/admin/v1/accounts/${account.id}/keys`))['id']!;
  const spareAccount = await service.account();

  return {
    baseUrl: service.baseUrl,
    key,
    adminToken: service.adminToken,
    session: await setUp(service),
    ids: [
      { operation: '^[a-z]+_jobs_id', parameters: { id: job['id'] as string } },
      {
        operation: '^[a-z]+_webhooks_id',
        parameters: { id: webhook['id'] as string, delivery_id: delivery['id']! },
      },
      { operation: '^[a-z]+_events_id', parameters: { id: delivery['event_id']! } },
      { operation: `^(?!(${ENDING})$)[a-z]+_admin_accounts_id`, parameters: { id: account.id } },
      { operation: `^(${ENDING})$`, parameters: { id: spareAccount.id } },
      { operation: '^delete_admin_keys_id$', parameters: { id: spareKey } },
      { operation: '^delete_keys_id$', parameters: { id: spareKey } },
    ],
    logText: () => service.logText(),
    async [Symbol.asyncDispose]() {
      await service[Symbol.asyncDispose]();
      await receiver[Symbol.asyncDispose]();
    },
  };
}

async function setUp({ baseUrl }: { baseUrl: string }): Promise<FuzzEnvironment['session']> {
  const owner = { name: 'Olga', email: 'olga@example.com', password: 'correct horse battery' };
  const body = JSON.stringify({ token: setupTokenOf(SECRETS_KEY), ...owner });
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(`${baseUrl}/v1/setup`, { method: 'POST', headers, body });
  const { id } = (await answer.json()) as { id: string };
  return { id, token: /=([^;]+)/.exec(answer.headers.get('set-cookie')!)![1]! };
}

async function adminCall(
  { baseUrl, adminToken }: { baseUrl: string; adminToken: string },
  route: string,
): Promise<Record<string, string>> {
  const headers = { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' };
  const answer = await fetch(baseUrl + route, { method: 'POST', headers, body: '{}' });
  return (await answer.json()) as Record<string, string>;
}
