import type { OwnHeaders } from '../../rules/webhooks/own-headers.ts';
import type { SecretBox } from './secrets.ts';
import { UnreadableSecret } from './signers.ts';

/** Opens the headers of webhooks and keeps them for the next attempt. */
export type HeaderReader = {
  /**
   * @param sealed  null: the webhook has none
   * @throws UnreadableSecret
   */
  headersOf(webhookId: string, sealed: Buffer | null): OwnHeaders;
};

const NONE: OwnHeaders = {};
// Of at most 4 KiB each.
const MAX_KEPT = 2_000;

/** What the headers are sealed for: they do not open as the webhook's secret, nor the secret as headers. */
export function headersPlace(webhookId: string): string {
  return `${webhookId}/headers`;
}

/** The headers as they are stored: JSON, encrypted. */
export function sealHeaders(box: Pick<SecretBox, 'seal'>, webhookId: string, headers: OwnHeaders): Buffer {
  return box.seal(headersPlace(webhookId), JSON.stringify(headers));
}

export function openHeaderReader(box: Pick<SecretBox, 'open'>): HeaderReader {
  const kept = new Map<string, OwnHeaders>();
  return {
    headersOf(webhookId, sealed) {
      if (sealed === null) return NONE;
      const name = `${webhookId} ${sealed.toString('latin1')}`;
      const known = kept.get(name);
      if (known) return known;
      const headers = openHeaders(box, webhookId, sealed);
      if (kept.size >= MAX_KEPT) kept.clear();
      kept.set(name, headers);
      return headers;
    },
  };
}

function openHeaders(box: Pick<SecretBox, 'open'>, webhookId: string, sealed: Buffer): OwnHeaders {
  try {
    return JSON.parse(box.open(headersPlace(webhookId), sealed)) as OwnHeaders;
  } catch (cause) {
    throw new UnreadableSecret('the headers of a webhook do not open', { cause });
  }
}
