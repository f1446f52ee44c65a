import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { Verbatim } from '../../../sdk/src/client/index.ts';
import { openService, type TestService, temporaryFolder } from '../../fixtures/service.ts';
import { until } from '../../fixtures/until.ts';
import { openReceiver, type Received, type Reply, testAuthority } from '../../fixtures/webhooks/receiver.ts';
import { conversationWav } from './conversation.ts';
import { openSpeechOfTones } from './speech-of-tones.ts';

/** A service with data for pictures, and the places of its views. */
export type Seeded = AsyncDisposable & {
  service: TestService;
  accountKey: string;
  /** What the pages show in place of the addresses of this machine. */
  shownFor: readonly (readonly [string, string])[];
  ids: Record<'account' | 'job' | 'openJob' | 'webhook' | 'failedWebhook' | 'failed' | 'event' | 'share', string>;
  /** When the last of it happened. */
  atMs: number;
};

const FILES = ['rotterdam-call.wav', 'board-meeting.wav', 'voicemail-0412.wav', 'interview-lena.wav'];
const NAME = 'Harbour Logistics';

/** The endpoints, by path: what they answer to the n-th request. */
const REPLIES: Record<string, (index: number) => Reply> = {
  '/transcripts': () => ({ status: 204 }),
  '/crm': (index) =>
    index < 2 ? { status: 503, body: '{"error":"maintenance"}' } : { status: 200, body: '{"ok":true}' },
  // Each answer differs, so that an attempt always shows what changed.
  '/archive': (index) => ({
    status: 500,
    headers: { 'content-type': 'text/plain' },
    body: `database is locked, ${index + 1} writers wait`,
  }),
};

export async function openSeeded(): Promise<Seeded> {
  const counts = new Map<string, number>();
  const reply = ({ path: at }: Received): Reply => {
    const index = counts.get(at) ?? 0;
    counts.set(at, index + 1);
    return REPLIES[at]!(index);
  };
  const [receiver, speech, dataDir] = [await openReceiver({ reply }), await openSpeechOfTones(), temporaryFolder()];
  const caFile = path.join(dataDir, 'receiver-ca.pem');
  writeFileSync(caFile, testAuthority.cert);
  const service = await openService(
    {
      ENGINE_LITE: `openai:${speech.baseUrl}#whisper-1`,
      ENGINE_PRO: `openai:${speech.baseUrl}#whisper-1`,
      WEBHOOK_ALLOWED_TARGETS: `127.0.0.1/32:${receiver.port}`,
      WEBHOOK_RETRY_DELAYS: '0,1,3,60',
      NODE_EXTRA_CA_CERTS: caFile,
    },
    dataDir,
  );
  const origin = new URL(receiver.url).origin;
  const ids = await fill(service, origin, () => speech.hold());
  return {
    service,
    ...ids,
    shownFor: [
      [origin, 'https://hooks.harbour.example'],
      [speech.baseUrl, 'http://speech.internal/v1'],
      [dataDir, '/var/lib/verbatim'],
    ],
    atMs: Date.now(),
    async [Symbol.asyncDispose]() {
      for (const each of [service, receiver, speech]) await each[Symbol.asyncDispose]();
    },
  };
}

async function fill(service: TestService, origin: string, holdSpeech: () => void) {
  const account = await createAccount(service, NAME);
  await createAccount(service, 'Kanzlei Brandt');
  const api = new Verbatim({ baseUrl: service.baseUrl, apiKey: account.key });
  const events = ['transcription.completed', 'transcription.failed'] as (
    | 'transcription.completed'
    | 'transcription.failed'
  )[];
  const [good, , failing] = [
    await api.webhooks.create({ url: `${origin}/transcripts`, events }),
    await api.webhooks.create({ url: `${origin}/crm`, events }),
    await api.webhooks.create({ url: `${origin}/archive`, events }),
  ];
  const wav = conversationWav();
  const metadataText = '{ "order": 4271, "agent": "lena" }';
  const jobs: string[] = [];
  for (const name of FILES.toReversed()) {
    const { id } = await api.transcribe(new File([wav], name), {
      multichannel: true,
      timestamps: 'word',
      metadataText,
    });
    jobs.unshift(id);
  }
  const job = jobs[0]!;
  const thirds = await until('the third attempt of each event', async () => {
    const { data } = await api.deliveries.list({ webhook_id: failing.id, status: 'failed', limit: 50 });
    const found = data.filter(({ attempt }) => attempt === 3);
    return found.length === FILES.length ? found : null;
  });
  const { url } = await api.jobs.share(job);
  const failed = thirds[0]!;
  holdSpeech();
  const canceled = await api.jobs.create(new File([wav], 'wrong-file.wav'));
  await api.jobs.cancel(canceled.id);
  const open = await api.jobs.create(new File([wav], 'site-inspection.wav'), { multichannel: true });
  await until('a job that is open', async () => (await api.jobs.get(open.id)).status === 'processing');
  return {
    accountKey: account.key,
    ids: {
      account: account.id,
      job,
      openJob: open.id,
      webhook: good.id,
      failedWebhook: failing.id,
      failed: failed.id,
      event: failed.event_id,
      share: url.slice(url.indexOf('#') + 1),
    },
  };
}

async function createAccount(service: TestService, name: string): Promise<{ id: string; key: string }> {
  const headers = { authorization: `Bearer ${service.adminToken}`, 'content-type': 'application/json' };
  const post = async (route: string, body: unknown) => {
    const answer = await fetch(service.baseUrl + route, { method: 'POST', headers, body: JSON.stringify(body) });
    return (await answer.json()) as { id: string; key: string };
  };
  const { id } = await post('/admin/v1/accounts', { name, plan: 'pro', credits: 5_000 });
  return { id, key: (await post(`/admin/v1/accounts/${id}/keys`, { name: 'call recorder' })).key };
}
