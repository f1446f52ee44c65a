import type { Runtime } from '../../db/runtime.ts';
import { BOUNDS } from '../../rules/bounds.ts';

/** What is claimed is no longer held under this claim: writes under it are rejected. */
export class LeaseLostError extends Error {
  constructor(id: string) {
    super(`the lease of ${id} was lost`);
    this.name = 'LeaseLostError';
  }
}

type Held<Claim> = {
  claim: () => Claim;
  onLost: (cause: LeaseLostError) => void;
};

/**
 * Moves the ends of these leases, all of one shard, to `BOUNDS.leaseMs` from now; resolves to the ids of those that are
 * still held.
 */
type Renew<Claim> = (claims: Claim[], shard: number) => Promise<string[]>;

/**
 * Renews what this process has claimed in one table, all of it together, every 2 s.
 *
 * A lease is not lost while the database is away: nobody else can claim then, and when the database is back, holders
 * renew before leases count as ended. The number of the lease rejects any late write.
 */
export class LeaseKeeper<Claim extends { shard: number; id: string }> {
  readonly #runtime: Runtime;
  readonly #renew: Renew<Claim>;
  readonly #held = new Map<string, Held<Claim>>();
  readonly #closing = new AbortController();
  readonly #renewing: Promise<void>;

  constructor(runtime: Runtime, renew: Renew<Claim>) {
    this.#runtime = runtime;
    this.#renew = renew;
    this.#renewing = this.#renewUntilClosed();
  }

  /**
   * Renews the lease of what was claimed until disposed.
   * @param claim   called for each renewal
   * @param onLost  called at most once, when it is no longer held under this claim
   */
  hold(claim: () => Claim, onLost: Held<Claim>['onLost']): Disposable {
    const { id } = claim();
    const held = { claim, onLost };
    // It was claimed elsewhere and then here again, before a renewal found that.
    this.#lose(id, this.#held.get(id));
    this.#held.set(id, held);
    return {
      [Symbol.dispose]: () => {
        if (this.#held.get(id) === held) this.#held.delete(id);
      },
    };
  }

  async close(): Promise<void> {
    this.#closing.abort(null);
    await this.#renewing;
  }

  async #renewUntilClosed(): Promise<void> {
    const { clock, log } = this.#runtime;
    const { signal } = this.#closing;
    let waitMs = BOUNDS.renewEveryMs;
    while (!signal.aborted) {
      await clock.sleep(waitMs, signal);
      if (signal.aborted) return;
      waitMs = BOUNDS.renewEveryMs;
      await this.#renewAll().catch((err: unknown) => {
        log.warn({ leases: this.#held.size, err }, 'could not renew leases');
        // Soon, so that a renewal waits when the database is back.
        waitMs = BOUNDS.renewAgainMs;
      });
    }
  }

  async #renewAll(): Promise<void> {
    const entries = [...this.#held].map(([id, held]) => ({ id, held, claim: held.claim() }));
    const failures: unknown[] = [];
    // By shard: a sharded database locks rows of one shard only in a statement.
    for (const [shard, ofShard] of Map.groupBy(entries, ({ claim }) => claim.shard)) {
      const claims = ofShard.map(({ claim }) => claim);
      try {
        const kept = new Set(await this.#renew(claims, shard));
        for (const { id, held } of ofShard) if (!kept.has(id)) this.#lose(id, held);
      } catch (failure) {
        // The leases of the other shards are renewed all the same.
        failures.push(failure);
      }
    }
    if (failures.length > 0) throw failures[0];
  }

  #lose(id: string, held: Held<Claim> | undefined): void {
    if (held === undefined || this.#held.get(id) !== held) return;
    this.#held.delete(id);
    held.onLost(new LeaseLostError(id));
  }
}
