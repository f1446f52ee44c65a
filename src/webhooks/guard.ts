import type { AllowedTarget } from '../config-values.ts';
import { ApiError } from '../errors.ts';
import { judgeAddresses, parseWebhookUrl } from '../rules/url-guard.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Lookup } from './resolve.ts';

// A name server that is slow must not keep the caller waiting; each attempt resolves the name again.
const LOOKUP_WAIT_MS = 2_000;

/**
 * The URL as it is stored and sent to. Refuses what contract section 4 refuses: by its form, its literal address, its
 * name, and what the name resolves to now. A public name that does not resolve now, or not in time, is accepted.
 * @throws ApiError  400 forbidden_url, naming the rule
 */
export async function acceptWebhookUrl(
  raw: string,
  { allowedTargets, lookup, clock }: { allowedTargets: AllowedTarget[]; lookup: Lookup; clock: Clock },
): Promise<string> {
  const parsed = parseWebhookUrl(raw, allowedTargets);
  if (parsed.kind === 'refused') throw forbiddenUrl(parsed.message);
  const { target } = parsed;
  // Literals were judged with the form.
  if (target.literal !== null) return target.href;
  const addresses = await lookUpInTime(target.hostname, lookup, clock);
  if (addresses.length === 0 && !target.isLocalName) return target.href;
  const verdict = judgeAddresses({ target, addresses, allowed: allowedTargets });
  if (verdict.kind === 'refused') throw forbiddenUrl(verdict.message);
  return target.href;
}

async function lookUpInTime(hostname: string, lookup: Lookup, clock: Clock): Promise<string[]> {
  const answered = new AbortController();
  const patience = clock.sleep(LOOKUP_WAIT_MS, answered.signal).then((): string[] => []);
  const answer = lookup(hostname).catch((): string[] => []);
  const addresses = await Promise.race([answer, patience]);
  answered.abort();
  return addresses;
}

function forbiddenUrl(message: string): ApiError {
  return new ApiError('forbidden_url', message, { param: 'url' });
}
