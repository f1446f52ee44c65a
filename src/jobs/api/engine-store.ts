import type { Sql } from '../../db/database.ts';
import type { Engine, PlanFeature } from '../../engines/engine.ts';
import type { Plan } from '../../rules/accounts/plan.ts';

/** What the engine of a plan is and can do. */
export type PlanEngine = {
  plan: Plan;
  engine: string;
  /** The model's own codes; null when it accepts any. */
  languages: string[] | null;
  features: PlanFeature[];
  /** Null when unknown, as is the attribution. */
  licence: string | null;
  attribution: string | null;
};

/** Stores which engine serves a plan, for the API processes of all nodes. @param canDiarize  the speaker model works */
export async function reportEngine(db: Sql, plan: Plan, engine: Engine, canDiarize = false): Promise<void> {
  const { name, languages = null, licence = null } = engine;
  const features: PlanFeature[] = [...(engine.features ?? []), ...(canDiarize ? (['diarize'] as const) : [])];
  await db.run({
    text: `
      insert into plan_engines (plan, engine, languages, features, licence, attribution)
      values ($1, $2, $3, $4, $5, $6)
      on conflict (plan) do update
      set engine = excluded.engine, languages = excluded.languages, features = excluded.features,
        licence = excluded.licence, attribution = excluded.attribution, reported_at = clock_timestamp()`,
    values: [plan, name, languages, features, licence?.name ?? null, licence?.attribution ?? null],
  });
}

/** The engines of the plans, without those of plans whose engine has not reported itself yet. */
export async function findPlanEngines(db: Sql): Promise<PlanEngine[]> {
  return await db.rows<PlanEngine>({
    text: 'select plan, engine, languages, features, licence, attribution from plan_engines',
    values: [],
  });
}

/** The plan's engine; null when it has not reported itself yet. */
export async function findPlanEngine(db: Sql, plan: Plan): Promise<PlanEngine | null> {
  const engines = await findPlanEngines(db);
  return engines.find((engine) => engine.plan === plan) ?? null;
}
