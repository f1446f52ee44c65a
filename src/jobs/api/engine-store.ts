import type { Sql } from '../../db/database.ts';
import type { Engine } from '../../engines/engine.ts';
import type { Plan } from '../../rules/accounts/plan.ts';

/** Stores which engine serves a plan, for the API processes of all nodes. */
export async function reportEngine(db: Sql, plan: Plan, { name, languages }: Engine): Promise<void> {
  await db.run({
    text: `insert into plan_engines (plan, engine, languages) values ($1, $2, $3)
      on conflict (plan) do update
        set engine = excluded.engine, languages = excluded.languages, reported_at = clock_timestamp()`,
    values: [plan, name, languages ?? null],
  });
}

/** The language codes that the plan's engine supports; null when it accepts any, or no engine has reported itself yet. */
export async function findEngineLanguages(db: Sql, plan: Plan): Promise<string[] | null> {
  const [row] = await db.rows<{ languages: string[] | null }>({
    text: 'select languages from plan_engines where plan = $1',
    values: [plan],
  });
  return row?.languages ?? null;
}
