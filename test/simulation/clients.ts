import type { Account } from '../../src/accounts/account.ts';
import { addCredit } from '../../src/accounts/ledger/ledger-store.ts';
import { findAccount, insertAccount, updateAccount } from '../../src/accounts/store.ts';
import type { Database } from '../../src/db/database.ts';
import { type Answer, type Call, NO_IDEMPOTENCY_KEY, type Route, UNLIMITED_MEMORY } from '../../src/http/route.ts';
import { cancelJob, deleteJob } from '../../src/jobs/api/control.ts';
import { createJob } from '../../src/jobs/api/create.ts';
import type { JobsRuntime } from '../../src/jobs/api/jobs-api.ts';
import { NOTHING_REQUESTED } from '../../src/jobs/job.ts';
import { makeId } from '../../src/platform/clock.ts';
import { openLog } from '../../src/platform/log.ts';
import { unitsFromCredits } from '../../src/rules/jobs/price.ts';
import { webhookRoutes } from '../../src/webhooks/endpoints/routes.ts';
import { EVENT_TYPES } from '../../src/webhooks/events/event-types.ts';
import { webhookTestRoutes } from '../../src/webhooks/test-routes.ts';
import { insertTestKey, TEST_ACTOR, TEST_KEY_ID } from '../fixtures/caller.ts';
import type { Random } from '../fixtures/random.ts';
import { UNCOUNTED } from '../fixtures/uncounted.ts';
import { ACCOUNT_HEADER } from './checks/arrivals.ts';
import { RATE } from './checks/ledger.ts';
import type { Memory } from './checks/run.ts';
import { clockOf, type Environment, newActor, SECRET_BOX, SETTINGS, STORAGE } from './environment.ts';
import { RECEIVER_MODES, type ReceiverMode, type Receivers } from './receivers.ts';

type KnownWebhook = { id: string; account: Account };

/** The API's clients. They call the handlers directly, on a database that may fail at any statement. */
export class Clients {
  readonly actor = newActor('api');
  readonly memory: Memory = { accepted: new Set(), deleted: new Set(), secrets: new Map(), uncertain: new Set() };
  readonly #random: Random;
  readonly #receivers: Receivers;
  readonly #db: Database;
  /** Canceling and deleting jobs uses no more of it. */
  readonly #runtime: JobsRuntime;
  readonly #routes: Route[];
  readonly #webhooks: KnownWebhook[] = [];
  readonly #jobs: { id: string; account: Account }[] = [];

