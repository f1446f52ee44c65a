import { type Config, type Role, SETTINGS } from './settings.ts';

// The roles that store, read and erase audio.
const AUDIO_ROLES: Role[] = ['api', 'transcriber', 'janitor'];
const HOURS_PER_DAY = 24;

/** A setting that changes nothing while the condition holds, and why, as the end of a sentence. */
type Unserved = { name: keyof Config; when: (config: Config) => boolean; reason: string };

const ofIssuer = 'without OIDC_ISSUER';
const ofLive = 'with LIVE_SESSIONS=0';
const hasNoLive = ({ liveSessions }: Config) => liveSessions === 0;
const hasNoIssuer = ({ oidcIssuer }: Config) => oidcIssuer === null;

// Variables that other programs read too are not among them: AWS_ENDPOINT_URL, AWS_REGION, PIP_INDEX_URL.
const UNSERVED: Unserved[] = [
  {
    name: 'databaseConnections',
    when: ({ databaseUrl }) => databaseUrl === null,
    reason: 'without DATABASE_URL: the embedded database is used',
  },
  {
    name: 'postgresBin',
    when: ({ databaseUrl }) => databaseUrl !== null,
    reason: 'beside DATABASE_URL, which names another database',
  },
  { name: 's3Endpoint', when: ({ storageUrl }) => storageUrl === null, reason: 'without STORAGE_URL' },
  {
    name: 'tlsPort',
    when: ({ tlsCertFile }) => tlsCertFile === null,
    reason: 'without TLS_CERT_FILE and TLS_KEY_FILE',
  },
  { name: 'oidcName', when: hasNoIssuer, reason: ofIssuer },
  { name: 'oidcClientSecret', when: hasNoIssuer, reason: ofIssuer },
  { name: 'engineApiKey', when: hasNoRemoteEngine, reason: 'without an engine openai:<base url>' },
  { name: 'audioUrlAllowedTargets', when: ({ audioUrl }) => audioUrl === 'off', reason: 'with AUDIO_URL=off' },
  {
    name: 'audioRetentionHours',
    when: ({ audioRetentionHours, jobRetentionDays }) => audioRetentionHours > jobRetentionDays * HOURS_PER_DAY,
    reason: 'beyond JOB_RETENTION_DAYS: audio is erased with its job',
  },
  { name: 'engineLiveLite', when: hasNoLive, reason: ofLive },
  { name: 'engineLivePro', when: hasNoLive, reason: ofLive },
  { name: 'liveStepSeconds', when: hasNoLive, reason: ofLive },
  { name: 'maxLiveSessionsPerAccount', when: hasNoLive, reason: ofLive },
];

/** Warnings about settings that are valid but probably a mistake, in sentences for the operator. */
export function doubtsAbout(config: Config): string[] {
  const unserved = UNSERVED.filter(({ name, when }) => isSet(config, name) && when(config));
  return [
    ...filesOfOtherNodes(config),
    ...unserved.map(({ name, reason }) => `${SETTINGS[name].env} has no effect ${reason}. Correct one of the two.`),
  ];
}

function filesOfOtherNodes({ roles, storageUrl }: Config): string[] {
  const held = AUDIO_ROLES.filter((role) => roles.includes(role));
  if (storageUrl !== null || held.length === 0 || held.length === AUDIO_ROLES.length) return [];
  const missing = AUDIO_ROLES.filter((role) => !roles.includes(role));
  return [
    `ROLES leaves ${missing.join(' and ')} to other nodes, and uploads are files in DATA_DIR: set STORAGE_URL, unless ` +
      'those nodes have the same DATA_DIR.',
  ];
}

/** Whether the environment gives it another value than the default. */
function isSet(config: Config, name: keyof Config): boolean {
  const { fallback, read } = SETTINGS[name];
  const byDefault = read(fallback);
  return 'value' in byDefault && JSON.stringify(byDefault.value) !== JSON.stringify(config[name]);
}

function hasNoRemoteEngine({ engineLite, enginePro, engineLiveLite, engineLivePro }: Config): boolean {
  return ![engineLite, enginePro, engineLiveLite, engineLivePro].some((spec) => spec?.kind === 'openai');
}
