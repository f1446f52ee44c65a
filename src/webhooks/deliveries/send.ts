import type { Clock } from '../../platform/clock.ts';
import { VERSION } from '../../platform/installation.ts';
import { NO_TRACER, type Span, type Tracer } from '../../platform/tracing/tracer.ts';
import { keptHeadersJson } from '../../rules/webhooks/answer-headers.ts';
import { classifyPost } from '../../rules/webhooks/delivery-outcome.ts';
import { includedBody } from '../../rules/webhooks/included-body.ts';
import { redacted, withoutServiceHeaders } from '../../rules/webhooks/own-headers.ts';
import { retryAfterOf } from '../../rules/webhooks/retry-schedule.ts';
import type { PostReport, Sending } from '../http-client/attempt.ts';
import type { Poster } from '../http-client/post.ts';
import type { WebhookSettings } from '../scheduler/webhook-settings.ts';
import type { HeaderReader } from '../secrets/own-headers.ts';
import { type Signer, type Signers, UnreadableSecret } from '../secrets/signers.ts';
import type { WaitingDelivery } from './due-store.ts';
import type { FinishedAttempt } from './recording/finished-attempt.ts';

/** An attempt with all that it needs. */
export type Attempt = {
  delivery: WaitingDelivery;
  webhook: WebhookSettings;
  body: Buffer;
  /** Of the shard when the attempt started. */
  epoch: number;
};

export type SendOptions = {
  poster: Poster;
  signers: Signers;
  headerReader: HeaderReader;
  clock: Clock;
  /** Absent: no spans. */
  tracer?: Tracer | undefined;
  headerNames: HeaderNames;
};

const USER_AGENT = `Verbatim/${VERSION}`;

/** Signs, posts and classifies one attempt. Null when nothing was sent. */
export async function sendAttempt(
  attempt: Attempt,
  options: SendOptions,
  sending: Partial<Sending> = {},
): Promise<FinishedAttempt | null> {
  const span = startSpan(attempt, options);
  try {
    const finished = await sendTraced(attempt, options, { ...sending, traceparent: span.traceparent });
    endSpan(span, finished);
    return finished;
  } catch (cause) {
    span.end({}, 'not sent');
    throw cause;
  }
}

function startSpan({ delivery }: Attempt, { tracer = NO_TRACER }: SendOptions): Span {
  const { id, attemptId, attempt, webhookId, eventId, jobId, traceparent: parent } = delivery;
  const ids = { delivery_id: id, attempt_id: attemptId, webhook_id: webhookId, event_id: eventId };
  const attributes = { ...ids, job_id: jobId ?? undefined, attempt };
  return tracer.start('delivery attempt', { kind: 'client', parent, attributes });
}

function endSpan(span: Span, finished: FinishedAttempt | null): void {
  const status = finished?.responseStatus ?? undefined;
  span.end({ 'http.response.status_code': status }, finished === null ? 'withdrawn' : finished.errorReason);
}

async function sendTraced(
  attempt: Attempt,
  options: SendOptions,
  { traceparent, ...sending }: Partial<Sending> & { traceparent: string | null },
): Promise<FinishedAttempt | null> {
  const { delivery, webhook } = attempt;
  const body = includedBody(attempt.body, webhook.include);
  const signed = { ...signedHeaders({ ...attempt, body }, options), ...(traceparent !== null && { traceparent }) };
  const own = withoutServiceHeaders(options.headerReader.headersOf(webhook.id, webhook.headers), signed);
  const headers = { ...signed, ...own };
  const { url, isHealthy } = webhook;
  const { accountId } = delivery;
  const report = await options.poster.post({ url, accountId, headers, body, isDegraded: !isHealthy, ...sending });
  return report && finish(attempt, { ...signed, ...redacted(own) }, report, options);
}

/** The names of the service's own headers. */
export type HeaderNames = ReturnType<typeof serviceHeaderNames>;

/** @param prefix  X-Service- by default */
export function serviceHeaderNames(prefix: string) {
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

/**
 * The headers of contract section 5, signed with the time of this attempt and with every secret that is valid now.
 * @internal  local deliveries of the command line are compared with them
 */
export function signedHeaders(
  { delivery, webhook, body }: Attempt,
  { signers, clock, headerNames: names }: Pick<SendOptions, 'signers' | 'clock' | 'headerNames'>,
): Record<string, string> {
  const id = delivery.eventId;
  const nowMs = clock.now();
  const timestamp = new Date(nowMs).toISOString();
  const timestampSeconds = Math.floor(nowMs / 1000);
  const valid = validSigners(webhook, signers, nowMs);
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
function validSigners(webhook: WebhookSettings, signers: Signers, nowMs: number): Signer[] {
  const { id, secret, previousSecret, previousSecretEndsAt } = webhook;
  const overlaps = previousSecret !== null && previousSecretEndsAt !== null && previousSecretEndsAt.getTime() > nowMs;
  const current = signers.signerOf(id, secret);
  if (!overlaps) return [current];
  try {
    return [current, signers.signerOf(id, previousSecret)];
  } catch (error) {
    if (error instanceof UnreadableSecret) return [current];
    throw error;
  }
}

function finish(
  { delivery, webhook, epoch }: Attempt,
  loggedHeaders: Record<string, string>,
  report: PostReport,
  { clock }: SendOptions,
): FinishedAttempt {
  const outcome = classifyPost(report.result);
  const succeeded = outcome.kind === 'succeeded';
  return {
    shard: delivery.shard,
    epoch,
    deliveryId: delivery.id,
    attemptId: delivery.attemptId,
    accountId: delivery.accountId,
    webhookId: delivery.webhookId,
    eventId: delivery.eventId,
    jobId: delivery.jobId,
    traceparent: delivery.traceparent,
    eventType: delivery.eventType,
    url: webhook.url,
    attempt: delivery.attempt,
    succeeded,
    askedMs: succeeded ? null : askedDelayMs(report, clock.now()),
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

function askedDelayMs({ result, responseHeaders }: PostReport, nowMs: number): number | null {
  if (result.kind !== 'answered') return null;
  const value = responseHeaders?.['retry-after'];
  return retryAfterOf(result.status, Array.isArray(value) ? value[0] : value, nowMs);
}
