import type { Account } from '../../accounts/account.ts';
import type { Runtime } from '../../db/runtime.ts';
import { PLAN_FEATURES } from '../../engines/engine.ts';
import { ApiError } from '../../http/api-error.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import { component, nullable, oneOf, type Static, Type } from '../../http/schema.ts';
import { mayUsePlan, PLANS, type Plan } from '../../rules/accounts/plan.ts';
import { canonicalLanguages } from '../../rules/jobs/language.ts';
import { findPlanEngines, type PlanEngine } from '../api/engine-store.ts';

// That API wants a time. The plans have none, so it is the same for all.
const CREATED_SECONDS = Date.UTC(2026, 0, 1) / 1000;

const modelSchema = Type.Object(
  {
    id: oneOf(PLANS, { description: 'A plan: a value of `model`, and of `plan` on POST /v1/transcribe.' }),
    object: Type.Literal('model'),
    created: Type.Integer({ description: 'The same for every plan; clients of that API require it.' }),
    owned_by: Type.Literal('verbatim'),
    engine: nullable(Type.String(), "The name of the plan's engine; null until it is ready for the first time."),
    languages: nullable(
      Type.Array(Type.String()),
      'BCP 47 codes; null when the engine takes any, or is not known yet.',
    ),
    features: Type.Array(oneOf(PLAN_FEATURES)),
    licence: nullable(Type.String(), 'Of the model; null when unknown.'),
    attribution: nullable(Type.String(), 'Who is to be named with the transcripts, where the licence asks for it.'),
  },
  component('Model', {
    id: 'lite',
    object: 'model',
    created: CREATED_SECONDS,
    owned_by: 'verbatim',
    engine: 'parakeet-110m',
    languages: ['en'],
    features: ['words'],
    licence: 'CC-BY-4.0',
    attribution: 'NVIDIA',
  }),
);

const listSchema = Type.Object(
  { object: Type.Literal('list'), data: Type.Array(modelSchema) },
  component('ModelList', undefined, "As OpenAI's API lists models, with further fields."),
);

/** GET /v1/models and GET /v1/models/:id: the plans that the account may use, in the shape of OpenAI's API. */
export function modelRoutes(runtime: Runtime): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/v1/models',
      auth: 'key',
      scope: 'any',
      summary: 'The plans that the account may use, and what their engines can do',
      tag: 'OpenAI',
      schema: { answers: { 200: listSchema } },
      async handle({ account }) {
        return { status: 200, body: { object: 'list', data: await modelsOf(runtime, account) } };
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/v1/models/:id',
      auth: 'key',
      scope: 'any',
      summary: 'A plan, and what its engine can do',
      tag: 'OpenAI',
      schema: {
        params: Type.Object({ id: Type.String({ description: PLANS.join(' or ') }) }),
        answers: { 200: modelSchema },
      },
      async handle({ account, params }) {
        const model = (await modelsOf(runtime, account)).find(({ id }) => id === params.id);
        if (!model) throw new ApiError('not_found', 'There is no such model; GET /v1/models lists them.');
        return { status: 200, body: model };
      },
    }),
  ];
}

async function modelsOf({ db }: Runtime, account: Account): Promise<Static<typeof modelSchema>[]> {
  const engines = await findPlanEngines(db);
  return PLANS.filter((plan) => mayUsePlan(account.plan, plan)).map((plan) =>
    showModel(plan, engines.find((engine) => engine.plan === plan) ?? null),
  );
}

function showModel(plan: Plan, engine: PlanEngine | null): Static<typeof modelSchema> {
  return {
    id: plan,
    object: 'model',
    created: CREATED_SECONDS,
    owned_by: 'verbatim',
    engine: engine?.engine ?? null,
    languages: engine?.languages ? canonicalLanguages(engine.languages) : null,
    features: engine?.features ?? [],
    licence: engine?.licence ?? null,
    attribution: engine?.attribution ?? null,
  };
}
