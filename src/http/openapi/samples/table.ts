/** An argument by its position; on the wire it is in the path, or has a name in the query or the body. */
export type Argument =
  | string
  | { name: string; value: unknown /** Python takes it by its name. */; isKeyword?: boolean }
  /** The audio of a job. */
  | { audio: 'file' | 'url' };

/**
 * How the clients call an operation. The samples in all languages are made of it.
 * @property call     the method of the TypeScript client; Python has the same in its own spelling
 * @property args     by position: the values in the path first
 * @property params   by name: the query or the body
 * @property result   the variable for the answer; `each`: for the items of a list or a stream
 * @property shows    the field of the answer or item that is printed; absent: all of it
 */
export type Sample = {
  call: string;
  args?: readonly Argument[];
  params?: Readonly<Record<string, unknown>>;
  result?: string;
  each?: string;
  shows?: string;
  /** In Python the result is a context manager around the answer. */
  isContextInPython?: boolean;
};

const JOB = 'job_01kamz2f3q8r5t7v9wxyzabcde';
const SHARE = 'shr_01kamz2f3q8r5t7v9wxyzabcde';
const WEBHOOK = 'wh_01kamz2f3q8r5t7v9wxyzabcde';
const DELIVERY = 'dlv_01kamz2f3q8r5t7v9wxyzabcde';
const EVENT = 'evt_01kamz2f3q8r5t7v9wxyzabcde';
const KEY = 'key_01kamz2f3q8r5t7v9wxyzabcde';
const ACCOUNT = 'acct_01kamz2f3q8r5t7v9wxyzabcde';

