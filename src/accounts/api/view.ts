import { creditRates } from '../../config/rates.ts';
import type { Config } from '../../config/settings.ts';
import { component, idSchema, nullable, oneOf, pageSchema, type Static, Type, timeSchema } from '../../http/schema.ts';
import { PLANS } from '../../rules/accounts/plan.ts';
import { SCOPE_MEANING, SCOPES } from '../../rules/accounts/scopes.ts';
import { creditsFromUnits } from '../../rules/jobs/price.ts';
import type { KeyRow } from '../keys/key-store.ts';
import type { AccountRow } from '../store.ts';

export const planSchema = oneOf(PLANS);

export const balanceSchema = Type.Object(
  {
    amount: nullable(Type.Number(), 'What can be spent; null when unlimited.'),
    held: Type.Number({ description: 'Set aside for accepted jobs.' }),
    units: Type.Literal('credits'),
    unlimited: Type.Boolean(),
    rates: Type.Object({ lite: Type.Number(), pro: Type.Number() }, { description: 'Credits per minute of audio.' }),
    plan: planSchema,
  },
  component('Balance', {
    amount: 593.25,
    held: 12.5,
    units: 'credits',
    unlimited: false,
    rates: { lite: 1, pro: 2 },
    plan: 'pro',
  }),
);

export const accountSchema = Type.Object(
  {
    id: idSchema('acct', 'acct_01kamz2f3q8r5t7v9wxyzabcde'),
    name: Type.String(),
    plan: planSchema,
    balance: balanceSchema,
    suspended_at: nullable(
      timeSchema,
      'Since then its keys are refused and its deliveries wait; null: it is not suspended.',
    ),
    created_at: timeSchema,
  },
  component('Account'),
);
export const accountListSchema = pageSchema('AccountList', accountSchema);

const rateSchema = nullable(
  Type.Object({ requests: Type.Integer(), seconds: Type.Integer() }),
  'The most requests in any span of this length, in seconds; null: no limit.',
);

/** What an account's own key sees of the account. */
export const ownAccountSchema = Type.Object(
  {
    id: idSchema('acct', 'acct_01kamz2f3q8r5t7v9wxyzabcde'),
    name: Type.String(),
    plan: planSchema,
    limits: Type.Object({
      webhooks: Type.Integer({ description: 'Webhooks that the plan allows; disabled ones count.' }),
      rates: Type.Object(
        { transcribe: rateSchema, balance: rateSchema, jobs: rateSchema, resend: rateSchema, default: rateSchema },
        { description: 'By group of endpoints; the RateLimit headers of each answer show what is left.' },
      ),
      upload_bytes: Type.Integer(),
      audio_seconds: Type.Integer(),
      delivery_log_days: Type.Integer({ description: 'How long the delivery log is kept.' }),
      job_days: Type.Integer({ description: 'How long ended jobs are kept.' }),
    }),
    deliveries: Type.Object(
      {
        timeout_ms: Type.Integer({ description: 'Of one attempt.' }),
        retry_delays_seconds: Type.Array(Type.Number({ minimum: 0 }), {
          description: 'Before each attempt, counted from the end of the one before; each varies by up to 10 %.',
        }),
        disable_failures: Type.Integer({
          description: 'A webhook is disabled after this number of failed attempts in a row …',
        }),
        disable_seconds: Type.Number({ minimum: 0, description: '… over at least this time.' }),
      },
      { description: 'How deliveries are attempted.' },
    ),
    webhook_header_prefix: Type.String({ description: 'How the headers of deliveries begin.' }),
    scopes: Type.Array(oneOf(SCOPES), { description: 'What the key of this request may do.' }),
  },
  component('OwnAccount', {
    id: 'acct_01kamz2f3q8r5t7v9wxyzabcde',
    name: 'Example Ltd',
    plan: 'pro',
    limits: {
      webhooks: 5,
      rates: {
        transcribe: { requests: 10, seconds: 60 },
        balance: { requests: 60, seconds: 60 },
        jobs: { requests: 60, seconds: 60 },
        resend: { requests: 10, seconds: 60 },
        default: { requests: 600, seconds: 60 },
      },
      upload_bytes: 1_073_741_824,
      audio_seconds: 14_400,
      delivery_log_days: 30,
      job_days: 30,
    },
    deliveries: {
      timeout_ms: 5000,
      retry_delays_seconds: [0, 30, 300, 1800],
      disable_failures: 10,
      disable_seconds: 1800,
    },
    webhook_header_prefix: 'X-Service-',
    scopes: ['jobs:read', 'jobs:write'],
  }),
);

export const scopesSchema = Type.Array(oneOf(SCOPES), {
  maxItems: 100,
  description: `Empty: all. ${SCOPES.map((scope) => `\`${scope}\`: ${SCOPE_MEANING[scope]}`).join('; ')}.`,
});

const keyFields = {
  id: idSchema('key', 'key_01kamz2f3q8r5t7v9wxyzabcde'),
  name: nullable(Type.String()),
  prefix: Type.String({ description: 'How the key begins.' }),
  scopes: scopesSchema,
  created_at: timeSchema,
  expires_at: nullable(timeSchema, 'From when on the key is refused; null: never.'),
  last_used_at: nullable(timeSchema, 'At most a minute old; null: not used yet.'),
  created_by: nullable(
    Type.Object({ id: idSchema('usr', 'usr_01kamz2f3q8r5t7v9wxyzabcde'), name: Type.String() }),
    'The user who made it; null: a key or the operator did, or the user is gone.',
  ),
};
const keySchema = Type.Object(keyFields, component('Key'));
export const keyListSchema = pageSchema('KeyList', keySchema);
export const newKeySchema = Type.Object(
  { ...keyFields, key: Type.String({ description: 'Shown only in this answer.' }) },
  component('NewKey'),
);

/** The balance as the API shows it, in credits. */
export function showBalance(account: AccountRow, config: Config): Static<typeof balanceSchema> {
  return {
    amount: account.unlimited ? null : creditsFromUnits(account.amount),
    held: creditsFromUnits(account.held),
    units: 'credits',
    unlimited: account.unlimited,
    rates: creditRates(config),
    plan: account.plan,
  };
}

/** The account as operators see it. */
export function showAccount(account: AccountRow, config: Config): Static<typeof accountSchema> {
  return {
    id: account.id,
    name: account.name,
    plan: account.plan,
    balance: showBalance(account, config),
    suspended_at: account.suspendedAt?.toISOString() ?? null,
    created_at: account.createdAt.toISOString(),
  };
}

/** A key as lists show it: never the key itself. */
export function showKey(key: KeyRow): Static<typeof keySchema> {
  return {
    id: key.id,
    name: key.name,
    prefix: key.prefix,
    scopes: key.scopes,
    created_at: key.createdAt.toISOString(),
    expires_at: key.expiresAt?.toISOString() ?? null,
    last_used_at: key.lastUsedAt?.toISOString() ?? null,
    created_by: key.createdBy === null ? null : { id: key.createdBy, name: key.createdByName ?? '' },
  };
}
