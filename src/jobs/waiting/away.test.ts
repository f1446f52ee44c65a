import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import test from 'node:test';
import { wavFile } from '../../../test/fixtures/audio/wav.ts';
import { openFakeEngine } from '../../../test/fixtures/fake-engine.ts';
import { openJobFixture } from '../../../test/fixtures/job.ts';
import { until } from '../../../test/fixtures/until.ts';
import { type AudioStorage, StorageAwayError } from '../../audio/storage/storage.ts';
import { type Engine, EngineError } from '../../engines/engine.ts';
import { EnginePresence } from '../../engines/presence/engine-presence.ts';
import { systemClock } from '../../platform/clock.ts';
import { openLog } from '../../platform/log.ts';
import { expireWaiting } from '../execution/expire-waiting.ts';
import { reportWaits } from './wait-store.ts';

const refused = () => new EngineError('engine_error', 'No answer.', { failure: { kind: 'connection' } });

/** An engine that a test switches off and on. */
function openSwitched(says = 'words') {
  const engine = { ...openFakeEngine({ says }), isAway: false, calls: 0 };
  const { transcribe } = engine;
  const switched: Engine = Object.assign(engine, {
    async transcribe(...call: Parameters<Engine['transcribe']>) {
      engine.calls += 1;
      if (engine.isAway) throw refused();
      return await transcribe(...call);
    },
  });
  const stopping = new AbortController();
  const presence = new EnginePresence(switched, {
    clock: systemClock,
    log: openLog('silent'),
    probe: async () => {
      if (engine.isAway) throw refused();
    },
  });
  const watching = presence.watch(stopping.signal);
  return {
    presence,
    state: engine,
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await watching;
    },
  };
}

test('jobs wait in their place while the engine is away, and complete when it is back', async () => {
  await using fixture = await openJobFixture();
  await using engine = openSwitched();
  engine.state.isAway = true;
  const account = await fixture.account({ credits: 10 });
  const ids: string[] = [];
  for (let i = 0; i < 5; i++)
    ids.push((await fixture.transcribe(account, wavFile(0.2), { async: 'true' })).json.id as string);

  await fixture.startWorker(engine.presence, { concurrency: 1 });
  await until('the engine to be away', () => engine.presence.absence() !== null);
  await until('the job to be back', async () => (await fixture.job(account, ids[0]!)).status === 'queued');
  const while_ = await Promise.all(ids.map((id) => fixture.job(account, id)));
  const { attempts } = (
    await fixture.db.rows<{ attempts: number }>({ text: 'select max(attempts) as attempts from jobs' })
  )[0]!;
  engine.state.isAway = false;
  const jobs = await Promise.all(ids.map((id) => fixture.ended(account, id)));

  assert.deepEqual(
    while_.map(({ status, queue_position }) => [status, queue_position]),
    ids.map((_, at) => ['queued', at + 1]),
  );
  assert.equal(attempts, 0);
  assert.deepEqual(new Set(jobs.map(({ status, text }) => `${status} ${text}`)), new Set(['completed words']));
  const started = jobs.map(({ started_at }) => started_at);
  assert.deepEqual(started, started.toSorted());
});

test('while the engine of one node is away, another node transcribes every job', async () => {
  await using fixture = await openJobFixture();
  await using present = openSwitched('of the first node');
  await using absent = openSwitched('of the second node');
  absent.state.isAway = true;
  const account = await fixture.account();
  const ids: string[] = [];
  for (let i = 0; i < 60; i++)
    ids.push((await fixture.transcribe(account, wavFile(0.2), { async: 'true' })).json.id as string);

  await fixture.startWorker(absent.presence, { concurrency: 4 });
  await until('the second node to be without an engine', () => absent.presence.absence() !== null);
  await fixture.startWorker(present.presence, { concurrency: 4 });
  const jobs = await Promise.all(ids.map((id) => fixture.ended(account, id)));
  const { attempts } = (
    await fixture.db.rows<{ attempts: number }>({ text: 'select max(attempts) as attempts from jobs' })
  )[0]!;

  assert.deepEqual(
    new Set(jobs.map(({ status, text }) => `${status} ${text}`)),
    new Set(['completed of the first node']),
  );
  assert.equal(attempts, 1);
  // Its places, once each: nothing more was claimed for it.
  assert.ok(absent.state.calls <= 8, `${absent.state.calls} calls`);
});

