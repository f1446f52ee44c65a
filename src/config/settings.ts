import os from 'node:os';
import path from 'node:path';
import processEnvironment from '../../bin/process-environment.json' with { type: 'json' };
import { FEWEST_CONNECTIONS, FULL_CONNECTIONS, SESSION_POOL_CONNECTIONS } from '../rules/network/connection-share.ts';
import { ADMIN_HOST, mistakesTogether } from './combinations.ts';
import { ConfigError } from './config-error.ts';
import { PEOPLE_SETTINGS } from './people-settings.ts';
import { type Setting, setting } from './setting.ts';
import { LIVE_SETTINGS, MODEL_SETTINGS } from './speech-settings.ts';
import { TLS_SETTINGS } from './tls-settings.ts';
import * as read from './values.ts';

const ROLES = ['api', 'transcriber', 'deliverer', 'janitor'] as const;
export type Role = (typeof ROLES)[number];

/**
 * All settings: name, default, meaning, reader. `docs/configuration.md` is generated from this table.
 * A null default means that the setting may be absent.
 */
export const SETTINGS = {
  ...LIVE_SETTINGS,
  host: setting('HOST', '127.0.0.1', 'address to listen on', read.host),
  port: setting('PORT', '8080', 'port to listen on', read.integer(0, 65_535)),
  adminHost: setting(
    'ADMIN_HOST',
    null,
    'address of a separate listener for /admin, /metrics and the operator console; needs ADMIN_PORT',
    read.optional(read.host),
    `\`${ADMIN_HOST}\` where \`ADMIN_PORT\` is set`,
  ),
  adminPort: setting(
    'ADMIN_PORT',
    null,
    'port of that listener; HOST:PORT then answers 404 for /admin and /metrics',
    read.optional(read.integer(0, 65_535)),
  ),
  ...TLS_SETTINGS,
  ...PEOPLE_SETTINGS,
  consoleFrameAncestors: setting(
    'CONSOLE_FRAME_ANCESTORS',
    '',
    'list of origins, such as https://intranet.example.com, whose pages may show the console and /docs in a frame',
    read.origins,
  ),
  corsAllowedOrigins: setting(
    'CORS_ALLOWED_ORIGINS',
    '',
    'list of origins, such as https://app.example.com, whose pages may call the API (/v1) from the browser',
    read.origins,
  ),
  maxConnections: setting(
    'MAX_CONNECTIONS',
    '10000',
    'open client connections; at the limit the connection with the longest idle time is closed',
    read.integer(1, 1_000_000),
  ),
  maxConnectionsPerAddress: setting(
    'MAX_CONNECTIONS_PER_ADDRESS',
    '2000',
    'open client connections from one address (IPv6: one /64); raise it when all clients come through one proxy',
    read.integer(1, 1_000_000),
  ),
  dataDir: setting(
    'DATA_DIR',
    './data',
    'folder for the embedded database, audio, models and keys (mode 0700)',
    read.folder,
  ),
  databaseUrl: setting(
    'DATABASE_URL',
    null,
    'PostgreSQL 15 or newer, with the parameters of libpq for TLS (sslmode, sslrootcert, sslcert, sslkey); without it the embedded database is used',
    read.optional(read.databaseUrl),
  ),
  postgresBin: setting(
    'POSTGRES_BIN',
    null,
    'folder with the programs of PostgreSQL 18 for the embedded database',
    read.optional(read.folder),
    'the newest 18 of the machine and of the npm package',
  ),
  databaseDirectUrl: setting(
    'DATABASE_DIRECT_URL',
    null,
    'direct connection to PostgreSQL for LISTEN and migrations; needed when DATABASE_URL is a pooler in transaction mode',
    read.optional(read.databaseUrl),
    '`DATABASE_URL`',
  ),
  databaseConnections: setting(
    'DATABASE_CONNECTIONS',
    null,
    'maximum number of connections that this node opens to DATABASE_URL',
    read.optional(read.integer(FEWEST_CONNECTIONS, FULL_CONNECTIONS)),
    `\`${FULL_CONNECTIONS}\`; \`${SESSION_POOL_CONNECTIONS}\` behind a pooler in session mode`,
  ),
  storageUrl: setting(
    'STORAGE_URL',
    null,
    's3://bucket/prefix for audio; without it audio is stored as files in DATA_DIR',
    read.optional(read.storageUrl),
  ),
  s3Endpoint: setting(
    'AWS_ENDPOINT_URL_S3',
    null,
    'URL of an S3-compatible server; credentials come from the usual AWS variables and files',
    read.optional(read.httpUrl),
  ),
  awsEndpoint: setting(
    'AWS_ENDPOINT_URL',
    null,
    'used when AWS_ENDPOINT_URL_S3 is not set',
    read.optional(read.httpUrl),
  ),
  awsRegion: setting('AWS_REGION', null, 'region of the bucket', read.optional(read.text)),
  roles: setting('ROLES', ROLES.join(','), 'roles of this node, separated by commas', read.listOf(ROLES)),
  adminToken: setting(
    'ADMIN_TOKEN',
    null,
    'bearer token of /admin/v1; without it the first start generates one in DATA_DIR/admin-token',
    read.optional(read.token),
  ),
  secretsKeys: setting(
    'SECRETS_KEY',
    null,
    '32 bytes in base64 that encrypt webhook secrets; of several, separated by commas, the first encrypts and all decrypt; without it the first start generates DATA_DIR/secrets-key',
    read.optional(read.keys32),
  ),
  unreadableRows: setting(
    'UNREADABLE_ROWS',
    'stop',
    'stop, or keep: the service starts although it lacks the key by which rows of the database are encrypted',
    read.oneOf(['stop', 'keep']),
  ),
  ...MODEL_SETTINGS,
  transcribeConcurrency: setting(
    'TRANSCRIBE_CONCURRENCY',
    String(os.availableParallelism()),
    'pieces of audio that this node transcribes at once, of a speech server at most; also its number of jobs under way',
    read.integer(1, 1024),
    'number of cores',
  ),
  syncWaitMs: setting(
    'SYNC_WAIT_SECONDS',
    '300',
    'seconds that a synchronous request waits for its job before it is answered 202',
    read.secondsAsMs(0, 3600),
  ),
  maxUploadBytes: setting(
    'MAX_UPLOAD_BYTES',
    String(2 ** 30),
    'maximum size of an uploaded file, in bytes',
    read.integer(1, 2 ** 40),
  ),
  maxUploadsPerAccount: setting(
    'MAX_UPLOADS_PER_ACCOUNT',
    '8',
    'uploads of one account at once on this node; further ones are answered 429',
    read.integer(1, 10_000),
  ),
  minFreeDiskBytes: setting(
    'MIN_FREE_DISK_BYTES',
    String(2 ** 30),
    'bytes that uploads leave free on the disk of DATA_DIR/audio; with less, uploads are answered 503',
    read.integer(0, 2 ** 50),
  ),
  maxAudioSeconds: setting(
    'MAX_AUDIO_SECONDS',
    '14400',
    'maximum length of the audio of one job, in seconds',
    read.integer(1, 1_000_000),
  ),
  maxQueuedJobs: setting(
    'MAX_QUEUED_JOBS',
    '100000',
    'queued jobs of all accounts; further uploads are answered 503',
    read.integer(1, 1e9),
  ),
  maxIdempotencyKeys: setting(
    'MAX_IDEMPOTENCY_KEYS',
    '100000',
    'stored Idempotency-Keys of one account; requests with further ones are answered 429',
    read.integer(1, 1e9),
  ),
  creditRateLite: setting(
    'CREDIT_RATE_LITE',
    '1',
    'credits per minute of audio on the lite plan',
    read.decimal(0, 1000, 3),
  ),
  creditRatePro: setting(
    'CREDIT_RATE_PRO',
    '2',
    'credits per minute of audio on the pro plan',
    read.decimal(0, 1000, 3),
  ),
  rateLimitTranscribe: setting(
    'RATE_LIMIT_TRANSCRIBE',
    '10/60',
    'requests/seconds for transcriptions, or off',
    read.rateLimit,
  ),
  rateLimitBalance: setting('RATE_LIMIT_BALANCE', '60/60', 'requests/seconds for the balance, or off', read.rateLimit),
  rateLimitJobs: setting('RATE_LIMIT_JOBS', '60/60', 'requests/seconds for the job list, or off', read.rateLimit),
  rateLimitResend: setting(
    'RATE_LIMIT_RESEND',
    '60/60',
    'requests/seconds for test pings, redeliveries and recoveries together, or off',
    read.rateLimit,
  ),
  rateLimitDefault: setting(
    'RATE_LIMIT_DEFAULT',
    '600/60',
    'requests/seconds for all other endpoints, or off',
    read.rateLimit,
  ),
  webhookRetryDelaysMs: setting(
    'WEBHOOK_RETRY_DELAYS',
    '0,30,300,1800',
    'seconds before each of the four attempts',
    read.fourDelaysAsMs,
  ),
  webhookTimeoutMs: setting(
    'WEBHOOK_TIMEOUT_MS',
    '5000',
    'milliseconds for one attempt, name resolution included',
    read.integer(100, 60_000),
  ),
  webhookDisableFailures: setting(
    'WEBHOOK_DISABLE_FAILURES',
    '10',
    'consecutive failed attempts before a webhook is disabled',
    read.integer(1, 1_000_000),
  ),
  webhookDisableMs: setting(
    'WEBHOOK_DISABLE_SECONDS',
    '1800',
    'seconds over which these failures must extend before a webhook is disabled',
    read.secondsAsMs(0, 31_536_000),
  ),
  webhookAllowedTargets: setting(
    'WEBHOOK_ALLOWED_TARGETS',
    '',
    'list of CIDR[:port] to which deliveries are allowed although they are not public',
    read.allowedTargets,
  ),
  jobWebhooks: setting(
    'JOB_WEBHOOKS',
    'pro',
    'accounts whose jobs may have a webhook of their own (webhook_url): pro, all or off',
    read.oneOf(['pro', 'all', 'off']),
  ),
  webhookHeaderPrefix: setting(
    'WEBHOOK_HEADER_PREFIX',
    'X-Service-',
    'prefix of the delivery headers',
    read.headerPrefix,
  ),
  webhookProxyUrl: setting(
    'WEBHOOK_PROXY_URL',
    null,
    'http:// or https:// URL of an egress proxy (CONNECT) for all deliveries and fetches, with optional user:password@',
    read.optional(read.proxyUrl),
  ),
  audioUrl: setting(
    'AUDIO_URL',
    'on',
    'on, or off: audio is not fetched from URLs (audio_url)',
    read.oneOf(['on', 'off']),
  ),
  audioUrlAllowedTargets: setting(
    'AUDIO_URL_ALLOWED_TARGETS',
    '',
    'list of CIDR[:port] from which audio is fetched although they are not public; with a port, by http:// too',
    read.allowedTargets,
  ),
  retentionDaysLite: setting(
    'RETENTION_DAYS_LITE',
    '7',
    'days for which the delivery log and events are kept, lite',
    read.integer(1, 3650),
  ),
  retentionDaysPro: setting(
    'RETENTION_DAYS_PRO',
    '30',
    'days for which the delivery log and events are kept, pro',
    read.integer(1, 3650),
  ),
  jobRetentionDays: setting('JOB_RETENTION_DAYS', '30', 'days for which ended jobs are kept', read.integer(1, 3650)),
  audioRetentionHours: setting(
    'AUDIO_RETENTION_HOURS',
    '24',
    'hours for which audio is kept after its job ended; 0: it is erased when the job ends',
    read.integer(0, 87_600),
  ),
  engineWaitHours: setting(
    'ENGINE_WAIT_HOURS',
    '24',
    'hours for which jobs wait for a speech engine or an audio storage that is away; then they fail',
    read.integer(1, 8_760),
  ),
  search: setting(
    'SEARCH',
    'on',
    'on, or off: transcripts are not indexed, and those that were are removed from the index',
    read.oneOf(['on', 'off']),
  ),
  audioSandbox: setting(
    'AUDIO_SANDBOX',
    'best-effort',
    'best-effort, or require: the service refuses to start when the decoder sandbox is incomplete',
    read.oneOf(['best-effort', 'require']),
  ),
  toolsDir: setting(
    'VERBATIM_TOOLS',
    null,
    'folder with unpacked ffmpeg and bubblewrap when they are not installed; set by bin/verbatim',
    read.optional(read.folder),
  ),
  logLevel: setting(
    'LOG_LEVEL',
    'info',
    'debug, info, warn, error or silent; successful delivery attempts are logged at debug',
    read.oneOf(['debug', 'info', 'warn', 'error', 'silent']),
  ),
  logFormat: setting(
    'LOG_FORMAT',
    'auto',
    'auto, json or text: auto writes lines of JSON, and text where standard output is a terminal',
    read.oneOf(['auto', 'json', 'text']),
  ),
  otlpEndpoint: setting(
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    null,
    'base URL of an OpenTelemetry collector (OTLP over HTTP) for spans, such as http://localhost:4318; its library reads the other OTEL_ variables',
    read.optional(read.httpUrl),
  ),
  command: setting(
    'VERBATIM_COMMAND',
    'verbatim',
    'how messages name the command; set by bin/verbatim to what was typed',
    read.text,
  ),
} as const;

