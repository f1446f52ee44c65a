import { column, given } from '../../db/statements/columns.ts';

/**
 * The columns of `attempts` by the moment at which their values are known, beside the key, `status` and the times.
 * Types, inserts and selects follow from it.
 */
export const ATTEMPT_TABLE = {
  /** From the delivery. */
  delivery: {
    accountId: given<string>('text'),
    deliveryId: given<string>('text'),
  },
  /** From the delivery, as the log shows it. */
  shown: {
    webhookId: given<string>('text'),
    eventId: given<string>('text'),
    eventType: given<string>('text'),
    url: given<string>('text'),
    attempt: given<number>('smallint'),
  },
  /** Of the exchange; null where it did not come so far. */
  result: {
    responseStatus: column<number | null>('smallint', null),
    errorReason: column<string | null>('text', null),
    errorMessage: column<string | null>('text', null),
    durationMs: column<number | null>('real', null),
    dnsMs: column<number | null>('real', null),
    connectMs: column<number | null>('real', null),
    tlsMs: column<number | null>('real', null),
    firstByteMs: column<number | null>('real', null),
    /** Where the request went; null when nothing was sent. */
    remoteAddress: column<string | null>('text', null),
  },
  /** What was sent and answered: headers as JSON text. */
  content: {
    requestHeaders: column<string | null>('text', null),
    responseHeaders: column<string | null>('text', null),
    responseBody: column<Buffer | null>('bytea', null),
  },
} as const;
