import type { Connection, ConnectionPool } from './connections.ts';
import type { DeadlineWheel } from './deadlines.ts';

/** Permission for one attempt at a host. */
export type HostPermit = {
  /** A connection to reuse; null when the attempt opens one, and then calls `connected`. */
  connection: Connection | null;
  connected(): void;
  /** The attempt has ended. */
  release(): void;
};

export type PerHostLimiterOptions = { pool: ConnectionPool; wheel: DeadlineWheel; maxWaitMs: number };

// Enough to keep a processor busy, and four times what one webhook has in flight: attempts rarely wait.
const MAX_ACTIVE = 64;
const MAX_SHARE_WAIT_MS = 250;

type Waiter = { sinceMs: number; admit(permit: HostPermit): void };
/** Attempts in progress at one host, how many of them are connecting, and those that wait, the oldest first. */
type Host = { active: number; connecting: number; waiters: Set<Waiter>; isWatched: boolean };

/** Lets attempts at one host share its connections: in a burst, opening one for each would cost thirty times as much. */
export class PerHostLimiter {
  readonly #options: PerHostLimiterOptions;
  readonly #hosts = new Map<string, Host>();

  constructor(options: PerHostLimiterOptions) {
    this.#options = options;
  }

  /**
   * The first 64 attempts at an origin get a permit at once. The others wait for a connection that another attempt gives
   * back; after 250 ms they may open one. Null when neither happens within `maxWaitMs`.
   */
  acquire(origin: string): Promise<HostPermit | null> {
    let host = this.#hosts.get(origin);
    if (!host) {
      host = { active: 0, connecting: 0, waiters: new Set(), isWatched: false };
      this.#hosts.set(origin, host);
    }
    const idle = this.#options.pool.take(origin);
    if (idle === null && host.active >= MAX_ACTIVE) return this.#wait(origin, host);
    return Promise.resolve(this.#grant(origin, host, idle));
  }

  /** Gives a connection to the attempt that has waited longest at the origin, otherwise to the pool. */
  giveBack(origin: string, connection: Connection): void {
    const host = this.#hosts.get(origin);
    const [next] = host?.waiters ?? [];
    if (host && next && connection.isOpen()) next.admit(this.#grant(origin, host, connection));
    else this.#options.pool.giveBack(origin, connection);
  }

  #wait(origin: string, host: Host): Promise<HostPermit | null> {
    return new Promise((resolve) => {
      const deadline = this.#options.wheel.start(this.#options.maxWaitMs);
      const waiter: Waiter = {
        sinceMs: performance.now(),
        admit(permit) {
          host.waiters.delete(waiter);
          deadline.cancel();
          resolve(permit);
        },
      };
      deadline.onExpired = () => {
        host.waiters.delete(waiter);
        resolve(null);
      };
      host.waiters.add(waiter);
      if (!host.isWatched) this.#watch(origin, host);
    });
  }

  /** Lets attempts that waited for long open a connection: those in progress may belong to slow webhooks. */
  #watch(origin: string, host: Host): void {
    host.isWatched = true;
    this.#options.wheel.start(MAX_SHARE_WAIT_MS / 5).onExpired = () => {
      host.isWatched = false;
      if (host.waiters.size === 0) return;
      const sinceMs = performance.now() - MAX_SHARE_WAIT_MS;
      this.#admitWhile(origin, host, (waiter) => waiter.sinceMs <= sinceMs && host.connecting < MAX_ACTIVE);
      this.#watch(origin, host);
    };
  }

  #admitWhile(origin: string, host: Host, isAllowed: (waiter: Waiter) => boolean): void {
    for (const waiter of host.waiters) {
      if (!isAllowed(waiter)) return;
      waiter.admit(this.#grant(origin, host, null));
    }
  }

  #grant(origin: string, host: Host, connection: Connection | null): HostPermit {
    let isConnecting = connection === null;
    host.active += 1;
    if (isConnecting) host.connecting += 1;
    const connected = () => {
      if (!isConnecting) return;
      isConnecting = false;
      host.connecting -= 1;
    };
    const release = () => {
      connected();
      host.active -= 1;
      this.#admitWhile(origin, host, () => host.active < MAX_ACTIVE);
      if (host.active === 0) this.#hosts.delete(origin);
    };
    return { connection, connected, release };
  }
}
