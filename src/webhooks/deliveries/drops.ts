import { logFailure } from '../../db/database.ts';
import type { Runtime } from '../../db/runtime.ts';
import type { Ownership } from '../ownership/ownership.ts';
import type { Scheduler } from '../scheduler/scheduler.ts';
import type { WebhookSettings } from '../scheduler/webhook-settings.ts';
import { dropWaiting } from './drop-store.ts';
import type { WaitingDelivery } from './due-store.ts';

/** What runs on the shards that a deliverer owns. */
export type OwnerRuntime = Runtime & { scheduler: Scheduler<WaitingDelivery>; ownership: Ownership };

const DROP_AGAIN_MS = 1_000;

/** Drops what waits for webhooks that are disabled or deleted. */
export class Drops {
  readonly #runtime: OwnerRuntime;
  /** By webhook. */
  readonly #running = new Map<string, Promise<void>>();

  constructor(runtime: OwnerRuntime) {
    this.#runtime = runtime;
  }

  /** Has no effect on a webhook that may send, or whose deliveries are being dropped. */
  dropIfInactive(webhook: WebhookSettings | null): void {
    if (webhook?.state !== 'inactive' || this.#running.has(webhook.id)) return;
    const running = this.#drop(webhook).finally(() => this.#running.delete(webhook.id));
    this.#running.set(webhook.id, running);
  }

  /** Resolves when nothing is being dropped any more. */
  async finish(): Promise<void> {
    await Promise.all(this.#running.values());
  }

  /** Tries again after a failure, while this process owns the shard. */
  async #drop({ id: webhookId, shard, url }: WebhookSettings): Promise<void> {
    const { db, clock, scheduler, ownership, log } = this.#runtime;
    for (;;) {
      const epoch = ownership.epochOf(shard);
      if (epoch === null) return;
      const allowed = { by: 'owner', epoch, inFlight: scheduler.unsettledOfWebhook(webhookId) } as const;
      try {
        await dropWaiting(db, { shard, webhookId, url, allowed });
        return scheduler.dropWebhook(webhookId);
      } catch (error) {
        logFailure(log, error, 'dropping deliveries');
        await clock.sleep(DROP_AGAIN_MS);
      }
    }
  }
}
