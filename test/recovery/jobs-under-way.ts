import assert from 'node:assert/strict';
import { type Database, openDatabase } from '../../src/db/database.ts';
import { openAccount } from '../faults/clients.ts';
import { type DATABASES, openServiceUnderLoad, type ServiceUnderLoad } from '../faults/service-under-load.ts';
import { toneWav } from '../fixtures/audio/test-audio.ts';
import { openSpeechServer, type SpeechServer } from '../fixtures/servers/speech-server.ts';
import { until } from '../fixtures/until.ts';
import { openReceiver, type Receiver } from '../fixtures/webhooks/receiver.ts';

/** How many jobs of a service are under way at once. */
export const PLACES = 4;
const AUDIO = new Uint8Array(toneWav('ab'));
/** What the speech server answers. */
export const SPOKEN = { body: JSON.stringify({ text: 'ab', segments: [] }) };

type Job = { id: string; state: string; attempts: number; lease: number; holder: string | null };

/** A service with an engine whose answers the test controls, and its database. */
export async function openEnvironment(kind: (typeof DATABASES)[number], places = PLACES) {
  const receiver = await openReceiver();
  const engine = await openSpeechServer('hold');
  const service = await openServiceUnderLoad(kind, receiver, {
    ENGINE_LITE: `openai:${engine.baseUrl}`,
    ENGINE_PRO: `openai:${engine.baseUrl}`,
    TRANSCRIBE_CONCURRENCY: String(places),
    LOG_LEVEL: 'info',
  });
  return {
    engine,
    service,
    receiver,
    jobs: new JobTable(service),
    async [Symbol.asyncDispose]() {
      await service[Symbol.asyncDispose]();
      await engine[Symbol.asyncDispose]();
      await receiver[Symbol.asyncDispose]();
    },
  };
}

/** The jobs in the database; each call opens a connection, because the test kills databases. */
class JobTable {
  readonly #service: ServiceUnderLoad;

  constructor(service: ServiceUnderLoad) {
    this.#service = service;
  }

  async all(): Promise<Job[]> {
    return await this.ask((db) =>
      db.rows<Job>({ text: 'select id, state, attempts, lease, holder from jobs order by created_at, id' }),
    );
  }

  async underWay(): Promise<Job[]> {
    return (await this.all()).filter(({ state }) => state === 'processing');
  }

  async ask<Result>(question: (db: Database) => Promise<Result>): Promise<Result> {
    const db = openDatabase(this.#service.databaseUrl, { maxConnections: 1 });
    try {
      return await question(db);
    } finally {
      await db.close();
    }
  }
}

/** Sends jobs of a new account. */
export async function submit(service: ServiceUnderLoad, receiver: Receiver, count: number): Promise<void> {
  const { key } = await openAccount(service, receiver);
  for (let i = 0; i < count; i++) {
    const form = new FormData();
    form.append('async', 'true');
    form.append('file', new Blob([AUDIO]), 'tone.wav');
    const request = { method: 'POST', headers: { 'x-api-key': key }, body: form };
    const answer = await fetch(`${service.baseUrl}/v1/transcribe`, request);
    assert.equal(answer.status, 202, await answer.text());
  }
}

/** Waits until a second claim has each of these jobs. @param ms  by the clock of `machineTime` */
export async function underWayWithin(jobs: JobTable, ids: string[], ms: number): Promise<void> {
  await until(
    `${ids.length} jobs to be under way again`,
    async () => {
      const found = (await jobs.underWay()).filter(({ id, lease }) => ids.includes(id) && lease === 2);
      return found.length === ids.length;
    },
    ms,
  );
}

/** Lets the engine answer all, and waits until every job has its text. */
export async function finish(engine: SpeechServer, jobs: JobTable): Promise<void> {
  engine.answerAll(SPOKEN);
  engine.answerHeld(SPOKEN);
  await until('the end of every job', async () => (await jobs.all()).every(({ state }) => state === 'completed'));
}
