import { findRunningService } from '../../bin/running-service.js';
import { CommandError, EXIT, UsageError } from '../exit.ts';
import { typed } from '../typed.ts';
import { DEFAULT_PROFILE, readProfiles } from './profiles.ts';

/** Where the service is looked for when nothing says where it is. */
export const DEFAULT_URL = 'http://127.0.0.1:8080';

/** Which service a command talks to. */
export type Connection = {
  /** Without a slash at its end. */
  url: string;
  /** Null: not signed in. */
  apiKey: string | null;
  /** Where settings such as the secret of `listen` are kept, also when the key comes from the environment. */
  profile: string;
};

type Choice = { profile?: string | undefined; url?: string | undefined };

/**
 * The service and key of a command: from the options --profile and --url, else from VERBATIM_URL and VERBATIM_API_KEY,
 * else from the current profile; without a URL, the service that runs in this folder. The key of a profile is sent to
 * the service of that profile only.
 * @throws CommandError  if the profile does not exist or a URL is not one
 */
export function findConnection(env: NodeJS.ProcessEnv, choice: Choice): Connection {
  const envUrl = choice.profile === undefined ? env['VERBATIM_URL'] || undefined : undefined;
  const envKey = choice.profile === undefined ? env['VERBATIM_API_KEY'] || undefined : undefined;
  const wantedUrl = choice.url ?? envUrl;
  if (wantedUrl !== undefined && envKey !== undefined) {
    return { url: readUrl(wantedUrl), apiKey: envKey, profile: DEFAULT_PROFILE };
  }
  const { current, profiles } = readProfiles(env);
  const name = choice.profile ?? current;
  const profile = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  if (choice.profile !== undefined && !profile) {
    const advice = `run "${typed(env, `init --profile ${name}`)}".`;
    throw new CommandError(`There is no profile "${name}": ${advice}`, EXIT.notSignedIn);
  }
  const url = readUrl(wantedUrl ?? profile?.url ?? findRunningService(env)?.url ?? DEFAULT_URL);
  const isOfProfile = profile !== undefined && new URL(profile.url).origin === new URL(url).origin;
  return { url, apiKey: envKey ?? (isOfProfile ? profile.api_key : null), profile: name };
}

/**
 * An http or https URL of a service, without a slash at its end.
 * @throws UsageError
 */
export function readUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  const isPlain = url?.username === '' && url.password === '' && url.search === '' && url.hash === '';
  if (!url || !isPlain || !/^https?:$/.test(url.protocol)) {
    throw new UsageError(`"${text}" is not the URL of a service, such as ${DEFAULT_URL}.`);
  }
  return url.href.replace(/\/+$/, '');
}
