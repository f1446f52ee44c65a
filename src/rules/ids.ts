import { createHash } from 'node:crypto';

/**
 * What an id names: webhook, webhook of one job, webhook for alerts, event, delivery attempt, job, account, key,
 * session, user, membership, invitation, request, ledger entry, delivery row, audit entry, link to a transcript.
 */
export type IdPrefix =
  | ('wh' | 'whj' | 'wha' | 'evt' | 'dlv' | 'job' | 'acct' | 'key' | 'ses')
  | ('usr' | 'mem' | 'inv' | 'req' | 'led' | 'dl' | 'aud' | 'shr');

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const TIME_CHARS = 10;
const RANDOM_BYTES = 10;

/**
 * An id that sorts by time: `<prefix>_` + 10 characters of milliseconds + 16 characters of chance (Crockford base 32).
 * @param nowMs   milliseconds since the epoch
 * @param random  10 random bytes
 */
export function newId(prefix: IdPrefix, nowMs: number, random: Uint8Array): string {
  if (random.length !== RANDOM_BYTES) throw new RangeError(`newId needs ${RANDOM_BYTES} random bytes`);
  return `${prefix}_${idTime(nowMs)}${encodeBytes(random)}`;
}

/** Whether a text has the shape of an id with this prefix. Says nothing about whether it exists. */
export function isId(prefix: IdPrefix, text: string): boolean {
  return text.startsWith(`${prefix}_`) && /^[0-9a-hjkmnp-tv-z]{26}$/.test(text.slice(prefix.length + 1));
}

/** The id of a job's own webhook: that of the job with another prefix. In SQL: `WEBHOOK_ID_OF_JOB`. */
export function webhookIdOfJob(jobId: string): string {
  return `whj_${jobId.slice('job_'.length)}`;
}

/**
 * The id of a job's event: the time of the job's id, and a hash. A job that ends again after the database was restored
 * has the same event, which receivers know already.
 * @param type  of the event; a job has at most one of each type
 */
export function eventIdOfJob(jobId: string, type: string): string {
  const hash = createHash('sha256').update(`${type} ${jobId}`).digest();
  return `evt_${jobId.slice('job_'.length, 'job_'.length + TIME_CHARS)}${encodeBytes(hash.subarray(0, RANDOM_BYTES))}`;
}

/** The job of a webhook; null for the webhook of an account. */
export function jobIdOfWebhook(webhookId: string): string | null {
  return isId('whj', webhookId) ? `job_${webhookId.slice('whj_'.length)}` : null;
}

/** The id of the webhook for the alerts of an account: that of the account with another prefix. */
export function alertsWebhookIdOf(accountId: string): string {
  return `wha_${accountId.slice('acct_'.length)}`;
}

/** What a webhook is for: the events of an account, those of one job, or the alerts of an account. */
export type WebhookKind = 'account' | 'job' | 'alerts';

export function webhookKindOf(webhookId: string): WebhookKind {
  if (webhookId.startsWith('whj_')) return 'job';
  return webhookId.startsWith('wha_') ? 'alerts' : 'account';
}

/** When an id was made, in milliseconds since the epoch. */
export function timeOfId(id: string): number {
  const start = id.indexOf('_') + 1;
  let timeMs = 0;
  for (const character of id.slice(start, start + TIME_CHARS)) timeMs = timeMs * 32 + ALPHABET.indexOf(character);
  return timeMs;
}

/** The part of an id that says when it was made: ten characters. */
export function idTime(nowMs: number): string {
  let rest = Math.floor(nowMs);
  let text = '';
  for (let i = 0; i < TIME_CHARS; i++) {
    text = ALPHABET[rest % 32] + text;
    rest = Math.floor(rest / 32);
  }
  return text;
}

function encodeBytes(bytes: Uint8Array): string {
  let text = '';
  for (let i = 0; i < bytes.length; i += 5) {
    let bits = 0n;
    for (let j = 0; j < 5; j++) bits = (bits << 8n) | BigInt(bytes[i + j]!);
    for (let shift = 35n; shift >= 0n; shift -= 5n) text += ALPHABET[Number((bits >> shift) & 31n)];
  }
  return text;
}
