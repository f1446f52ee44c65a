import type { AllowedTarget } from '../../config/values.ts';
import { ApiError } from '../../http/api-error.ts';
import type { Clock } from '../../platform/clock.ts';
import type { WebhookTarget } from '../../rules/network/url-guard.ts';
import { evaluateAddresses, parseWebhookUrl } from '../../rules/network/url-guard.ts';
import type { Resolver } from '../dns/resolve.ts';

// A slow name server must not delay the caller; each attempt resolves the name again.
const LOOKUP_WAIT_MS = 2_000;

type ResolveOptions = {
  /** The account for which the name is resolved. */
  accountId: string;
  allowedTargets: AllowedTarget[];
  resolver: Resolver;
  clock: Clock;
};

/**
 * The target of a webhook, if the form of its URL, its literal address and its name are allowed.
 * @throws ApiError  400 forbidden_url, naming the rule of contract section 4
 */
export function readWebhookUrl(raw: string, allowedTargets: AllowedTarget[]): WebhookTarget {
  const parsed = parseWebhookUrl(raw, allowedTargets);
  if (parsed.kind === 'refused') throw forbiddenUrl(parsed.message);
  return parsed.target;
}

/**
 * The URL as it is stored and sent to. Refuses what its name resolves to now, where that is not allowed. A public name
 * that does not resolve now, or not in time, is accepted.
 * @throws ApiError  400 forbidden_url
 */
export async function resolveWebhookUrl(
  target: WebhookTarget,
  { accountId, allowedTargets, resolver, clock }: ResolveOptions,
): Promise<string> {
  // parseWebhookUrl has checked literal addresses.
  if (target.literal !== null) return target.href;
  const addresses = await lookUpInTime(target.hostname, { accountId, resolver, clock });
  if (addresses.length === 0 && !target.isLocalName) return target.href;
  const verdict = evaluateAddresses({ target, addresses, allowed: allowedTargets });
  if (verdict.kind === 'refused') throw forbiddenUrl(verdict.message);
  return target.href;
}

async function lookUpInTime(
  hostname: string,
  { accountId, resolver, clock }: Pick<ResolveOptions, 'accountId' | 'resolver' | 'clock'>,
): Promise<string[]> {
  const answered = new AbortController();
  const patience = clock.sleep(LOOKUP_WAIT_MS, answered.signal).then((): string[] => []);
  const answer = resolver
    .startLookup(hostname, { accountId, maxWaitMs: LOOKUP_WAIT_MS })
    .then((lookup) => lookup?.addresses ?? [])
    .catch((): string[] => []);
  const addresses = await Promise.race([answer, patience]);
  answered.abort();
  return addresses;
}

function forbiddenUrl(message: string): ApiError {
  return new ApiError('forbidden_url', message, { param: 'url' });
}
