import type { Account } from '../../src/accounts/account.ts';
import { addCredit } from '../../src/accounts/ledger/ledger-store.ts';
import { findAccount, insertAccount, updateAccount } from '../../src/accounts/store.ts';
import type { Database } from '../../src/db/database.ts';
import type { Answer, Call } from '../../src/http/route.ts';
import { NO_IDEMPOTENCY_KEY } from '../../src/http/route.ts';
import { cancelJob, deleteJob } from '../../src/jobs/api/control.ts';
import { createJob } from '../../src/jobs/api/create.ts';
import { makeId } from '../../src/platform/clock.ts';
import { unitsFromCredits } from '../../src/rules/jobs/price.ts';
import { webhookRoutes } from '../../src/webhooks/endpoints/routes.ts';
import { EVENT_TYPES } from '../../src/webhooks/events/event-types.ts';
import { TEST_ACTOR } from '../fixtures/caller.ts';
import { RATE } from './checks/ledger.ts';
import type { Environment } from './nodes.ts';
import { clockOf, newActor, SECRET_BOX, SETTINGS, STORAGE } from './nodes.ts';
import type { ReceiverMode } from './receivers.ts';
import { RECEIVER_MODES } from './receivers.ts';

/** The answers that the clients got: the service must keep to them. */
export type Memory = {
  /** Jobs that were answered 202. */
  accepted: Set<string>;
  /** Jobs for which a DELETE was sent, answered or not. */
  deleted: Set<string>;
  /** All secrets of each webhook that an answer contained. */
  secrets: Map<string, string[]>;
  /** Webhooks for which an answer with a secret was lost. */
  uncertain: Set<string>;
};

type KnownWebhook = { id: string; account: Account };