/** An engine that transcribes one piece, and is away from then on. */
function openOnce() {
  const engine = openFakeEngine({ says: 'first' });
  let calls = 0;
  const once: Engine = {
    ...engine,
    async transcribe(...call) {
      calls += 1;
      if (calls > 1) throw refused();
      return await engine.transcribe(...call);
    },
  };
  const probe = () => Promise.reject(refused());
  return new EnginePresence(once, { clock: systemClock, log: openLog('silent'), probe });
}

async function jobThatWaits(fixture: Awaited<ReturnType<typeof openJobFixture>>) {
  const account = await fixture.account({ credits: 10 });
  const { id } = (await fixture.transcribe(account, wavFile(70), { async: 'true' })).json;
  const worker = await fixture.startWorker(openOnce());
  await until('the job to wait', async () => {
    const { status, progress } = await fixture.job(account, id);
    return status === 'queued' && progress > 0.2;
  });
  return { account, id, worker };
}

test('a job that returns to the queue goes on after the pieces that are done', async () => {
  await using fixture = await openJobFixture();
  const { account, id, worker } = await jobThatWaits(fixture);
  await worker.stop();
  const engine = openFakeEngine({ says: 'then' });

  await fixture.startWorker(engine);
  const job = await fixture.ended(account, id);

  assert.deepEqual([job.status, job.text, engine.count()], ['completed', 'first then then', 2]);
});

test('a job that waits can be canceled, and what was transcribed is charged', async () => {
  await using fixture = await openJobFixture();
  const { account, id } = await jobThatWaits(fixture);

  const { json } = await fixture.cancel(account, id);

  assert.deepEqual([json.status, json.cost > 0, json.cost < 2], ['canceled', true, true]);
  assert.deepEqual(await fixture.db.rows({ text: 'select 1 from job_pieces' }), []);
});

test('while the engine of one plan is away, jobs of the other plan are claimed', async () => {
  await using fixture = await openJobFixture();
  await using lite = openSwitched('lite');
  await using pro = openSwitched('pro');
  pro.state.isAway = true;
  const [busy, other] = [await fixture.account({ shard: 1 }), await fixture.account({ shard: 2 })];
  const waiting: string[] = [];
  for (let i = 0; i < 4; i++)
    waiting.push((await fixture.transcribe(busy, wavFile(0.2), { async: 'true', plan: 'pro' })).json.id as string);
  const { id } = (await fixture.transcribe(other, wavFile(0.2), { async: 'true', plan: 'lite' })).json;

  await fixture.startWorker(lite.presence, { concurrency: 1, pro: pro.presence });
  const done = await fixture.ended(other, id);
  const still = await Promise.all(waiting.map((job) => fixture.job(busy, job)));
  pro.state.isAway = false;
  const ended = await Promise.all(waiting.map((job) => fixture.ended(busy, job)));

  assert.equal(done.text, 'lite');
  assert.ok(still.every(({ status }) => status === 'queued'));
  assert.ok(ended.every(({ text }) => text === 'pro'));
});

test('a synchronous request waits while the engine is away, then it is a 202', async () => {
  await using fixture = await openJobFixture({ SYNC_WAIT_SECONDS: '1' });
  await using engine = openSwitched();
  engine.state.isAway = true;
  const account = await fixture.account();
  await fixture.startWorker(engine.presence);
  await reportWaits(fixture.db, 'node/one', [{ plan: 'pro', waitingFor: 'engine' }]);

  const { status, json } = await fixture.transcribe(account, wavFile(0.2));

  assert.deepEqual([status, json.status, json.waiting_for], [202, 'queued', 'engine']);
  assert.ok(Date.parse(json.waiting_since) >= Date.parse(json.created_at));
});

