import type { Plan } from '../rules/accounts/plan.ts';
import type { Config } from './settings.ts';

/** Credits per minute of audio, by plan. */
export function creditRates({ creditRateLite: lite, creditRatePro: pro }: Config): Record<Plan, number> {
  return { lite, pro };
}
