import type { Sql } from '../../db/database.ts';
import { BOUNDS } from '../../rules/bounds.ts';
import type { Scheduler } from '../scheduler/scheduler.ts';
import type { WebhookSettings } from '../scheduler/webhook-settings.ts';
import { deletedWebhook, readWebhooks, type WaitingDelivery } from './due-store.ts';

/** @property sentAtMs  when the read was sent: what was changed since may be missing in its answer */
type Cached = { settings: WebhookSettings; read: number; sentAtMs: number };

/** More webhooks than one read brings: what a read has just brought is not forgotten before it is used. */
const MAX_CACHED = 20_000;

/** The settings of the webhooks that the deliveries in memory belong to. */
export class WebhookCache {
  readonly #sql: Sql;
  readonly #scheduler: Scheduler<WaitingDelivery>;
  readonly #monotonicMs: () => number;
  readonly #cached = new Map<string, Cached>();

  constructor(sql: Sql, scheduler: Scheduler<WaitingDelivery>, monotonicMs: () => number) {
    this.#sql = sql;
    this.#scheduler = scheduler;
    this.#monotonicMs = monotonicMs;
  }

  /** The settings as last read; null when there are none. */
  get(id: string): WebhookSettings | null {
    return this.#cached.get(id)?.settings ?? null;
  }

  /** The settings, if an attempt may start, or send its request, with them. */
  fresh(id: string): WebhookSettings | null {
    return this.isFreshFor(id, 0) ? this.get(id) : null;
  }

  /** Whether attempts may still start with the settings after this time. */
  isFreshFor(id: string, ms: number): boolean {
    const cached = this.#cached.get(id);
    return cached !== undefined && this.#monotonicMs() - cached.sentAtMs + ms <= BOUNDS.settingsMaxAgeMs;
  }

  /** Gives the scheduler the settings that were read last: it has none of a webhook without deliveries in memory. */
  apply(id: string): void {
    const cached = this.#cached.get(id);
    if (cached) this.#scheduler.setWebhook(cached.settings, cached.read);
  }

  /**
   * Keeps settings that a read brought, unless a later read has brought some.
   * @param read.sentAtMs  when it was sent, by the monotonic clock
   */
  keep(settings: WebhookSettings, { read, sentAtMs }: { read: number; sentAtMs: number }): void {
    const cached = this.#cached.get(settings.id);
    if (cached && cached.read > read) return;
    // The map is in the order of the reads.
    this.#cached.delete(settings.id);
    const [oldest] = this.#cached.keys();
    if (this.#cached.size >= MAX_CACHED) this.#cached.delete(oldest!);
    this.#cached.set(settings.id, { settings, read, sentAtMs });
    this.#scheduler.setWebhook(settings, read);
  }

  /** Reads webhooks again; a deleted one is inactive from then on. */
  async refresh(webhooks: { id: string; shard: number }[]): Promise<void> {
    for (const [shard, found] of Map.groupBy(webhooks, (webhook) => webhook.shard)) {
      const read = this.#scheduler.beginRead();
      const sentAtMs = this.#monotonicMs();
      try {
        const ids = [...new Set(found.map(({ id }) => id))];
        const settings = new Map((await readWebhooks(this.#sql, shard, ids)).map((one) => [one.id, one]));
        for (const id of ids) this.keep(settings.get(id) ?? deletedWebhook({ id, shard }), { read, sentAtMs });
      } finally {
        this.#scheduler.endRead(read);
      }
    }
  }

  /** Applies what a record has changed. The rest is as old as before: a read in progress may bring it anew. */
  change(id: string, change: Partial<Pick<WebhookSettings, 'state' | 'isHealthy'>>): void {
    const cached = this.#cached.get(id);
    if (!cached) return;
    cached.settings = { ...cached.settings, ...change };
    this.#scheduler.setWebhook(cached.settings, cached.read);
  }
}