type ValueOf<S> = S extends Setting<infer Value> ? Value : never;
export type Config = { [Name in keyof typeof SETTINGS]: ValueOf<(typeof SETTINGS)[Name]> };

/**
 * The settings of this process, from the environment and the defaults above.
 * @throws ConfigError  naming every mistake at once
 */
export function readConfig(env: NodeJS.ProcessEnv = process.env): Config {
  const mistakes: string[] = [];
  const config: Record<string, unknown> = {};
  for (const [name, { env: variable, fallback, read: reader }] of Object.entries<Setting<unknown>>(SETTINGS)) {
    // An empty variable counts as absent: compose files and unit files often pass one through.
    const given = env[variable] === undefined || env[variable] === '' ? fallback : env[variable];
    const result = reader(given);
    if ('mistake' in result) mistakes.push(`${variable} ${result.mistake}`);
    else config[name] = result.value;
  }
  if (env['NODE_TLS_REJECT_UNAUTHORIZED'] === '0') {
    mistakes.push(
      'NODE_TLS_REJECT_UNAUTHORIZED=0 would let anyone read deliveries; name extra CAs in NODE_EXTRA_CA_CERTS',
    );
  }
  mistakes.push(...mistakesTogether(config));
  if (mistakes.length > 0) throw new ConfigError(mistakes);
  return config as Config;
}

/**
 * The environment of a role's process: this one's, with what Node and the C library read at their start. Node's default
 * of 4 threads serves DNS lookups and file access: slow name servers must not delay file access. glibc would keep
 * memory for several of these threads: 1 to 3 MB more in each process at rest.
 */
export function roleEnvironment(env: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv {
  return { ...processEnvironment, ...env };
}

/** Paths inside the data directory. */
export function dataPaths(dataDir: string) {
  return {
    database: path.join(dataDir, 'database'),
    audio: path.join(dataDir, 'audio'),
    models: path.join(dataDir, 'models'),
    adminToken: path.join(dataDir, 'admin-token'),
    secretsKey: path.join(dataDir, 'secrets-key'),
    nodeId: path.join(dataDir, 'node-id'),
    /** Where the service listens. */
    address: path.join(dataDir, 'address.json'),
    /** The id of the audio storage that this node worked with. */
    storageNote: path.join(dataDir, 'storage-id'),
  };
}
