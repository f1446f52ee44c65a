import os from 'node:os';
import { recordChange } from '../audit/record.ts';
import { dataPaths } from '../config/settings.ts';
import type { Database } from '../db/database.ts';
import type { Runtime } from '../db/runtime.ts';
import { ApiError } from '../http/api-error.ts';
import { defineRoute, type Route } from '../http/route.ts';
import { Type } from '../http/schema.ts';
import { findPlanEngines } from '../jobs/api/engine-store.ts';
import { CATALOGUE } from '../models/catalogue.ts';
import { pulledModels } from '../models/folder.ts';
import { sizeOfModel } from '../models/model.ts';
import { BackgroundPull, type PullState } from '../models/pull/background-pull.ts';
import { modelOrigins } from '../models/sources/origins.ts';
import { modelListSchema, modelPullSchema } from './schemas.ts';

/** The models of the catalogue on the node that answers: the list, pulling one, and ending that. */
export function modelRoutes(runtime: Runtime): Route[] {
  let opened: BackgroundPull | null = null;
  // When a request comes: the routes are described without settings, too.
  const pulls = () => {
    const { config } = runtime;
    opened ??= new BackgroundPull({ modelsDir: dataPaths(config.dataDir).models, origins: modelOrigins(config) });
    return opened;
  };
  return [listRoute(runtime, pulls), pullRoute(runtime, pulls), cancelRoute(runtime, pulls)];
}

const params = Type.Object({ name: Type.String({ description: 'Of the catalogue.' }) });
const common = { auth: 'admin', tag: 'Operation' } as const;

function listRoute({ db, config }: Runtime, pulls: () => BackgroundPull): Route {
  return defineRoute({
    ...common,
    method: 'GET',
    path: '/admin/v1/models',
    summary: 'List the models of the catalogue, the pull that runs, and the engines of the plans',
    schema: { answers: { 200: modelListSchema } },
    async handle() {
      const pulled = await pulledModels(dataPaths(config.dataDir).models);
      const data = CATALOGUE.map((model) => ({
        name: model.name,
        title: model.title,
        family: model.family,
        size_bytes: sizeOfModel(model),
        memory_mb: model.needsMemoryMb,
        languages: [...model.languages],
        licence: model.licence,
        attribution: model.attribution,
        advice: model.advice,
        wer: model.wer && {
          percent: model.wer.percent,
          test_set: model.wer.testSet,
          source: model.wer.source,
          checked: model.wer.isChecked,
        },
        pulled: pulled.includes(model.name),
      }));
      const { state } = pulls();
      const others = pulled.filter((name) => CATALOGUE.every((model) => model.name !== name));
      const node = { host: os.hostname(), transcribes: config.roles.includes('transcriber') };
      const body = { data, others, engines: await showEngines(db), node, pull: state && showPull(state) };
      return { status: 200, body };
    },
  });
}

function pullRoute({ db, config }: Runtime, pulls: () => BackgroundPull): Route {
  return defineRoute({
    ...common,
    method: 'POST',
    path: '/admin/v1/models/:name/pull',
    summary: 'Pull a model, onto the node that answers',
    description: [
      'It goes on in the background: the list of models has the progress. One model is pulled at a time. The bytes of a pull',
      'that fails are kept, and the next one resumes. The transcriber uses the model at once.',
    ].join(' '),
    schema: { params, answers: { 202: modelPullSchema } },
    async handle({ params: { name }, actor, idempotency }) {
      if (CATALOGUE.every((model) => model.name !== name)) throw noSuchModel();
      if (!config.roles.includes('transcriber')) {
        const message = `This node, ${os.hostname()}, does not transcribe. Pull the model on the machine of a transcriber.`;
        throw new ApiError('conflict', message);
      }
      if ((await pulledModels(dataPaths(config.dataDir).models)).includes(name)) {
        throw new ApiError('conflict', `${name} is on this node already.`);
      }
      const state = pulls().start(name);
      if (state === null)
        throw new ApiError('conflict', `${pulls().state!.model} is being pulled. Wait until it has ended.`);
      try {
        return await db.transaction(async (tx) => {
          await recordChange(tx, actor, { accountId: '', action: 'model.pulled', targetId: name });
          return await idempotency.saveAnswer(tx, { status: 202, body: showPull(state) });
        });
      } catch (error) {
        // What is not recorded is not done.
        await pulls().cancel(name);
        throw error;
      }
    },
  });
}

function cancelRoute({ db }: Runtime, pulls: () => BackgroundPull): Route {
  return defineRoute({
    ...common,
    method: 'DELETE',
    path: '/admin/v1/models/:name/pull',
    summary: 'Cancel the pull of a model, and remove what was downloaded',
    schema: { params, answers: { 200: modelPullSchema } },
    async handle({ params: { name }, actor }) {
      const state = await pulls().cancel(name);
      if (state === null) throw new ApiError('not_found', 'This node is not pulling this model.');
      await recordChange(db, actor, { accountId: '', action: 'model.pull_canceled', targetId: name });
      return { status: 200, body: showPull(state) };
    },
  });
}

function showPull(pull: PullState) {
  return {
    model: pull.model,
    status: pull.status,
    done_bytes: pull.doneBytes,
    total_bytes: pull.totalBytes,
    message: pull.message,
    started_at: pull.startedAt.toISOString(),
    ended_at: pull.endedAt?.toISOString() ?? null,
  };
}

function noSuchModel(): ApiError {
  return new ApiError('not_found', 'The catalogue has no such model; GET /admin/v1/models lists them.');
}

/** The engine of each plan, as the transcribers report them. */
export async function showEngines(db: Database) {
  const engines = await findPlanEngines(db);
  return engines.map(({ plan, engine, languages, features, licence }) => ({
    plan,
    engine,
    languages,
    features,
    licence,
  }));
}
