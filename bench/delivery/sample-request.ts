import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { makeCertificates } from '../../src/demo/certificates.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { type Attempt, serviceHeaderNames, signedHeaders } from '../../src/webhooks/deliveries/send.ts';
import { makeWebhookSecret, openSecretBox } from '../../src/webhooks/secrets/secrets.ts';
import { openSigners } from '../../src/webhooks/secrets/signers.ts';
import { bodyOf } from './delivery-environment.ts';

export const SECRETS_KEY = Buffer.alloc(32, 7);

const secretBox = openSecretBox(SECRETS_KEY);

/** An attempt to send `body` to a webhook with a secret of its own. */
export function sampleAttempt(url: string, body: Buffer): Attempt {
  const [shard, webhookId] = [0, 'wh_x'];
  return {
    delivery: {
      shard,
      webhookId,
      id: 'dl_x',
      accountId: 'acct_x',
      eventId: 'evt_00000000000000000000000000',
      eventType: 'transcription.completed',
      jobId: null,
      traceparent: null,
      attempt: 1,
      attemptId: 'dlv_00000000000000000000000000',
      nextAtMs: 0,
      readAtMs: 0,
      body,
      bodyBytes: body.length,
    },
    webhook: {
      id: webhookId,
      shard,
      state: 'active',
      isHealthy: true,
      maxPerSecond: null,
      url,
      secret: secretBox.seal(webhookId, makeWebhookSecret()),
      previousSecret: null,
      previousSecretEndsAt: null,
      headers: null,
      include: ['text', 'segments'],
    },
    body,
    epoch: 0,
  };
}

/**
 * Files for a receiver and for the raw sender, whose requests look like ours: both sides move the same bytes.
 * @returns their paths
 */
export function writeSampleFiles(folder: string, bodyBytes: number) {
  const { cert, key, ca } = makeCertificates({ names: ['localhost'], addresses: ['127.0.0.1'] });
  const body = bodyOf('evt_00000000000000000000000000', bodyBytes);
  const options = {
    signers: openSigners(secretBox),
    clock: systemClock,
    headerNames: serviceHeaderNames('X-Service-'),
  };
  const headers = signedHeaders(sampleAttempt('', body), options);
  const write = (name: string, content: string | Buffer) => {
    writeFileSync(path.join(folder, name), content);
    return path.join(folder, name);
  };
  return {
    cert: write('cert.pem', cert),
    key: write('key.pem', key),
    ca: write('ca.pem', ca),
    body: write('body.json', body),
    headers: write('headers.json', JSON.stringify(headers)),
  };
}
