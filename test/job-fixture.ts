import { mkdtemp, readdir, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { insertAccount } from '../src/accounts/store.ts';
import { openFileStorage } from '../src/audio/storage/storage.ts';
import { readConfig } from '../src/config/settings.ts';
import type { Engine } from '../src/engines/engine.ts';
import type { VoiceDetector } from '../src/engines/vad/vad.ts';
import { ApiError } from '../src/http/api-error.ts';
import type { Account, Answer, Call } from '../src/http/route.ts';
import { UNKEYED } from '../src/http/route.ts';
import { jobRoutes } from '../src/jobs/api/routes.ts';
import type { PieceTimeout } from '../src/jobs/execution/pipeline.ts';
import { startTranscriber } from '../src/jobs/execution/worker.ts';
import type { Job } from '../src/jobs/job.ts';
import { readMoment, returnLapsedJobs } from '../src/jobs/queue/lease-store.ts';
import { openCompletionWaiter } from '../src/jobs/stream/completion-waiter.ts';
import { openJobNotifications } from '../src/jobs/stream/job-notifications.ts';
import { makeId, systemClock } from '../src/platform/clock.ts';
import { writeJson } from '../src/platform/json.ts';
import { openLog } from '../src/platform/log.ts';
import { unitsFromCredits } from '../src/rules/jobs/price.ts';
import { shardOf } from '../src/rules/shard.ts';
import { TEST_ACTOR } from './caller.ts';
import { checkedRoutes } from './checked-routes.ts';
import { openTestDatabase } from './database.ts';
import { readEvents } from './event-stream.ts';
import { TEST_TOOLS } from './tools.ts';

const LOG = openLog('silent');

type AccountWish = { plan?: 'lite' | 'pro'; credits?: number | null; shard?: number | null };

type WorkerWish = {
  concurrency?: number;
  pro?: Engine;
  detector?: VoiceDetector;
  log?: typeof LOG;
  pieceTimeout?: PieceTimeout;
};

export type JobAnswer = {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  json: any;
  text: string;
  headers: Record<string, string>;
  contentType: string | undefined;
};

/**
 * The fixture of jobs on a database, a folder and a set of accounts of its own; requests go straight to the routes' handlers.
 * @param env  settings that differ from the defaults
 */
export async function openJobFixture(env: Record<string, string> = {}) {
  const db = await openTestDatabase();
  const folder = await mkdtemp(path.join(os.tmpdir(), 'jobs-'));
  const config = readConfig(env);
  const storage = await openFileStorage(folder);
  const completions = await openCompletionWaiter({ db, clock: systemClock, log: LOG });
  const notifications = await openJobNotifications({ db, clock: systemClock, log: LOG });
  const deps = { db, config, storage, tools: TEST_TOOLS, completions, notifications, clock: systemClock, log: LOG };
  const counted: Job[] = [];
  const metrics = { jobEnded: (job: Job) => void counted.push(job) };
  const routes = checkedRoutes(jobRoutes({ ...deps, metrics }));
  const stops: (() => Promise<void>)[] = [];

  async function call(
    account: Account,
    method: string,
    route: string,
    given: Partial<Call<object, object, undefined>>,
  ) {
    const found = routes.find((candidate) => candidate.method === method && candidate.path === route)!;
    const answer: Answer | ApiError = await found.handle({ ...bare(account), ...given }).catch((error: unknown) => {
      if (error instanceof ApiError) return error;
      throw error;
    });
    return shown(answer);
  }

  return {
    db,
    folder,
    config,
    storage,
    completions,
    routes,
    /** The jobs that the metrics were told of. */
    counted,
    files: () => readdir(folder),
    /** @param shard  the shard it is to lie in; any unless given */
    async account({ plan = 'pro', credits = null, shard = null }: AccountWish = {}) {
      const units = credits === null ? null : unitsFromCredits(credits);
      let id = makeId('acct');
      while (shard !== null && shardOf(id) !== shard) id = makeId('acct');
      return await insertAccount(db, { id, name: 'test', plan, units, ledgerId: makeId('led') });
    },
    /** POST /v1/transcribe of a form with the audio and the fields. */
    async transcribe(
      account: Account,
      audio: Buffer,
      fields: Record<string, string> = {},
      signal?: AbortSignal,
      once = UNKEYED,
    ) {
      const form = new FormData();
      for (const [name, value] of Object.entries(fields)) form.append(name, value);
      form.append('file', new Blob([Uint8Array.from(audio)]), 'a.wav');
      const response = new Response(form);
      const stream = Readable.from(response.body as unknown as AsyncIterable<Uint8Array>, { objectMode: false });
      const upload = { open: () => stream, contentType: response.headers.get('content-type')!, contentLength: null };
      return await call(account, 'POST', '/v1/transcribe', { upload, once, ...(signal && { signal }) });
    },
    get: (account: Account, route: string, given: { params?: object; query?: object } = {}) =>
      call(account, 'GET', route, { ...given, query: { limit: 20, ...given.query } }),
    post: (account: Account, route: string, upload: Call<0, 0, 0>['upload']) =>
      call(account, 'POST', route, { upload }),
    /** As if the holders of all jobs under way had died long enough ago. Returns the ids of these jobs. */
    async endLeases() {
      await db.run({ text: `update jobs set next_at = clock_timestamp() where state = 'processing'` });
      return await returnLapsedJobs(db, { moment: await readMoment(db), validMs: 60_000 });
    },
    cancel: (account: Account, id: string, once = UNKEYED) =>
      call(account, 'POST', '/v1/jobs/:id/cancel', { params: { id }, once }),
    erase: (account: Account, id: string) => call(account, 'DELETE', '/v1/jobs/:id', { params: { id } }),
    /** The job's server-sent events, as they come. @param signal  aborts when the reader hangs up */
    async *watch(account: Account, id: string, signal = new AbortController().signal) {
      const route = routes.find((candidate) => candidate.path === '/v1/jobs/:id/events')!;
      const { stream } = await route.handle({ ...bare(account), params: { id }, signal });
      signal.addEventListener('abort', () => stream!.destroy());
      yield* readEvents(stream!);
    },
    job: async (account: Account, id: string) => (await call(account, 'GET', '/v1/jobs/:id', { params: { id } })).json,
    async startWorker(engine: Engine, options: WorkerWish = {}) {
      const worker = await startTranscriber({
        ...{ ...deps, metrics },
        log: options.log ?? LOG,
        ...(options.pieceTimeout && { pieceTimeout: options.pieceTimeout }),
        detector: options.detector ?? null,
        config: { ...config, transcribeConcurrency: options.concurrency ?? 2 },
        engines: { lite: engine, pro: options.pro ?? engine },
      });
      stops.push(worker.stop);
      return worker;
    },
    /** Waits until the job has ended, and shows it. */
    async ended(account: Account, id: string) {
      using watch = completions.subscribe({ shard: account.shard, id });
      // It may have ended before the watch began.
      const { json } = await call(account, 'GET', '/v1/jobs/:id', { params: { id } });
      if (json.completed_at !== null) return json;
      await watch.ended;
      return (await call(account, 'GET', '/v1/jobs/:id', { params: { id } })).json;
    },
    async [Symbol.asyncDispose]() {
      for (const stop of stops) await stop();
      await Promise.all([completions.close(), notifications.close()]);
      await db[Symbol.asyncDispose]();
      await rm(folder, { recursive: true });
    },
  };
}

/** A call as a request without parameters, body or upload makes it. */
function bare(account: Account): Call<object, object, undefined> {
  return {
    account,
    params: {},
    query: { limit: 20 },
    body: undefined,
    actor: TEST_ACTOR,
    signal: new AbortController().signal,
    upload: { open: () => Readable.from([]), contentType: '', contentLength: null },
    once: UNKEYED,
    note: () => undefined,
  };
}

function shown(answer: Answer | ApiError): JobAnswer {
  if (answer instanceof ApiError) {
    const { type, message, param, extra, headers, status } = answer;
    const json = { error: { type, message, param }, ...extra };
    return { status, json, text: JSON.stringify(json), headers, contentType: undefined };
  }
  const isPlain = typeof answer.body === 'string' && answer.contentType !== undefined;
  const text = isPlain ? (answer.body as string) : writeJson(answer.body);
  return {
    status: answer.status,
    text,
    json: isPlain ? null : JSON.parse(text),
    headers: answer.headers ?? {},
    contentType: answer.contentType,
  };
}
