import packageJson from '../../../package.json' with { type: 'json' };
import type { Clock } from '../../platform/clock.ts';
import { makeId } from '../../platform/clock.ts';
import { keptHeadersJson } from '../../rules/webhooks/answer-headers.ts';
import { classifyPost } from '../../rules/webhooks/delivery-outcome.ts';
import { redacted, withoutServiceHeaders } from '../../rules/webhooks/own-headers.ts';
import { delayBeforeAttemptMs } from '../../rules/webhooks/retry-schedule.ts';
import type { PostReport } from '../http-client/attempt.ts';
import type { Poster } from '../http-client/post.ts';
import type { HeaderReader } from '../secrets/own-headers.ts';
import type { Signer, Signers } from '../secrets/signers.ts';
import { UnreadableSecret } from '../secrets/signers.ts';
import type { WaitingDelivery, WebhookSettings } from './due-store.ts';
import type { FinishedAttempt } from './recording/finished-attempt.ts';

/** A delivery with all that its attempt needs. */
export type ReadyDelivery = Omit<WaitingDelivery, 'nextAtMs' | 'readAtMs' | 'body'> &
  Pick<WebhookSettings, 'url' | 'secret' | 'previousSecret' | 'previousSecretEndsAt' | 'headers'> & {
    body: Buffer;
    /** Of the shard, while the attempt starts. */
    epoch: number;
    /** The webhook has been failing, or its url has never succeeded. */
    isDegraded: boolean;
  };

export type SendOptions = {
  poster: Poster;
  signers: Signers;
  headerReader: HeaderReader;
  clock: Clock;
  /** X-Service- by default. */
  headerPrefix: string;
  retryDelaysMs: readonly number[];
  /** In [0, 1). */
  random: () => number;
};

const USER_AGENT = `Verbatim/${packageJson.version}`;

/**
 * Signs, posts and classifies one attempt. Null when nothing was sent.
 * @param isWithdrawn  evaluated just before the request is sent: true, and nothing is sent
 */
export async function sendAttempt(
  delivery: ReadyDelivery,
  options: SendOptions,
  isWithdrawn: () => boolean = () => false,
): Promise<FinishedAttempt | null> {
  const { url, accountId, webhookId, body, isDegraded } = delivery;
  const signed = signedHeaders(delivery, options);
  if (delivery.headers === null) {
    const report = await options.poster.post({ url, accountId, headers: signed, body, isDegraded, isWithdrawn });
    return report && finish(delivery, signed, report, options);
  }
  const own = withoutServiceHeaders(options.headerReader.headersOf(webhookId, delivery.headers), signed);
  const headers = { ...signed, ...own };
  const report = await options.poster.post({ url, accountId, headers, body, isDegraded, isWithdrawn });
  return report && finish(delivery, { ...signed, ...redacted(own) }, report, options);
}

type HeaderNames = ReturnType<typeof namesWith>;

let lastNames: { prefix: string; names: HeaderNames } | null = null;

/** The names of the service's headers. Kept: V8 looks up the text of each name that is made anew. */
function keptNames(prefix: string): HeaderNames {
  if (lastNames?.prefix !== prefix) lastNames = { prefix, names: namesWith(prefix) };
  return lastNames.names;
}

function namesWith(prefix: string) {
  return {
    eventId: `${prefix}Event-Id`,
    eventType: `${prefix}Event-Type`,
    deliveryId: `${prefix}Delivery-Id`,
    attempt: `${prefix}Attempt`,
    timestamp: `${prefix}Timestamp`,
    signature: `${prefix}Signature`,
    previousSignature: `${prefix}Signature-Previous`,
  };
}

/** The headers of contract section 5, signed with the time of this attempt and with every secret that is valid now. */
export function signedHeaders(
  delivery: ReadyDelivery,
  { signers, clock, headerPrefix }: Pick<SendOptions, 'signers' | 'clock' | 'headerPrefix'>,
): Record<string, string> {
  const { body, eventId: id } = delivery;
  const names = keptNames(headerPrefix);
  const nowMs = clock.now();
  const timestamp = new Date(nowMs).toISOString();
  const timestampSeconds = Math.floor(nowMs / 1000);
  const valid = validSigners(delivery, signers, nowMs);
  const [signature, previous] = valid.map(({ own }) => own.sign(`${timestamp}.`, body, 'hex'));
  const standard = valid.map((one) => `v1,${one.standard.sign(`${id}.${timestampSeconds}.`, body, 'base64')}`);
  return {
    'Content-Type': 'application/json',
    'User-Agent': USER_AGENT,
    Accept: '*/*',
    'Accept-Encoding': 'identity',
    [names.eventId]: id,
    [names.eventType]: delivery.eventType,
    [names.deliveryId]: delivery.attemptId,
    [names.attempt]: String(delivery.attempt),
    [names.timestamp]: timestamp,
    [names.signature]: signature!,
    ...(previous === undefined ? {} : { [names.previousSignature]: previous }),
    'webhook-id': id,
    'webhook-timestamp': String(timestampSeconds),
    'webhook-signature': standard.join(' '),
  };
}

/**
 * Signers by the current secret, and by the previous one while it is valid and can be opened.
 * @throws UnreadableSecret  the current secret cannot be opened
 */
function validSigners(delivery: ReadyDelivery, signers: Signers, nowMs: number): Signer[] {
  const { webhookId, secret, previousSecret, previousSecretEndsAt } = delivery;
  const overlaps = previousSecret !== null && previousSecretEndsAt !== null && previousSecretEndsAt.getTime() > nowMs;
  const current = signers.signerOf(webhookId, secret);
  if (!overlaps) return [current];
  try {
    return [current, signers.signerOf(webhookId, previousSecret)];
  } catch (error) {
    if (error instanceof UnreadableSecret) return [current];
    throw error;
  }
}

function finish(
  delivery: ReadyDelivery,
  loggedHeaders: Record<string, string>,
  report: PostReport,
  { clock, retryDelaysMs, random }: SendOptions,
): FinishedAttempt {
  const outcome = classifyPost(report.result);
  const succeeded = outcome.kind === 'succeeded';
  const next = { attempt: delivery.attempt + 1, delaysMs: retryDelaysMs, random: random() };
  const retryAfterMs = succeeded ? null : delayBeforeAttemptMs(next);
  return {
    shard: delivery.shard,
    epoch: delivery.epoch,
    deliveryId: delivery.id,
    attemptId: delivery.attemptId,
    accountId: delivery.accountId,
    webhookId: delivery.webhookId,
    eventId: delivery.eventId,
    eventType: delivery.eventType,
    url: delivery.url,
    attempt: delivery.attempt,
    succeeded,
    retryAfterMs,
    nextAttemptId: retryAfterMs === null ? null : makeId('dlv', clock),
    responseStatus: report.result.kind === 'answered' ? report.result.status : null,
    errorReason: succeeded ? null : outcome.reason,
    errorMessage: succeeded ? null : outcome.message,
    durationMs: report.durationMs,
    dnsMs: report.dnsMs,
    connectMs: report.connectMs,
    tlsMs: report.tlsMs,
    firstByteMs: report.firstByteMs,
    remoteAddress: report.remoteAddress,
    // Without a connection no request was sent.
    requestHeaders: report.remoteAddress === null ? null : JSON.stringify(loggedHeaders),
    responseHeaders: report.responseHeaders && keptHeadersJson(report.responseHeaders),
    responseBody: report.responseBody,
    completedAt: new Date(clock.now()),
  };
}
