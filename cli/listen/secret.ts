import { readSecrets, WebhookVerificationError } from '#sdk/webhooks/verification.ts';
import { UsageError } from '../exit.ts';
import { readTextFile } from '../options.ts';
import { makeSecret } from './delivery/local-delivery.ts';
import type { ListenState } from './state-file.ts';

/** The secret that signs, and where it is from, in words. */
export type ChosenSecret = { secret: string; source: string; isNew: boolean };

const VARIABLE = 'VERBATIM_WEBHOOK_SECRET';

/**
 * The secret of a run: from a file, from the environment, or the one that is kept for the profile, made at the first
 * use.
 * @param from  `FILE`, or `FILE:NAME` for a variable of a .env file. Never the secret itself: other users see arguments
 * @throws UsageError
 */
export function chooseSecret(
  { from, renew }: { from: string | undefined; renew: boolean },
  env: NodeJS.ProcessEnv,
  state: ListenState,
): ChosenSecret {
  if (from !== undefined) {
    return { secret: check(readFrom(from), `--secret ${from}`), source: `from ${from}`, isNew: false };
  }
  const given = env[VARIABLE];
  if (given) return { secret: check(given, VARIABLE), source: `from ${VARIABLE}`, isNew: false };
  const source = 'kept for this profile; --print-secret, --secret, --new-secret';
  if (state.secret !== null && !renew) return { secret: state.secret, source, isNew: false };
  return { secret: makeSecret(), source, isNew: true };
}

function readFrom(from: string): string {
  if (from.startsWith('whsec_')) {
    const advice = `put the secret into ${VARIABLE}, or name a file: --secret .env:NAME`;
    throw new UsageError(`Other users can see arguments: ${advice}.`);
  }
  const [, file = from, name = null] = /^(.+):([A-Za-z_][A-Za-z0-9_]*)$/.exec(from) ?? [];
  const text = readTextFile(file);
  if (name === null && /^\s*whsec_\S+\s*$/.test(text)) return text.trim();
  const found = text.matchAll(/^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*["']?(whsec_[^\s"']+)["']?\s*$/gm);
  const secrets = [...found]
    .filter(([, variable]) => name === null || variable === name)
    .map(([, , secret]) => secret!);
  if (secrets.length === 1) return secrets[0]!;
  const problem = secrets.length === 0 ? 'has no secret (whsec_…)' : 'has several secrets: name one, as in .env:NAME';
  throw new UsageError(`--secret ${from}: the file ${problem}.`);
}

function check(secret: string, what: string): string {
  try {
    return readSecrets(secret)[0]!;
  } catch (error) {
    if (error instanceof WebhookVerificationError) throw new UsageError(`${what}: ${error.message}`, { cause: error });
    throw error;
  }
}
