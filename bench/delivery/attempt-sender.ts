// Attempts of the deliverer, signed, sent and classified, without the database:
// in a process of its own, as the deliverer is.
import { readFileSync } from 'node:fs';
import { systemClock } from '../../src/platform/clock.ts';
import { sendAttempt, serviceHeaderNames } from '../../src/webhooks/deliveries/send.ts';
import { openPoster } from '../../src/webhooks/http-client/post.ts';
import { openHeaderReader } from '../../src/webhooks/secrets/own-headers.ts';
import { openSecretBox } from '../../src/webhooks/secrets/secrets.ts';
import { openSigners } from '../../src/webhooks/secrets/signers.ts';
import { SECRETS_KEY, sampleAttempt } from './sample-request.ts';

export type ToAttemptSender = { kind: 'send'; count: number };

const WEBHOOKS = 100;
const ID_CHARS = 26;

const [url, caFile, bodyFile, inFlight] = process.argv.slice(2) as [string, string, string, string];
const { port } = new URL(url);
const options = {
  poster: openPoster({
    timeoutMs: 5_000,
    maxWaitMs: 5_000,
    allowedTargets: [{ address: '127.0.0.1', prefixBits: 32, port: Number(port) }],
    ca: readFileSync(caFile, 'utf8'),
  }),
  signers: openSigners(openSecretBox(SECRETS_KEY)),
  headerReader: openHeaderReader(openSecretBox(SECRETS_KEY)),
  clock: systemClock,
  headerNames: serviceHeaderNames('X-Service-'),
};
const body = readFileSync(bodyFile);
const attempts = Array.from({ length: WEBHOOKS }, () => sampleAttempt(url, body));

process.on('message', async ({ count }: ToAttemptSender) => {
  let left = count;
  async function sendInTurn(): Promise<void> {
    while (left > 0) {
      left -= 1;
      const id = String(left).padStart(ID_CHARS, '0');
      const attempt = attempts[left % WEBHOOKS]!;
      const delivery = { ...attempt.delivery, id: `dl_${id}`, eventId: `evt_${id}`, attemptId: `dlv_${id}` };
      const finished = await sendAttempt({ ...attempt, delivery }, options);
      if (!finished?.succeeded) throw new Error(finished?.errorMessage ?? 'the attempt did not start');
    }
  }
  await Promise.all(Array.from({ length: Number(inFlight) }, sendInTurn));
  process.send?.('done');
});
process.on('disconnect', () => process.exit(0));
