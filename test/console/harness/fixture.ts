import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { Verbatim } from '../../../sdk/src/client/index.ts';
import { TONE_MODEL, toneWav } from '../../fixtures/audio/test-audio.ts';
import { toneSpeech } from '../../fixtures/audio/tone/speech.ts';
import { wavOf } from '../../fixtures/audio/wav.ts';
import { openService, type TestService, temporaryFolder } from '../../fixtures/service.ts';
import { until } from '../../fixtures/until.ts';
import { openReceiver, type Receiver, testAuthority } from '../../fixtures/webhooks/receiver.ts';
import { type FailingReceivers, openFailingReceivers } from './receivers.ts';

export type ConsoleAccount = { id: string; key: string; api: Verbatim };

/** One service for all flows, with an account that has something in every view. */
export type ConsoleFixture = AsyncDisposable & {
  service: TestService;
  /** Accepts deliveries with 204. */
  receiver: Receiver;
  failing: FailingReceivers;
  /** The account whose views are checked; flows that change it use `account()`. */
  shown: ConsoleAccount & { jobId: string; webhookId: string; eventId: string; deliveryId: string };
  account(options?: { plan?: 'lite' | 'pro'; credits?: number | null }): Promise<ConsoleAccount>;
  /** A WAV of what the microphone hears: these words, then silence. */
  spoken: string;
};

/** What the microphone hears, again and again. */
export const SPOKEN = 'hello world';

/** Pages of this origin may show the console in a frame. Nothing listens there. */
export const FRAMING_ORIGIN = 'http://localhost:3009';

const PAUSE_SAMPLES = 24_000;
const METADATA = '{ "order": 12345678901234567890 }';

export async function openFixture(): Promise<ConsoleFixture> {
  const [receiver, failing] = await Promise.all([openReceiver(), openFailingReceivers()]);
  const ports = [receiver.port, ...failing.ports];
  const dataDir = temporaryFolder();
  const caFile = path.join(dataDir, 'receiver-ca.pem');
  writeFileSync(caFile, testAuthority.cert);
  const spoken = path.join(dataDir, 'spoken.wav');
  writeFileSync(spoken, wavOf(Int16Array.of(...toneSpeech(SPOKEN), ...new Int16Array(PAUSE_SAMPLES))));
  const service = await openService(
    {
      ENGINE_LITE: `sherpa-onnx:${TONE_MODEL}`,
      ENGINE_PRO: `sherpa-onnx:${TONE_MODEL}`,
      WEBHOOK_ALLOWED_TARGETS: ports.map((port) => `127.0.0.1/32:${port}`).join(','),
      // A flow waits for the end of an attempt that has no answer.
      NODE_EXTRA_CA_CERTS: caFile,
      WEBHOOK_TIMEOUT_MS: '2500',
      AUDIO_RETENTION_HOURS: '1',
      CONSOLE_FRAME_ANCESTORS: FRAMING_ORIGIN,
    },
    dataDir,
  );
  // The first start of a version bundles the console: on a busy machine that takes longer than a step of a flow may.
  await (await fetch(service.baseUrl)).text();
  const account = async (options = {}) => {
    const { id, key } = await service.account(options);
    return { id, key, api: new Verbatim({ baseUrl: service.baseUrl, apiKey: key }) };
  };
  const shown = await fillAccount(await account({ credits: 500 }), receiver);
  return {
    service,
    receiver,
    failing,
    account,
    shown,
    spoken,
    async [Symbol.asyncDispose]() {
      await service[Symbol.asyncDispose]();
      await Promise.all([receiver, failing].map((each) => each[Symbol.asyncDispose]()));
    },
  };
}

/** A few seconds of tones that the test model writes as these words. */
export function toneFile(words: string, name = `${words.replaceAll(' ', '-')}.wav`): File {
  return new File([Uint8Array.from(toneWav(words))], name);
}

async function fillAccount(account: ConsoleAccount, receiver: Receiver): Promise<ConsoleFixture['shown']> {
  const { api } = account;
  const { id: webhookId } = await api.webhooks.create({
    url: receiver.url,
    events: ['transcription.completed', 'transcription.failed'],
  });
  const params = { metadataText: METADATA, timestamps: 'word' } as const;
  const { id: jobId } = await api.transcribe(toneFile('hello world'), params);
  const delivery = await until('the delivery of the job', async () => {
    const { data } = await api.deliveries.list({ status: 'succeeded' });
    return data[0];
  });
  return { ...account, jobId, webhookId, eventId: delivery.event_id, deliveryId: delivery.id };
}