  constructor({ simulator, server, receivers }: Environment) {
    this.#random = simulator.random;
    this.#receivers = receivers;
    this.#db = server.open(this.actor);
    const clock = clockOf(this.actor, simulator);
    const runtime = { config: SETTINGS, db: this.#db, clock, log: openLog('silent') };
    this.#runtime = { ...runtime, ...UNCOUNTED, storage: STORAGE } as JobsRuntime;
    const lookup = async () => ['93.184.216.34'];
    this.#routes = [...webhookRoutes({ ...runtime, secretBox: SECRET_BOX, lookup }), ...webhookTestRoutes(runtime)];
  }

  /**
   * Accounts are created before the faults begin.
   * @param richness  times what their jobs cost
   */
  async makeAccounts(admin: Database, count: number, richness: number): Promise<Account[]> {
    const made: Account[] = [];
    for (let i = 0; i < count; i++) {
      const plan = this.#random.pick(['lite', 'pro'] as const);
      const units = this.#random.next() < 0.2 ? null : unitsFromCredits(richness * (0.5 + 4 * this.#random.next()));
      const wish = { id: makeId('acct'), name: 'simulated', plan, units, ledgerId: makeId('led') };
      const account = await insertAccount(admin, wish);
      await insertTestKey(admin, account);
      made.push(account);
    }
    return made;
  }

  /** Short or in several pieces, and sometimes longer than its header claims. */
  #recording(): { durationMs: number; decodedMs: number } {
    const [shortMs, longMs] = [200 + this.#random.integer(3_000), 31_000 + this.#random.integer(60_000)];
    const luck = this.#random.next();
    if (luck < 0.12) return { durationMs: shortMs, decodedMs: shortMs * 4 };
    if (luck < 0.24) return { durationMs: shortMs, decodedMs: longMs };
    if (luck < 0.36) return { durationMs: longMs, decodedMs: longMs };
    return { durationMs: shortMs, decodedMs: shortMs };
  }

  async #submit(account: Account): Promise<void> {
    const { durationMs, decodedMs } = this.#recording();
    const id = makeId('job');
    this.#jobs.push({ id, account });
    await createJob(this.#runtime, {
      id,
      account,
      keyId: TEST_KEY_ID,
      rate: RATE,
      idempotency: NO_IDEMPOTENCY_KEY,
      request: { ...NOTHING_REQUESTED, plan: 'lite', metadata: `"of ${account.id}"` },
      audio: {
        kind: 'stored',
        key: `audio-${decodedMs}-${id}`,
        filename: null,
        sizeBytes: 1,
        format: 'wav',
        durationMs,
        tracks: [],
      },
    });
    this.memory.accepted.add(id);
  }

  /** A job that another client has begun: it may be canceled or deleted. */
  accepted(job: { id: string; account: Account }): void {
    this.#jobs.push(job);
    this.memory.accepted.add(job.id);
  }

  async #call(account: Account, method: string, path: string, given: object): Promise<Answer> {
    const route = this.#routes.find((candidate) => candidate.method === method && candidate.path === path)!;
    const call = {
      account,
      params: {},
      query: {},
      body: undefined,
      bodyText: '',
      actor: TEST_ACTOR,
      idempotency: NO_IDEMPOTENCY_KEY,
      memory: UNLIMITED_MEMORY,
      note: () => undefined,
      ...given,
    };
    return await route.handle(call as unknown as Call<object, object, undefined>);
  }

  #newUrl(account: Account): string {
    const url = `https://hooks.example/${account.id}/${this.#random.integer(1_000_000)}`;
    this.#receivers.modes.set(url, this.#random.next() < 0.5 ? 'well' : this.#random.pick(RECEIVER_MODES));
    return url;
  }

  async createWebhook(account: Account): Promise<void> {
    const body = {
      url: this.#newUrl(account),
      events: [...EVENT_TYPES],
      headers: { [ACCOUNT_HEADER]: account.id },
      max_per_second: this.#random.pick([null, null, 3, 10]),
    };
    const { id, secret } = (await this.#call(account, 'POST', '/v1/webhooks', { body })).body as {
      id: string;
      secret: string;
    };
    this.#webhooks.push({ id, account });
    this.memory.secrets.set(id, [secret]);
  }

  async #test({ id, account }: KnownWebhook): Promise<void> {
    const body = { type: this.#random.pick(EVENT_TYPES) };
    await this.#call(account, 'POST', '/v1/webhooks/:id/test', { params: { id }, body });
  }

  async #changeWebhook({ id, account }: KnownWebhook): Promise<void> {
    const body = this.#random.pick([
      { active: false },
      { active: true },
      { active: true },
      { url: this.#newUrl(account) },
    ]);
    await this.#call(account, 'PATCH', '/v1/webhooks/:id', { params: { id }, body });
  }

  async #rotate({ id, account }: KnownWebhook): Promise<void> {
    this.memory.uncertain.add(id);
    const body = { overlap_seconds: this.#random.pick([0, 5, 60]) };
    const answer = await this.#call(account, 'POST', '/v1/webhooks/:id/rotate-secret', { params: { id }, body });
    this.memory.secrets.get(id)!.push((answer.body as { secret: string }).secret);
    this.memory.uncertain.delete(id);
  }

  async #control(): Promise<void> {
    // Mostly a recent job, which may still be running.
    const { id, account } = this.#random.pick(this.#random.next() < 0.7 ? this.#jobs.slice(-4) : this.#jobs);
    if (this.#random.next() < 0.6) return void (await cancelJob(this.#runtime, account, id, NO_IDEMPOTENCY_KEY));
    this.memory.deleted.add(id);
    await deleteJob(this.#runtime, account, id);
  }

  async #runAccount(account: Account): Promise<void> {
    if (this.#random.next() < 0.5)
      await updateAccount(this.#db, account.id, { name: null, plan: this.#random.pick(['lite', 'pro']) });
    else await addCredit(this.#db, { account, units: this.#random.integer(1_000_000) - 100_000, note: null });
    const row = await findAccount(this.#db, account.id);
    if (row) account.plan = row.plan;
  }

  /** More events at once than a webhook may have in this.memory. */
  async #burst(webhook: KnownWebhook): Promise<void> {
    const count = 4 + this.#random.integer(12);
    if (this.#random.next() < 0.5) await Promise.all(Array.from({ length: count }, () => this.#test(webhook)));
    else for (let i = 0; i < count; i++) await this.#test(webhook);
  }

  /** One random action of a client, a receiver or an operator. */
  async act(account: Account): Promise<void> {
    const luck = this.#random.next();
    const webhook = this.#webhooks.length > 0 ? this.#random.pick(this.#webhooks) : null;
    if (luck < 0.4) return await this.#submit(account);
    if (luck < 0.48 || !webhook) return await this.createWebhook(account);
    const { id } = webhook;
    if (luck < 0.58) return await this.#changeWebhook(webhook);
    if (luck < 0.61) return await this.#rotate(webhook);
    if (luck < 0.63) return void (await this.#call(webhook.account, 'DELETE', '/v1/webhooks/:id', { params: { id } }));
    if (luck < 0.74) return await this.#burst(webhook);
    if (luck < 0.79) return await this.#test(webhook);
    if (luck < 0.84) return await this.#runAccount(account);
    if (luck < 0.93 && this.#jobs.length > 0) return await this.#control();
    const url = this.#random.pick([...this.#receivers.modes.keys()]);
    this.#receivers.modes.set(
      url,
      this.#random.next() < 0.4 ? 'well' : (this.#random.pick(RECEIVER_MODES) as ReceiverMode),
    );
  }
}
