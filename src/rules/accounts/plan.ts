export const PLANS = ['lite', 'pro'] as const;
export type Plan = (typeof PLANS)[number];

/** How many webhooks an account may have; disabled ones count. */
export const WEBHOOK_LIMIT: Readonly<Record<Plan, number>> = { lite: 1, pro: 5 };

const ALLOWED: Readonly<Record<Plan, readonly Plan[]>> = { lite: ['lite'], pro: ['lite', 'pro'] };

/** Whether an account may ask for this plan on a transcription. */
export function mayUsePlan(accountPlan: Plan, requested: Plan): boolean {
  return ALLOWED[accountPlan].includes(requested);
}
