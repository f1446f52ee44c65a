import { logFailure } from '../../db/database.ts';
import { LargeBodies } from '../scheduler/large-bodies.ts';
import type { DelivererParts } from './deliverer-parts.ts';
import { MAX_WAITING_BODY_BYTES, readBodies, type WaitingDelivery } from './due-store.ts';

/** `gone`: the delivery does not wait any more, or the read was cancelled. `failed`: the database is away. */
export type ReadParts = { kind: 'complete'; body: Buffer } | { kind: 'gone' } | { kind: 'failed' };

type Waiting = { delivery: WaitingDelivery; body: Buffer | null; end(read: ReadParts): void };

const BODIES_PER_READ = 64;

/**
 * Reads what started attempts lack, for many in one statement: bodies that are large or were read long ago, and
 * settings that may have changed since, which go to the cache.
 */
export class MissingParts {
  readonly #parts: DelivererParts;
  readonly #small: Waiting[] = [];
  readonly #large = new LargeBodies<Waiting>();
  #reading: Promise<void> | null = null;

  constructor(parts: DelivererParts) {
    this.#parts = parts;
  }

  /**
   * After `complete`, call `release` when the body is not in memory any more.
   * @param body  null when it has to be read
   */
  read(delivery: WaitingDelivery, body: Buffer | null): Promise<ReadParts> {
    return new Promise((end) => {
      const waiting = { delivery, body, end };
      if (isLarge(delivery)) this.#large.add(waiting);
      else this.#small.push(waiting);
      this.#begin();
    });
  }

  /** The body of an attempt is not in memory any more. */
  release(delivery: WaitingDelivery): void {
    if (!isLarge(delivery)) return;
    this.#large.ended(delivery);
    this.#begin();
  }

  /** Ends the waits for large bodies of the deliveries that match. */
  cancel(matches: (delivery: WaitingDelivery) => boolean): void {
    for (const { end } of this.#large.remove(matches)) end({ kind: 'gone' });
  }

  /** Resolves when nothing is read any more. */
  async finish(): Promise<void> {
    await this.#reading;
  }

  #begin(): void {
    this.#reading ??= this.#readAll();
  }

  async #readAll(): Promise<void> {
    // The others of this turn are added before this resolves.
    await undefined;
    for (;;) {
      const batch = [...this.#small.splice(0, BODIES_PER_READ), ...this.#large.take()];
      if (batch.length === 0) {
        this.#reading = null;
        return;
      }
      const bodies = await this.#readMissing(batch);
      for (const { delivery, body, end } of batch) {
        const read = body ?? bodies?.get(delivery.id);
        if (bodies && read) end({ kind: 'complete', body: read });
        else {
          this.release(delivery);
          end({ kind: bodies ? 'gone' : 'failed' });
        }
      }
    }
  }

  /** The bodies by delivery; null when the database is away. */
  async #readMissing(batch: Waiting[]): Promise<Map<string, Buffer> | null> {
    const { db, log, webhooks } = this.#parts;
    const stale = batch.filter(({ delivery }) => !webhooks.fresh(delivery.webhookId));
    const withoutBody = batch.flatMap(({ delivery, body }) => (body ? [] : delivery));
    try {
      const [bodies] = await Promise.all([
        withoutBody.length > 0 ? readBodies(db, withoutBody) : new Map<string, Buffer>(),
        webhooks.refresh(stale.map(({ delivery }) => ({ id: delivery.webhookId, shard: delivery.shard }))),
      ]);
      return bodies;
    } catch (error) {
      logFailure(log, error, 'reading bodies of deliveries');
      return null;
    }
  }
}

/** Whether the body is read just before it is sent, within its account's share of the memory. */
function isLarge({ bodyBytes }: WaitingDelivery): boolean {
  return bodyBytes > MAX_WAITING_BODY_BYTES;
}