/** By operation id. `OPENAI` and `PLAIN` have the operations without a method of their own. */
export const SAMPLES: Readonly<Record<string, Sample>> = {
  post_transcribe: {
    call: 'transcribe',
    args: [{ audio: 'file' }],
    params: { timestamps: 'word', keywords: ['Kennedy'], metadata: { order: 42 } },
    result: 'job',
    shows: 'text',
  },
  post_live: {
    call: 'live',
    params: { sample_rate: 16_000, language: 'en' },
    result: 'session',
    shows: 'id',
    isContextInPython: true,
  },
  get_jobs: { call: 'jobs.list', params: { status: 'completed' }, each: 'job', shows: 'id' },
  get_jobs_id: { call: 'jobs.get', args: [JOB], result: 'job', shows: 'status' },
  patch_jobs_id: { call: 'jobs.update', args: [JOB], params: { metadata: { order: 43 } }, result: 'job' },
  delete_jobs_id: { call: 'jobs.delete', args: [JOB] },
  post_jobs_id_cancel: { call: 'jobs.cancel', args: [JOB], result: 'job', shows: 'cost' },
  get_jobs_id_events: { call: 'jobs.follow', args: [JOB], each: 'update' },
  get_jobs_id_transcript: {
    call: 'jobs.transcript',
    args: [JOB, { name: 'format', value: 'srt' }],
    params: { max_line_length: 42 },
    result: 'captions',
  },
  patch_jobs_id_transcript: {
    call: 'jobs.editTranscript',
    args: [JOB, { name: 'segments', value: [{ index: 3, text: 'What your country can do for you.' }] }],
    result: 'transcript',
    shows: 'version',
  },
  get_search: { call: 'search', params: { q: '"your country" -draft' }, each: 'found', shows: 'job_id' },
  get_jobs_id_audio: { call: 'jobs.audio', args: [JOB], result: 'audio', shows: 'headers', isContextInPython: true },
  post_jobs_id_audio_link: {
    call: 'jobs.audioLink',
    args: [JOB],
    params: { expires_in: 60 },
    result: 'link',
    shows: 'url',
  },
  post_jobs_id_share: {
    call: 'jobs.share',
    args: [JOB],
    params: { expires_in: 86_400 },
    result: 'link',
    shows: 'url',
  },
  get_jobs_id_shares: { call: 'jobs.shares', args: [JOB], result: 'links' },
  delete_jobs_id_shares_share_id: { call: 'jobs.endShare', args: [JOB, SHARE] },
  get_jobs_id_peaks: { call: 'jobs.peaks', args: [JOB], params: { points: 1000 }, result: 'peaks', shows: 'max' },
  post_jobs_id_retry: { call: 'jobs.retry', args: [JOB], params: { plan: 'pro' }, result: 'job', shows: 'id' },
  get_stream: { call: 'stream', params: { topics: ['jobs', 'deliveries'] }, each: 'frame' },
  get_models: { call: 'models.list', result: 'models' },
  get_models_id: { call: 'models.get', args: ['pro'], result: 'model', shows: 'features' },
  get_account: { call: 'account', result: 'account', shows: 'limits' },
  get_ledger: { call: 'ledger', each: 'entry', shows: 'amount' },
  get_balance: { call: 'balance', result: 'balance', shows: 'amount' },
  get_usage: {
    call: 'usage',
    params: { from: '2026-11-01', bucket: 'day', group_by: 'plan' },
    result: 'usage',
    shows: 'data',
  },
  get_keys: { call: 'keys.list', each: 'key', shows: 'prefix' },
  post_keys: { call: 'keys.create', params: { name: 'CI', scopes: ['jobs:write'] }, result: 'created', shows: 'key' },
  delete_keys_id: { call: 'keys.delete', args: [KEY] },
  post_webhooks: {
    call: 'webhooks.create',
    params: { url: 'https://hooks.example.com/verbatim', events: ['transcription.completed'] },
    result: 'webhook',
    shows: 'secret',
  },
  get_alerts: { call: 'webhooks.alerts', result: 'alerts', shows: 'webhook' },
  post_alerts: {
    call: 'webhooks.setAlerts',
    params: { url: 'https://hooks.example.com/alerts' },
    result: 'webhook',
    shows: 'secret',
  },
  patch_alerts: { call: 'webhooks.updateAlerts', params: { active: true }, result: 'webhook' },
  delete_alerts: { call: 'webhooks.deleteAlerts' },
  get_webhooks: { call: 'webhooks.list', each: 'webhook', shows: 'url' },
  get_webhooks_id: { call: 'webhooks.get', args: [WEBHOOK], result: 'webhook', shows: 'active' },
  patch_webhooks_id: { call: 'webhooks.update', args: [WEBHOOK], params: { active: true }, result: 'webhook' },
  delete_webhooks_id: { call: 'webhooks.delete', args: [WEBHOOK] },
  post_webhooks_id_rotate_secret: {
    call: 'webhooks.rotateSecret',
    args: [WEBHOOK],
    params: { overlap_seconds: 3600 },
    result: 'webhook',
    shows: 'secret',
  },
  post_webhooks_id_test: {
    call: 'webhooks.test',
    args: [WEBHOOK],
    params: { type: 'transcription.completed' },
    result: 'sent',
    shows: 'event_id',
  },
  get_deliveries: { call: 'deliveries.list', params: { status: 'failed' }, each: 'delivery', shows: 'error' },
  get_webhooks_id_deliveries: {
    call: 'webhooks.deliveries',
    args: [WEBHOOK],
    params: { status: 'failed' },
    each: 'delivery',
    shows: 'error',
  },
  get_webhooks_id_deliveries_delivery_id: {
    call: 'webhooks.delivery',
    args: [WEBHOOK, DELIVERY],
    result: 'delivery',
    shows: 'response',
  },
  post_webhooks_id_deliveries_delivery_id_redeliver: {
    call: 'webhooks.redeliver',
    args: [WEBHOOK, DELIVERY],
    result: 'sent',
    shows: 'event_id',
  },
  post_webhooks_id_redeliver: {
    call: 'webhooks.redeliverMany',
    args: [WEBHOOK, { name: 'delivery_ids', value: [DELIVERY] }],
    result: 'sent',
    shows: 'events',
  },
  post_webhooks_id_recover: {
    call: 'webhooks.recover',
    args: [WEBHOOK],
    params: { since: '2026-11-21T09:00:00Z', dry_run: true },
    result: 'recovered',
    shows: 'events',
  },
  get_webhooks_id_metrics: {
    call: 'webhooks.metrics',
    args: [WEBHOOK],
    params: { bucket: 'hour' },
    result: 'metrics',
    shows: 'data',
  },
  post_webhooks_id_diagnose: {
    call: 'webhooks.diagnose',
    args: [WEBHOOK],
    params: {
      headers: { 'X-Service-Signature': '5d414002', 'X-Service-Timestamp': '2026-11-21T09:30:00.250Z' },
      body: '{"id": "evt_01kamz2f3q8r5t7v9wxyzabcde"}',
    },
    result: 'diagnosis',
    shows: 'fix',
  },
  get_events: { call: 'events.list', params: { type: 'transcription.failed' }, each: 'event', shows: 'job_id' },
  get_events_id: { call: 'events.get', args: [EVENT], result: 'event', shows: 'payload' },
  post_events_id_resend: {
    call: 'events.resend',
    args: [EVENT, { name: 'webhook_id', value: WEBHOOK, isKeyword: true }],
    result: 'sent',
    shows: 'event_id',
  },
  get_event_types: { call: 'events.types', result: 'types' },
};

