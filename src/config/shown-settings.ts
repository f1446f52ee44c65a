import { type Config, SETTINGS } from './settings.ts';

/** A setting as operators see it. Of a secret only whether it is set. */
export type ShownSetting = {
  name: string;
  value: unknown;
  is_default: boolean;
  is_secret: boolean;
  meaning: string;
};

const SECRETS = new Set<keyof Config>([
  'adminToken',
  'secretsKeys',
  'engineApiKey',
  'oidcClientSecret',
  // URLs with a user and a password.
  'databaseUrl',
  'databaseDirectUrl',
  'webhookProxyUrl',
]);

/** Names that must be secrets: a new setting of such a name is hidden too, if it is missing from the list. */
const SECRET_NAME = /KEY|TOKEN|SECRET|PASSWORD/;
const URL_WITH_USER = /\/\/[^/?#]*@/;

/** Every setting of this process, without secrets. */
export function showSettings(config: Config): ShownSetting[] {
  return (Object.keys(SETTINGS) as (keyof Config)[]).map((key) => {
    const { env, fallback, read, meaning } = SETTINGS[key];
    const byDefault = read(fallback);
    const value = plain(config[key]);
    const isDefault = 'value' in byDefault && JSON.stringify(plain(byDefault.value)) === JSON.stringify(value);
    const hasSecretName = SECRET_NAME.test(env) && typeof value !== 'number';
    const isSecret = SECRETS.has(key) || hasSecretName || URL_WITH_USER.test(JSON.stringify(value ?? ''));
    const shown = isSecret && value !== null ? '(hidden)' : asWritten(env, key, value);
    return { name: env, value: shown, is_default: isDefault, is_secret: isSecret, meaning };
  });
}

/** As the setting is written: times in its unit, 10/60 for 10 requests in 60 s, 3,20 for lite and pro. */
function asWritten(env: string, key: string, value: unknown): unknown {
  if (key.endsWith('Ms') && !env.endsWith('_MS')) return inSeconds(value);
  if (key.startsWith('rateLimit') && value === null) return 'off';
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value;
  const { count, windowMs, lite, pro } = value as Record<string, number>;
  if (windowMs !== undefined) return `${count}/${windowMs / 1_000}`;
  return lite === undefined ? value : `${lite},${pro}`;
}

function inSeconds(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inSeconds);
  return typeof value === 'number' ? value / 1_000 : value;
}

/** The value as JSON. */
function plain(value: unknown): unknown {
  return value === undefined ? null : (JSON.parse(JSON.stringify(value)) as unknown);
}