/** The API's clients. They call the handlers directly, on a database that may fail at any statement. */
export function openClients({ simulator, server, receivers }: Environment) {
  const { random } = simulator;
  const actor = newActor('api');
  const db: Database = server.open(actor);
  const clock = clockOf(actor, simulator);
  const lookup = async () => ['93.184.216.34'];
  const routes = webhookRoutes({ db, config: SETTINGS, secretBox: SECRET_BOX, clock, lookup });
  const memory: Memory = { accepted: new Set(), deleted: new Set(), secrets: new Map(), uncertain: new Set() };
  const webhooks: KnownWebhook[] = [];
  const jobs: { id: string; account: Account }[] = [];

  /** Accounts are created before the faults begin. */
  async function makeAccounts(admin: Database, count: number): Promise<Account[]> {
    const made: Account[] = [];
    for (let i = 0; i < count; i++) {
      const plan = random.pick(['lite', 'pro'] as const);
      const units = random.next() < 0.2 ? null : unitsFromCredits(0.5 + 4 * random.next());
      made.push(
        await insertAccount(admin, { id: makeId('acct'), name: 'simulated', plan, units, ledgerId: makeId('led') }),
      );
    }
    return made;
  }

  /** Short or in several pieces, and sometimes longer than its header claims. */
  function recording(): { durationMs: number; decodedMs: number } {
    const [shortMs, longMs] = [200 + random.integer(3_000), 31_000 + random.integer(60_000)];
    const luck = random.next();
    if (luck < 0.12) return { durationMs: shortMs, decodedMs: shortMs * 4 };
    if (luck < 0.24) return { durationMs: shortMs, decodedMs: longMs };
    if (luck < 0.36) return { durationMs: longMs, decodedMs: longMs };
    return { durationMs: shortMs, decodedMs: shortMs };
  }

  async function submit(account: Account): Promise<void> {
    const { durationMs, decodedMs } = recording();
    const id = makeId('job');
    jobs.push({ id, account });
    await createJob(
      { db, storage: STORAGE },
      {
        ...{ id, account, rate: RATE, idempotency: NO_IDEMPOTENCY_KEY },
        request: {
          ...{ plan: 'lite', language: null, wordTimes: false, metadata: `"of ${account.id}"`, isAsync: true },
          responseFormat: 'json',
        } as Parameters<typeof createJob>[1]['request'],
        audio: { key: `audio-${decodedMs}-${id}`, filename: null, sizeBytes: 1, format: 'wav', durationMs },
      },
    );
    memory.accepted.add(id);
  }

  async function call(account: Account, method: string, path: string, given: object): Promise<Answer> {
    const route = routes.find((candidate) => candidate.method === method && candidate.path === path)!;
    const call = {
      account,
      params: {},
      query: {},
      body: undefined,
      actor: TEST_ACTOR,
      idempotency: NO_IDEMPOTENCY_KEY,
      note: () => undefined,
      ...given,
    };
    return await route.handle(call as unknown as Call<object, object, undefined>);
  }

  function newUrl(account: Account): string {
    const url = `https://hooks.example/${account.id}/${random.integer(1_000_000)}`;
    receivers.modes.set(url, random.next() < 0.5 ? 'well' : random.pick(RECEIVER_MODES));
    return url;
  }

  async function createWebhook(account: Account): Promise<void> {
    const body = { url: newUrl(account), events: [...EVENT_TYPES] };
    const { id, secret } = (await call(account, 'POST', '/v1/webhooks', { body })).body as {
      id: string;
      secret: string;
    };
    webhooks.push({ id, account });
    memory.secrets.set(id, [secret]);
  }

  async function changeWebhook({ id, account }: KnownWebhook): Promise<void> {
    const body = random.pick([{ active: false }, { active: true }, { active: true }, { url: newUrl(account) }]);
    await call(account, 'PATCH', '/v1/webhooks/:id', { params: { id }, body });
  }

  async function rotate({ id, account }: KnownWebhook): Promise<void> {
    memory.uncertain.add(id);
    const body = { overlap_seconds: random.pick([0, 5, 60]) };
    const answer = await call(account, 'POST', '/v1/webhooks/:id/rotate-secret', { params: { id }, body });
    memory.secrets.get(id)!.push((answer.body as { secret: string }).secret);
    memory.uncertain.delete(id);
  }

  async function control(): Promise<void> {
    // Mostly a recent job, which may still be running.
    const { id, account } = random.pick(random.next() < 0.7 ? jobs.slice(-4) : jobs);
    const deps = { db, storage: STORAGE, config: SETTINGS };
    if (random.next() < 0.6) return void (await cancelJob(deps, account, id, NO_IDEMPOTENCY_KEY));
    memory.deleted.add(id);
    await deleteJob(deps, account, id);
  }

  async function runAccount(account: Account): Promise<void> {
    if (random.next() < 0.5) await updateAccount(db, account.id, { name: null, plan: random.pick(['lite', 'pro']) });
    else await addCredit(db, { account, units: random.integer(1_000_000) - 100_000, note: null });
    const row = await findAccount(db, account.id);
    if (row) account.plan = row.plan;
  }

  /** More events at once than a webhook may have in memory. */
  async function burst({ id, account }: KnownWebhook): Promise<void> {
    for (let i = 4 + random.integer(12); i > 0; i--)
      await call(account, 'POST', '/v1/webhooks/:id/test', { params: { id } });
  }

  /** One random action of a client, a receiver or an operator. */
  async function act(account: Account): Promise<void> {
    const luck = random.next();
    const webhook = webhooks.length > 0 ? random.pick(webhooks) : null;
    if (luck < 0.4) return await submit(account);
    if (luck < 0.48 || !webhook) return await createWebhook(account);
    const { id } = webhook;
    if (luck < 0.58) return await changeWebhook(webhook);
    if (luck < 0.61) return await rotate(webhook);
    if (luck < 0.63) return void (await call(webhook.account, 'DELETE', '/v1/webhooks/:id', { params: { id } }));
    if (luck < 0.74) return await burst(webhook);
    if (luck < 0.79) return void (await call(webhook.account, 'POST', '/v1/webhooks/:id/test', { params: { id } }));
    if (luck < 0.84) return await runAccount(account);
    if (luck < 0.93 && jobs.length > 0) return await control();
    const url = random.pick([...receivers.modes.keys()]);
    receivers.modes.set(url, random.next() < 0.4 ? 'well' : (random.pick(RECEIVER_MODES) as ReceiverMode));
  }

  return { actor, memory, makeAccounts, createWebhook, act };
}
