import { publicCommand } from '../config/public-command.ts';
import type { Config } from '../config/settings.ts';
import type { AllowedTarget } from '../config/values.ts';
import { ApiError } from '../http/api-error.ts';
import type { Clock } from '../platform/clock.ts';
import {
  evaluateAddresses,
  loopbackHost,
  parseWebhookUrl,
  type UrlTarget,
  type UrlVerdict,
} from '../rules/network/url-guard.ts';
import type { Resolver } from './dns/resolve.ts';

// A slow name server must not delay the caller; each connection resolves the name again.
const LOOKUP_WAIT_MS = 2_000;

type ResolveOptions = {
  /** The field of the request that holds the URL. */
  param: string;
  /** The account for which the name is resolved. */
  accountId: string;
  allowedTargets: readonly AllowedTarget[];
  resolver: Resolver;
  clock: Clock;
};

/**
 * The target of a URL that the rules accept by its form, its literal address and its name.
 * @param param  the field of the request that holds the URL
 * @throws ApiError  400 forbidden_url, naming the rule of contract section 4
 */
export function permittedTarget(verdict: UrlVerdict, param: string): UrlTarget {
  if (verdict.kind === 'refused') throw forbiddenUrl(verdict.message, param);
  return verdict.target;
}

/**
 * As `permittedTarget`, for the URL of a webhook. The error for a URL of the client's own machine names the command
 * that brings events there.
 * @throws ApiError  400 forbidden_url
 */
export function permittedWebhook(url: string, param: string, config: Config): UrlTarget {
  const verdict = parseWebhookUrl(url, config.webhookAllowedTargets);
  const host = verdict.kind === 'refused' ? loopbackHost(url) : null;
  if (verdict.kind === 'ok' || host === null) return permittedTarget(verdict, param);
  const command = `${publicCommand(config.command)} listen --forward-to ${host}`;
  throw forbiddenUrl(`${verdict.message} To get events on your own machine, run: ${command}`, param);
}

/**
 * The URL as it is stored and sent to. Refuses what its name resolves to now, where that is not allowed. A public name
 * that does not resolve now, or not in time, is accepted.
 * @throws ApiError  400 forbidden_url
 */
export async function resolveUrl(
  target: UrlTarget,
  { param, accountId, allowedTargets, resolver, clock }: ResolveOptions,
): Promise<string> {
  // Literal addresses were checked with the form.
  if (target.literal !== null) return target.href;
  const addresses = await lookUpInTime(target.hostname, { accountId, resolver, clock });
  if (addresses.length === 0 && !target.isLocalName) return target.href;
  const verdict = evaluateAddresses({ target, addresses, allowed: allowedTargets });
  if (verdict.kind === 'refused') throw forbiddenUrl(verdict.message, param);
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

function forbiddenUrl(message: string, param: string): ApiError {
  return new ApiError('forbidden_url', message, { param });
}
