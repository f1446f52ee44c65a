import type { AnyEvent } from '../../wire.ts';
import type { SignatureExplanation } from '../explain/explain-signature.ts';
import {
  type Body,
  type HeaderSource,
  readHeader,
  readSecrets,
  type VerificationCode,
  WebhookVerificationError,
} from '../verification.ts';
import { verifyDeliveryAsync } from '../web-signature.ts';
import type { EventMemory } from './event-memory.ts';
import { DEFAULT_MAX_BODY_BYTES } from './raw-body.ts';

/** What the headers say of the delivery. They are not signed: for logs, never for decisions. */
export type DeliveryInfo = {
  deliveryId: string | null;
  /** 1 to 4. */
  attempt: number | null;
};

type EventOf<Type extends AnyEvent['type']> = Extract<AnyEvent, { type: Type }>;

/** What to do with each type of event. A type without a handler is accepted and forgotten. */
export type Handlers = {
  [Type in AnyEvent['type']]?: (event: EventOf<Type>, delivery: DeliveryInfo) => unknown;
};

export type ReceiverOptions = {
  /** The webhook's secret, or several while it is being rotated. */
  secret: string | readonly string[];
  on: Handlers;
  /** With it an event that arrives again is not handled again. */
  memory?: EventMemory;
  /**
   * Called for every refused request. `explain` finds out why: it loads the debugger of signatures. Default: with
   * NODE_ENV=development the explanation is printed.
   */
  onRefused?: (error: WebhookVerificationError, explain: () => Promise<SignatureExplanation>) => unknown;
  /** The current time in milliseconds since the epoch. Default: Date.now */
  now?: () => number;
  /** Default: 300. */
  toleranceSeconds?: number;
  /** Default: X-Service- */
  headerPrefix?: string;
  /** Default: 4 MiB. */
  maxBodyBytes?: number;
};

/** The answer to send: a status, and a sentence for the sender's delivery log, or null for an empty body. */
export type Reply = { status: 204 | 400 | 401 | 405 | 413 | 503; message: string | null };

export type Receiver = {
  maxBodyBytes: number;
  /**
   * Verifies one delivery and calls the handler with its event.
   * @throws the handler's error: answer with a 5xx then, so that the event is sent again
   */
  receive(delivery: { headers: HeaderSource; body: Body }): Promise<Reply>;
};

const REFUSAL_STATUS: Record<VerificationCode, 400 | 401> = {
  bad_secret: 401,
  missing_header: 400,
  bad_timestamp: 400,
  stale_timestamp: 401,
  bad_signature: 401,
  bad_body: 400,
};

const ACCEPTED: Reply = { status: 204, message: null };
const BUSY: Reply = { status: 503, message: 'This event is being handled by an earlier request; send it again later.' };

export const NOT_A_POST: Reply = { status: 405, message: 'Deliveries come by POST.' };
export const TOO_LARGE: Reply = { status: 413, message: 'The body is larger than this receiver takes.' };

/**
 * A receiver of deliveries for any server that can hand over the raw body. For Express, Fastify and servers that speak
 * Request and Response there are handlers around it.
 * @throws WebhookVerificationError  bad_secret, before the first delivery
 */
export function createReceiver(options: ReceiverOptions): Receiver {
  const secrets = readSecrets(options.secret);
  const { on, memory, now = Date.now } = options;
  const onRefused = options.onRefused ?? (isDevelopment() ? printExplanation : undefined);
  const headerPrefix = options.headerPrefix ?? 'X-Service-';

  async function receive({ headers, body }: { headers: HeaderSource; body: Body }): Promise<Reply> {
    const event = await verifyOrRefuse(headers, body);
    if ('status' in event) return event;
    const progress = (await memory?.begin(event.id)) ?? 'new';
    if (progress === 'done') return ACCEPTED;
    if (progress === 'busy') return BUSY;
    try {
      await dispatch(event, headers);
    } catch (error) {
      await memory?.failed(event.id);
      throw error;
    }
    await memory?.done(event.id);
    return ACCEPTED;
  }

  async function verifyOrRefuse(headers: HeaderSource, body: Body): Promise<AnyEvent | Reply> {
    const { toleranceSeconds } = options;
    try {
      return await verifyDeliveryAsync({
        secret: secrets,
        headers,
        body,
        headerPrefix,
        now: now(),
        ...(toleranceSeconds === undefined ? {} : { toleranceSeconds }),
      });
    } catch (error) {
      if (!(error instanceof WebhookVerificationError)) throw error;
      await onRefused?.(error, () => explain(headers, body));
      return { status: REFUSAL_STATUS[error.code], message: error.message };
    }
  }

  async function explain(headers: HeaderSource, body: Body): Promise<SignatureExplanation> {
    const { explainSignature } = await import('../explain/explain-signature.ts');
    const secret = secrets.map((each) => ({ secret: each, of: 'this_webhook' as const }));
    return explainSignature({ secret, headers, body, receivedAt: now(), headerPrefix });
  }

  async function dispatch(event: AnyEvent, headers: HeaderSource): Promise<void> {
    // Own properties only: the event's type comes from the request.
    const handle = Object.hasOwn(on, event.type) ? on[event.type] : undefined;
    const attempt = readHeader(headers, `${headerPrefix}Attempt`);
    const info = {
      deliveryId: readHeader(headers, `${headerPrefix}Delivery-Id`),
      attempt: attempt === null ? null : Number(attempt),
    };
    await (handle as ((event: AnyEvent, delivery: DeliveryInfo) => unknown) | undefined)?.(event, info);
  }

  return { receive, maxBodyBytes: options.maxBodyBytes ?? DEFAULT_MAX_BODY_BYTES };
}

type Host = { process?: { env?: Record<string, string | undefined> } };

function isDevelopment(): boolean {
  return (globalThis as Host).process?.env?.['NODE_ENV'] === 'development';
}

/** Neither secrets nor signatures are in an explanation. */
async function printExplanation(
  error: WebhookVerificationError,
  explain: () => Promise<SignatureExplanation>,
): Promise<void> {
  const { causes, fix } = await explain();
  const verdict = causes.length === 0 ? error.code : causes.join(', ');
  console.warn(`A delivery was refused (${verdict}). ${causes.length === 0 ? error.message : fix}`);
}
