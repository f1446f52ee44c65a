import { createHash } from 'node:crypto';
import type { Received } from '../../fixtures/webhooks/receiver.ts';
import type { Account, Calls } from '../calls.ts';
import { queue } from '../judge/set-full.ts';
import { type Evidence, type PromiseInUse, repeat, type ServicePromise } from './promise.ts';
import { upload } from './uploads.ts';

const NAME = 'the end of a job is one event, and reaches each webhook';
const ATTEMPTS = 4;
/** Of the deliveries: a busy machine may let four attempts time out. */
const MOST_GIVEN_UP = 0.1;
const PAUSE_MS = 600;
const DRAIN_PAUSE_MS = 300;
/** What the paths of the webhooks begin with: the second one fails some attempts. */
const EVENT_PATHS = ['/events/good', '/events/failing'] as const;

/** The answer of a webhook at these paths: the failing one takes an event at its first to fourth attempt. */
export function answerToEvent({ path, headers, body }: Received): { status: number } {
  if (path !== EVENT_PATHS[1]) return { status: 204 };
  return { status: Number(headers['x-service-attempt']) <= hashOf(body)[0]! % ATTEMPTS ? 503 : 204 };
}

function hashOf(body: Buffer): Buffer {
  return createHash('sha256').update(body).digest();
}

type Delivered = { event: string; job: string; path: string; hash: string; attempt: number; isTaken: boolean };

/** Uploads jobs of an account with two webhooks. */
class Events implements PromiseInUse {
  readonly #calls: Calls;
  readonly #url: string;
  readonly #received: Received[];
  #account!: Account;
  readonly #webhooks = new Map<string, string>();

  constructor(calls: Calls, url: string, received: Received[]) {
    this.#calls = calls;
    this.#url = url;
    this.#received = received;
  }

  async use(): Promise<void> {
    this.#account = await this.#calls.account(NAME);
    for (const path of EVENT_PATHS) {
      const headers = { ...this.#account.headers, 'idempotency-key': `webhook ${path}` };
      const body = { url: this.#url + path, events: ['transcription.completed', 'transcription.failed'] };
      const { json } = await this.#calls.sure(NAME, [201], { method: 'POST', path: '/v1/webhooks', headers, body });
      this.#webhooks.set(json.id, path);
    }
    await repeat(this.#calls, 2, async () => {
      await upload(this.#calls, NAME, this.#account, 1, this.#calls.tag('event'));
      await this.#calls.pause(PAUSE_MS);
    });
  }

  async evidence(): Promise<Evidence> {
    const { headers } = this.#account;
    const list = (path: string) => this.#calls.list(NAME, path, headers);
    const isOpen = async () =>
      (await list('/v1/deliveries?status=pending')).length > 0 ||
      (await list('/v1/jobs?status=queued')).length > 0 ||
      (await list('/v1/jobs?status=processing')).length > 0;
    while (await isOpen()) await this.#calls.pause(DRAIN_PAUSE_MS);
    const jobs = (await list('/v1/jobs')).map(({ id }) => id as string);
    const events = (await list('/v1/events')).filter(({ job_id }) => job_id !== null);
    const failed = Map.groupBy(
      await list('/v1/deliveries?status=failed'),
      (entry) => `${this.#webhooks.get(entry.webhook_id)} ${entry.event_id}`,
    );
    // An event that four attempts did not bring to the receiver is given up, as promised.
    const isGivenUp = (path: string, event: string) => failed.get(`${path} ${event}`)?.length === ATTEMPTS;
    const delivered = this.#received
      .filter(({ path }) => (EVENT_PATHS as readonly string[]).includes(path))
      .map(readDelivery);
    const wanted = EVENT_PATHS.flatMap((path) =>
      events.filter(({ id }) => !isGivenUp(path, id)).map(({ id, job_id }) => `${path} ${job_id} ${id}`),
    );
    const given = EVENT_PATHS.flatMap((path) =>
      events.filter(({ id }) => isGivenUp(path, id)).map(({ id, job_id }) => `${path} ${job_id} ${id}`),
    );
    const taken = delivered.filter(({ isTaken }) => isTaken);
    const atReceiver = queue(wanted, new Set(taken.map(({ path, job, event }) => `${path} ${job} ${event}`)));
    const ofJobs = queue(
      jobs,
      events.map(({ job_id }) => job_id),
    );
    const doubled = [...Map.groupBy(events, ({ job_id }) => job_id)].filter(([, of]) => of.length > 1);
    const bodies = [...Map.groupBy(delivered, ({ event }) => event)].filter(
      ([, of]) => new Set(of.map(({ hash }) => hash)).size > 1,
    );
    return {
      kind: 'queue',
      objects: wanted.length,
      findings: [
        ...(given.length > MOST_GIVEN_UP * (given.length + wanted.length) ? [`${given.length} were given up`] : []),
        ...ofJobs.lost.map((job) => `${job} has no event`),
        ...ofJobs.unexpected.map((job) => `an event of ${job}, which is not listed`),
        ...doubled.map(([job, of]) => `${job} has ${of.length} events`),
        ...atReceiver.lost.map((what) => `not delivered: ${what}`),
        ...atReceiver.unexpected
          .filter((what) => !given.includes(what))
          .map((what) => `delivered, and not listed: ${what}`),
        ...bodies.map(([event]) => `${event} was delivered with several bodies`),
        ...delivered
          .filter(({ attempt }) => !(attempt >= 1 && attempt <= ATTEMPTS))
          .map(({ event }) => `${event}: attempt`),
      ],
    };
  }
}

function readDelivery(request: Received): Delivered {
  const { path, headers, body } = request;
  return {
    path,
    event: String(headers['x-service-event-id']),
    job: JSON.parse(body.toString()).data.job.id,
    hash: hashOf(body).toString('hex'),
    attempt: Number(headers['x-service-attempt']),
    isTaken: answerToEvent(request).status === 204,
  };
}

/** @param received  all requests at the receiver, whose url this is */
export function jobEvents(url: string, received: Received[]): ServicePromise {
  return { name: NAME, open: (calls) => new Events(calls, url, received) };
}