test('queued jobs show what they wait for, in lists too, until one transcriber works', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account();
  const { id } = (await fixture.transcribe(account, wavFile(0.2), { async: 'true' })).json;
  const seen = async () => {
    const { json } = await fixture.get(account, '/v1/jobs');
    return [(await fixture.job(account, id)).waiting_for, json.data[0].waiting_for];
  };
  const report = (worker: string, waitingFor: 'engine' | 'model' | null) =>
    reportWaits(fixture.db, worker, [{ plan: 'pro', waitingFor }]);

  await report('node/one', 'model');
  await until('the wait to be shown', async () => (await seen()).join() === 'model,model');
  await report('node/two', null);
  await report('node/one', 'engine');
  await until('no wait to be shown', async () => (await seen()).every((value) => value === null));
  await report('node/two', 'engine');
  await until('the wait to be shown', async () => (await seen()).join() === 'engine,engine');
});

test('a job that has waited for ENGINE_WAIT_HOURS fails, and a younger one does not', async () => {
  await using fixture = await openJobFixture({ ENGINE_WAIT_HOURS: '2' });
  const account = await fixture.account({ credits: 10 });
  const submit = async () => (await fixture.transcribe(account, wavFile(0.2), { async: 'true' })).json.id as string;
  const [old, young] = [await submit(), await submit()];
  await reportWaits(fixture.db, 'node/one', [{ plan: 'pro', waitingFor: 'engine' }]);
  const age = `clock_timestamp() - interval '3 hours'`;
  await fixture.db.run({ text: `update jobs set created_at = ${age} where id = $1`, values: [old] });
  const tooEarly = await expireWaiting(fixture);
  await fixture.db.run({ text: `update plan_waits set since = ${age}` });

  const expired = await expireWaiting(fixture);

  const job = await fixture.job(account, old);
  assert.deepEqual([tooEarly, expired, job.status, job.error.type, job.cost], [0, 1, 'failed', 'engine_error', 0]);
  assert.match(job.error.message, /did not work for 2 hours/);
  assert.equal((await fixture.job(account, young)).status, 'queued');
});

// What a bucket that cannot be reached does, and a folder whose disk is not mounted.
const STORAGES_AWAY: [string, (storage: AudioStorage, throwIfAway: () => void) => Partial<AudioStorage>][] = [
  [
    'cannot be reached',
    ({ localPath }, throwIfAway) => ({
      localPath: async (key) => {
        throwIfAway();
        return await localPath(key);
      },
    }),
  ],
  [
    'has no file of the job',
    ({ localPath, isComplete }, throwIfAway) => ({
      localPath: async (key) => {
        try {
          throwIfAway();
          return await localPath(key);
        } catch {
          return await localPath(randomUUID());
        }
      },
      isComplete: async (key, sizeBytes) => {
        throwIfAway();
        return await isComplete(key, sizeBytes);
      },
    }),
  ],
  [
    'has the file again when it is asked',
    ({ localPath }, throwIfAway) => ({
      localPath: async (key) => {
        try {
          throwIfAway();
          return await localPath(key);
        } catch {
          return await localPath(randomUUID());
        }
      },
    }),
  ],
];

for (const [what, storageAway] of STORAGES_AWAY) {
  test(`jobs wait while the audio storage is away and ${what}, without using up an attempt`, async () => {
    await using fixture = await openJobFixture();
    const account = await fixture.account();
    const { id } = (await fixture.transcribe(account, wavFile(0.2), { async: 'true' })).json;
    const state = { isAway: true };
    const throwIfAway = () => {
      if (state.isAway) throw new StorageAwayError(new Error('it is not mounted'));
    };
    Object.assign(fixture.storage, storageAway({ ...fixture.storage }, throwIfAway), {
      whyAway: async () => (state.isAway ? 'it is not mounted' : null),
    });
    const worker = await fixture.startWorker(openFakeEngine({ says: 'words' }));
    await until('the storage to be away', () => worker.isStorageAway());
    const waiting = await until('the job to be put back', async () => {
      const seen = await fixture.job(account, id);
      return seen.status === 'processing' ? null : seen;
    });
    state.isAway = false;

    const job = await fixture.ended(account, id);

    assert.equal(waiting.status, 'queued');
    assert.deepEqual([job.status, job.text], ['completed', 'words']);
  });
}
