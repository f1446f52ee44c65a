import assert from 'node:assert/strict';
import test from 'node:test';
import { type Random, randomFrom } from '../../../test/fixtures/random.ts';
import { Scheduler } from './scheduler.ts';
import type { Entry } from './webhook-queue.ts';
import type { StartSettings } from './webhook-settings.ts';

const SEEDS = 90;
const STEPS = 1_500;
const LIMITS = {
  total: 30,
  perWebhook: 6,
  inFlightPerWebhook: 3,
  inFlight: 12,
  healthyOnlyFrom: 9,
  degradedInFlight: 4,
};
const WEBHOOKS = ['w1', 'w2', 'w3', 'w4', 'w5', 'w6'];
const SHARDS = [0, 1];
const NOW_MS = 1_000_000;
/** Attempts per second of the webhooks that have a limit. */
const MAX_PER_SECOND: Record<string, number> = { w1: 40, w3: 2, w5: 1 };

type Started = Entry & { isLost: boolean };
type Read = { run: () => () => void };

/** The database as simple lists, and everything that is on its way between it and a scheduler. */
class Model {
  readonly #random: Random;
  readonly #scheduler = new Scheduler<Entry>(LIMITS);
  readonly #rows = new Map<string, Entry>();
  readonly #active = new Map(WEBHOOKS.map((id) => [id, true]));
  readonly #owned = new Set<number>(SHARDS);
  readonly #kept = new Map<string, { settings: StartSettings; read: number }>();
  /** Rows that the scheduler has seen and must not lose. */
  readonly #covered = new Set<string>();
  /** Rows that were deleted while they waited, and must not start. */
  readonly #dropped = new Set<string>();
  readonly #started = new Map<string, Started>();
  readonly #unanswered: Started[] = [];
  /** When requests of each webhook were sent in the last second, those of other owners included. */
  readonly #sent = new Map(WEBHOOKS.map((id) => [id, [] as number[]]));
  #unrecorded: Started[] = [];
  readonly #unsettled: (() => void)[] = [];
  readonly #reads: Read[] = [];
  readonly #answers: (() => void)[] = [];
  #number = 0;
  #nowMs = NOW_MS;

  constructor(seed: number) {
    this.#random = randomFrom(seed);
    for (const shard of SHARDS) this.#scheduler.addShard(shard, NOW_MS - 1_000);
  }

  step(): void {
    const luck = this.#random.next();
    this.#nowMs += this.#random.integer(20);
    if (luck < 0.2) this.#insert();
    else if (luck < 0.28) this.#tail();
    else if (luck < 0.36) this.#refill();
    else if (luck < 0.5) this.#runRead();
    else if (luck < 0.62) this.#takeOne(this.#answers)?.();
    else if (luck < 0.72) this.#start();
    else if (luck < 0.81) this.#answer();
    else if (luck < 0.89) this.#record();
    else if (luck < 0.97) this.#takeOne(this.#unsettled)?.();
    else if (luck < 0.98) this.#toggleWebhook();
    else if (luck < 0.987) this.#dropEvent();
    else if (luck < 0.993) this.#moveShard();
    this.#checkSizes();
  }

  /** Ends everything under way and sends what is covered, without another look at what is due. */
  drain(): void {
    for (const id of WEBHOOKS) this.#changeWebhook(id, true);
    for (let round = 0; round < 3_000; round++) {
      this.#nowMs += 50;
      this.#refill();
      this.#runRead();
      this.#takeOne(this.#answers)?.();
      this.#start();
      this.#answer();
      this.#record();
      this.#takeOne(this.#unsettled)?.();
      this.#checkSizes();
    }
    const lost = [...this.#rows.keys()].filter((id) => this.#covered.has(id));
    assert.deepEqual(lost, [], 'rows were lost');
    const { entries, unrecorded, inFlight } = this.#scheduler.sizes();
    assert.deepEqual({ entries, unrecorded, inFlight }, { entries: 0, unrecorded: 0, inFlight: 0 });
  }

  #insert(): void {
    // Most rows are of one webhook; some have the same time.
    const webhookId = this.#random.next() < 0.5 ? 'w1' : this.#random.pick(WEBHOOKS);
    const number = ++this.#number;
    const nextAtMs = this.#random.next() < 0.2 ? NOW_MS : this.#nowMs + this.#random.integer(400) - 300;
    const shard = shardOf(webhookId);
    const entry = { id: `d${number}`, shard, webhookId, eventId: `e${number >> 2}`, nextAtMs };
    this.#rows.set(entry.id, { ...entry, attempt: 1, attemptId: `a${number}` });
  }