/** Operations of the operator: methods of VerbatimAdmin, which Python does not have. */
export const ADMIN_SAMPLES: Readonly<Record<string, Sample>> = {
  post_admin_accounts: {
    call: 'accounts.create',
    params: { name: 'Acme', plan: 'pro', credits: 1000 },
    result: 'account',
    shows: 'id',
  },
  get_admin_accounts: { call: 'accounts.list', each: 'account', shows: 'name' },
  get_admin_accounts_id: { call: 'accounts.get', args: [ACCOUNT], result: 'account', shows: 'balance' },
  patch_admin_accounts_id: { call: 'accounts.update', args: [ACCOUNT], params: { plan: 'pro' }, result: 'account' },
  delete_admin_accounts_id: { call: 'accounts.delete', args: [ACCOUNT], result: 'erasure' },
  post_admin_accounts_id_suspend: { call: 'accounts.suspend', args: [ACCOUNT], result: 'account' },
  post_admin_accounts_id_resume: { call: 'accounts.resume', args: [ACCOUNT], result: 'account' },
  post_admin_accounts_id_credits: {
    call: 'accounts.addCredits',
    args: [ACCOUNT],
    params: { amount: 500, note: 'invoice 42' },
    result: 'entry',
    shows: 'balance',
  },
  get_admin_accounts_id_ledger: { call: 'accounts.ledger', args: [ACCOUNT], each: 'entry', shows: 'amount' },
  post_admin_accounts_id_keys: {
    call: 'accounts.createKey',
    args: [ACCOUNT],
    params: { name: 'production' },
    result: 'created',
    shows: 'key',
  },
  get_admin_accounts_id_keys: { call: 'accounts.keys', args: [ACCOUNT], each: 'key', shows: 'prefix' },
  post_admin_accounts_id_invitations: {
    call: 'accounts.invite',
    args: [ACCOUNT],
    params: { role: 'owner', email: 'anna@example.com' },
    result: 'invitation',
    shows: 'url',
  },
  post_admin_accounts_id_portal_links: {
    call: 'accounts.portalLink',
    args: [ACCOUNT],
    params: { scopes: ['webhooks:read', 'webhooks:write'], expires_in: 3600 },
    result: 'link',
    shows: 'url',
  },
  delete_admin_keys_id: { call: 'deleteKey', args: [KEY] },
  get_admin_usage: { call: 'usage', params: { account_id: ACCOUNT, bucket: 'month' }, result: 'usage', shows: 'data' },
  get_admin_overview: { call: 'overview', result: 'overview' },
  get_admin_nodes: { call: 'nodes', result: 'nodes' },
  get_admin_jobs: { call: 'jobs', params: { status: 'processing' }, each: 'job', shows: 'holder' },
  get_admin_webhooks: { call: 'webhooks', params: { active: false }, each: 'webhook', shows: 'disabled_reason' },
  get_admin_models: { call: 'models', result: 'models', shows: 'data' },
  post_admin_models_name_pull: { call: 'pullModel', args: ['parakeet-110m'], result: 'pull', shows: 'total_bytes' },
  delete_admin_models_name_pull: { call: 'cancelPull', args: ['parakeet-110m'], result: 'pull', shows: 'status' },
  get_admin_settings: { call: 'settings', result: 'settings' },
  get_admin_audit: { call: 'audit', params: { action: 'key.created' }, each: 'entry', shows: 'actor' },
  post_admin_secrets_rotate: { call: 'rotateSecrets', result: 'rotation', shows: 'remaining' },
};

/** Operations for clients of OpenAI's API, by the resource of that client. */
export const OPENAI_SAMPLES: Readonly<Record<string, string>> = {
  post_audio_transcriptions: 'audio.transcriptions',
  post_audio_translations: 'audio.translations',
};
