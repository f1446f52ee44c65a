import { engineSpec } from '../engines/engine-spec.ts';
import { setting } from './setting.ts';
import * as read from './values.ts';

/** The settings of live sessions. */
export const LIVE_SETTINGS = {
  rateLimitLive: setting(
    'RATE_LIMIT_LIVE',
    '30/60',
    'new live sessions and client secrets/seconds, or off',
    read.rateLimit,
  ),
  liveSessions: setting(
    'LIVE_SESSIONS',
    null,
    'live sessions at once on this node; 0 switches them off',
    read.optional(read.integer(0, 100_000)),
    'what the engine can serve',
  ),
  maxLiveSessionsPerAccount: setting(
    'MAX_LIVE_SESSIONS_PER_ACCOUNT',
    '3,20',
    'live sessions at once of an account on lite, and on pro; one number is for both',
    read.forPlans(1, 100_000),
  ),
  engineLiveLite: setting(
    'ENGINE_LIVE_LITE',
    null,
    'engine of live sessions on lite, named as in ENGINE_LITE',
    read.optional(engineSpec),
    '`ENGINE_LITE`; without that a pulled streaming model, else the best engine',
  ),
  engineLivePro: setting(
    'ENGINE_LIVE_PRO',
    null,
    'engine of live sessions on pro, named as in ENGINE_PRO',
    read.optional(engineSpec),
    '`ENGINE_PRO`; without that a pulled streaming model, else the best engine',
  ),
  liveStepSeconds: setting(
    'LIVE_STEP_SECONDS',
    null,
    'seconds of speech between two transcripts of an open segment, for engines that do not stream; a remote engine bills each',
    read.optional(read.decimal(0.3, 30, 2)),
    '`1`; `3` for a remote engine',
  ),
  publicUrl: setting(
    'PUBLIC_URL',
    null,
    'address by which clients reach the service, such as https://speech.example.com: answers then have whole URLs',
    read.optional(read.publicUrl),
  ),
};

/** Where models come from. */
export const MODEL_SETTINGS = {
  engineLite: setting(
    'ENGINE_LITE',
    null,
    'engine of the lite plan; without it the best available one is used',
    read.optional(engineSpec),
  ),
  enginePro: setting(
    'ENGINE_PRO',
    null,
    'engine of the pro plan; without it the best available one is used',
    read.optional(engineSpec),
  ),
  engineApiKey: setting('ENGINE_API_KEY', null, 'API key that is sent to a remote engine', read.optional(read.text)),
  hubUrl: setting('HF_ENDPOINT', 'https://huggingface.co', 'hub from which models are downloaded', read.httpUrl),
  pipIndexUrl: setting(
    'PIP_INDEX_URL',
    null,
    'index of Python packages from which the first model is downloaded where the hub cannot be reached',
    read.optional(read.httpUrl),
    "that of pip's configuration, else `https://pypi.org/simple`",
  ),
  modelDownload: setting(
    'MODEL_DOWNLOAD',
    'on',
    'on, or off: a service without a model does not download the first one by itself',
    read.oneOf(['on', 'off']),
  ),
};