  #tail(): void {
    const read = this.#scheduler.beginRead();
    const isBroken = this.#random.next() < 0.1;
    const without = this.#scheduler.backlogged(2);
    const fromMs = this.#random.pick([NOW_MS - 1_000, this.#nowMs - 200]);
    const known = this.#scheduler.known({ shards: SHARDS, fromMs, limit: 5 });
    const run = () => {
      const rows = this.#rowsOf(({ id, shard, webhookId, nextAtMs }) => {
        const isLeftOut = without.includes(webhookId) || known.includes(id);
        return this.#owned.has(shard) && nextAtMs <= this.#nowMs + 1_000 && !isLeftOut;
      }).map((row) => ({ row, settings: this.#settingsOf(row.webhookId) }));
      return () => {
        for (const { row, settings } of isBroken ? [] : rows) {
          const offer = this.#scheduler.offer(row, this.#keep(settings, read), read);
          if (offer === 'taken' || offer === 'spilled') this.#covered.add(row.id);
        }
        this.#scheduler.endRead(read);
      };
    };
    this.#reads.push({ run });
  }

  #refill(): void {
    for (const { read, webhookId, fromMs, toMs, limit, known } of this.#scheduler.refills(2, this.#nowMs)) {
      const isBroken = this.#random.next() < 0.1;
      const run = () => {
        const rows = this.#rowsOf((row) => {
          const isDue = row.nextAtMs >= fromMs && row.nextAtMs <= toMs;
          return row.webhookId === webhookId && isDue && !known.includes(row.id);
        }).slice(0, limit);
        const settings = rows.length > 0 ? this.#settingsOf(webhookId) : null;
        return () => {
          if (isBroken) this.#scheduler.endRead(read);
          else this.#scheduler.refilled(read, rows, settings && this.#keep(settings, read));
        };
      };
      this.#reads.push({ run });
    }
  }

  #runRead(): void {
    const read = this.#takeOne(this.#reads);
    if (read) this.#answers.push(read.run());
  }

  #start(): void {
    const entry = this.#scheduler.next(this.#nowMs);
    if (!entry) return;
    assert.ok(entry.nextAtMs <= this.#nowMs, `${entry.id} started too early`);
    assert.ok(!this.#started.has(entry.id), `${entry.id} was started twice`);
    assert.ok(!this.#dropped.has(entry.id), `${entry.id} was started after it was dropped`);
    assert.ok(this.#owned.has(entry.shard), `${entry.id} was started in a shard that is not owned`);
    const started = { ...entry, isLost: false };
    this.#started.set(entry.id, started);
    this.#unanswered.push(started);
    const inFlight = this.#unanswered.filter(({ webhookId }) => webhookId === entry.webhookId);
    assert.ok(inFlight.length <= LIMITS.inFlightPerWebhook);
    assert.ok(this.#unanswered.length <= LIMITS.inFlight);
  }

  /** The limit per second holds for requests of this owner and of others. */
  #noteSent(webhookId: string): void {
    const recent = this.#sent.get(webhookId)!.filter((atMs) => atMs > this.#nowMs - 1_000);
    recent.push(this.#nowMs);
    this.#sent.set(webhookId, recent);
    assert.ok(
      recent.length <= (MAX_PER_SECOND[webhookId] ?? Number.POSITIVE_INFINITY),
      `${webhookId} passed its limit`,
    );
  }

  #answer(): void {
    const started = this.#takeOne(this.#unanswered);
    if (!started) return;
    // Nothing is sent of a shard that was lost while the connection was opened.
    if (!started.isLost) {
      this.#scheduler.sent(started.id, this.#nowMs);
      this.#noteSent(started.webhookId);
    }
    this.#scheduler.answered(started.id, this.#nowMs);
    this.#unrecorded.push(started);
  }

  #record(): void {
    const started = this.#takeOne(this.#unrecorded);
    if (!started) return;
    const { id, isLost } = started;
    const row = this.#rows.get(id);
    if (isLost || !row) {
      // Another owner has sent it, or will.
      assert.ok(isLost, `${id} was started from an answer that was too old`);
      this.#settleLater(id, null);
      return;
    }
    assert.equal(row.attemptId, started.attemptId, `${id} was started from an answer that was too old`);
    const luck = this.#random.next();
    if (luck < 0.15) {
      this.#postponeLater(id);
      return;
    }
    if (luck < 0.65) {
      this.#rows.delete(id);
      this.#covered.delete(id);
      this.#settleLater(id, null);
      return;
    }
    const delayMs = this.#random.pick([0, 300, 3_000]);
    const attempt = started.attempt + 1;
    const retry = { attempt, attemptId: `${row.attemptId}+`, nextAtMs: this.#nowMs + delayMs };
    this.#rows.set(id, { ...row, ...retry });
    this.#covered.delete(id);
    this.#settleLater(id, retry);
  }

  #settleLater(id: string, retry: Parameters<Scheduler['settled']>[1]): void {
    this.#unsettled.push(() => {
      const row = this.#rows.get(id);
      this.#started.delete(id);
      this.#scheduler.settled(id, retry, this.#nowMs);
      const waits = retry && row?.attemptId === retry.attemptId && retry.nextAtMs <= this.#nowMs + 1_000;
      if (waits && this.#owned.has(row.shard) && this.#active.get(row.webhookId)) this.#covered.add(id);
    });
  }

  /** Nothing was sent or recorded: the row stays as it was, and must not be lost. */
  #postponeLater(id: string): void {
    const startAtMs = this.#nowMs + this.#random.pick([0, 300, 3_000]);
    this.#unsettled.push(() => {
      const isDropped = !this.#rows.has(id);
      const { isLost } = this.#started.get(id)!;
      this.#started.delete(id);
      this.#scheduler.postponed(id, startAtMs, this.#nowMs);
      if (!isLost && !isDropped) this.#covered.add(id);
    });
  }

  #toggleWebhook(): void {
    const id = this.#random.pick(WEBHOOKS);
    const isActive = !this.#active.get(id);
    this.#changeWebhook(id, isActive);
    if (isActive || this.#random.next() < 0.5) return;
    for (const row of this.#rowsOf(({ webhookId }) => webhookId === id)) this.#drop(row);
    this.#scheduler.dropWebhook(id);
  }

  #changeWebhook(id: string, isActive: boolean): void {
    this.#active.set(id, isActive);
    const read = this.#scheduler.beginRead();
    this.#keep(this.#settingsOf(id), read);
    this.#scheduler.endRead(read);
  }

  /** Keeps the settings of the read that began last, as the deliverer does. */
  #keep(settings: StartSettings, read: number): StartSettings {
    const kept = this.#kept.get(settings.id);
    if (kept && kept.read > read) return kept.settings;
    this.#kept.set(settings.id, { settings, read });
    this.#scheduler.setWebhook(settings, read);
    return settings;
  }

  #dropEvent(): void {
    const event = `e${this.#random.integer((this.#number >> 2) + 1)}`;
    for (const row of this.#rowsOf(({ eventId }) => eventId === event)) this.#drop(row);
    this.#scheduler.dropEvents([event]);
  }

  #drop({ id }: Entry): void {
    if (this.#started.has(id)) return;
    this.#rows.delete(id);
    this.#covered.delete(id);
    this.#dropped.add(id);
  }

  /** Loses a shard, whose rows another owner then changes, or takes it back. */
  #moveShard(): void {
    const shard = this.#random.pick(SHARDS);
    if (this.#owned.delete(shard)) {
      this.#scheduler.dropShard(shard);
      for (const started of this.#started.values()) if (started.shard === shard) started.isLost = true;
      for (const row of this.#rowsOf((candidate) => candidate.shard === shard)) {
        this.#covered.delete(row.id);
        const luck = this.#random.next();
        const retried = { ...row, attempt: row.attempt + 1, attemptId: `${row.attemptId}-` };
        if (luck < 0.3) this.#rows.delete(row.id);
        else if (luck < 0.5) this.#rows.set(row.id, retried);
      }
      return;
    }
    this.#owned.add(shard);
    // The owner before has used the limits until now.
    for (const id of WEBHOOKS.filter((webhookId) => shardOf(webhookId) === shard))
      this.#sent.set(
        id,
        Array.from({ length: MAX_PER_SECOND[id] ?? 0 }, () => this.#nowMs),
      );
    this.#scheduler.addShard(shard, this.#nowMs);
    for (const row of this.#rowsOf((candidate) => candidate.shard === shard)) {
      this.#scheduler.spill({ id: row.webhookId, shard });
      if (row.nextAtMs <= this.#nowMs) this.#covered.add(row.id);
    }
  }

  #checkSizes(): void {
    const sizes = this.#scheduler.sizes();
    assert.ok(sizes.entries <= LIMITS.total);
    assert.equal(sizes.inFlight, this.#unanswered.length);
    assert.equal(sizes.unrecorded + sizes.inFlight, this.#started.size);
    for (const shard of SHARDS) {
      const started = [...this.#started.values()].filter((entry) => entry.shard === shard);
      assert.equal(this.#scheduler.unsettledOf(shard), started.length);
    }
  }

  #settingsOf(id: string) {
    const maxPerSecond = MAX_PER_SECOND[id] ?? null;
    return {
      id,
      shard: shardOf(id),
      isHealthy: id < 'w4',
      state: this.#active.get(id) ? ('active' as const) : ('inactive' as const),
      maxPerSecond,
    };
  }

  #rowsOf(isWanted: (row: Entry) => boolean): Entry[] {
    return [...this.#rows.values()].filter(isWanted).sort((left, right) => left.nextAtMs - right.nextAtMs);
  }

  #takeOne<Item>(items: Item[]): Item | undefined {
    return items.splice(this.#random.integer(items.length), 1)[0];
  }
}

const shardOf = (webhookId: string) => Number(webhookId > 'w2');

test('no row is lost or started twice and no limit is passed, in whatever order reads, refills and results are processed', () => {
  for (let seed = 1; seed <= SEEDS; seed++) {
    assert.doesNotThrow(() => {
      const model = new Model(seed);
      for (let step = 0; step < STEPS; step++) model.step();
      model.drain();
    }, `seed ${seed}`);
  }
});
