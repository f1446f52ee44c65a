import { Type } from '../http/schema.ts';
import { PLANS } from '../rules/plan.ts';
import { creditsFromUnits } from '../rules/price.ts';
import type { AccountRow, KeyRow } from './store.ts';

export const planSchema = Type.Union(PLANS.map((plan) => Type.Literal(plan)));

/** Credits per minute of audio, by plan. */
export type Rates = { lite: number; pro: number };

export const balanceSchema = Type.Object({
  amount: Type.Union([Type.Number(), Type.Null()], { description: 'What can be spent; null when unlimited.' }),
  held: Type.Number({ description: 'Set aside for accepted jobs.' }),
  units: Type.Literal('credits'),
  unlimited: Type.Boolean(),
  rates: Type.Object({ lite: Type.Number(), pro: Type.Number() }),
  plan: planSchema,
});

export const accountSchema = Type.Object({
  id: Type.String(),
  name: Type.String(),
  plan: planSchema,
  balance: balanceSchema,
  created_at: Type.String({ format: 'date-time' }),
});

export const keySchema = Type.Object({
  id: Type.String(),
  name: Type.Union([Type.String(), Type.Null()]),
  prefix: Type.String(),
  created_at: Type.String({ format: 'date-time' }),
});

/** The balance as the API shows it, in credits. */
export function showBalance(account: AccountRow, rates: Rates) {
  return {
    amount: account.unlimited ? null : creditsFromUnits(account.amount),
    held: creditsFromUnits(account.held),
    units: 'credits',
    unlimited: account.unlimited,
    rates: { lite: rates.lite, pro: rates.pro },
    plan: account.plan,
  };
}

/** The account as operators see it. */
export function showAccount(account: AccountRow, rates: Rates) {
  return {
    id: account.id,
    name: account.name,
    plan: account.plan,
    balance: showBalance(account, rates),
    created_at: account.createdAt.toISOString(),
  };
}

/** A key as lists show it: never the key itself. */
export function showKey(key: KeyRow) {
  return { id: key.id, name: key.name, prefix: key.prefix, created_at: key.createdAt.toISOString() };
}
