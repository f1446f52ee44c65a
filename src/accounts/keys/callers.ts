import { randomBytes } from 'node:crypto';
import type { Database } from '../../db/database.ts';
import type { Log } from '../../platform/log.ts';
import type { Account, Caller } from '../account.ts';
import type { AccountName } from './key-store.ts';
import { CALLERS_CHANGED, findCallerByKeyHash, noteKeyUse } from './key-store.ts';

type CallersDeps = {
  db: Database;
  log: Log;
  /** A monotonic clock; the process's by default. */
  monotonicMs?: () => number;
};

/** A look-up, under way or answered. */
type Entry = {
  caller: Promise<Caller | null>;
  /** The caller without what jobs change without a notification. */
  lasting: Promise<Caller | null>;
  startedAtMs: number;
  endsAtMs: number;
  /** The account of the key, which never changes; null until it is known. */
  owner: AccountName | null;
};

// A key that another node revokes must be refused within 1 s, also when no notification arrives.
const MAX_UNHEARD_MS = 900;
const MAX_AGE_MS = 5_000;
const PROBE_EVERY_MS = 300;
const MAX_ENTRIES = 10_000;

/**
 * The callers behind the keys of requests. A key is looked up in the database; for 900 ms from the start of the look-up
 * further requests with the key get the same caller, and for 5 s while changes are heard of. Unknown and expired keys are
 * looked up each time.
 *
 * Whoever changes a key or an account notifies every node in the same transaction. Whether notifications arrive here is
 * found by those that this process sends to itself, of which it must have sent one within 900 ms that came back: PostgreSQL
 * delivers notifications in the order of the commits, so that all changes committed before it were heard of as well.
 */
export class Callers {
  readonly #deps: CallersDeps;
  readonly #monotonicMs: () => number;
  /** By the hash of the key, in the order of the look-ups. */
  readonly #entries = new Map<string, Entry>();
  /** Begins the notifications of this process to itself. */
  readonly #probe = `probe ${randomBytes(4).toString('hex')} `;
  #isListening = false;
  #foundAtMs = Number.NEGATIVE_INFINITY;
  #probedAtMs = Number.NEGATIVE_INFINITY;
  /** When the last probe that came back was sent. */
  #heardAtMs = Number.NEGATIVE_INFINITY;

  constructor(deps: CallersDeps) {
    this.#deps = deps;
    this.#monotonicMs = deps.monotonicMs ?? (() => performance.now());
  }

  /** Listens for changes until the function that it returns is called. */
  async listen(): Promise<() => Promise<void>> {
    const stop = await this.#deps.db.listen(CALLERS_CHANGED, (word) => this.#onNotify(word));
    this.#isListening = true;
    return async () => {
      this.#isListening = false;
      await stop();
    };
  }

  /** The caller of a key, whose use is noted; null for an unknown or expired key. @param keyHash  SHA-256 of the key */
  find(keyHash: Buffer): Promise<Caller | null> {
    const name = keyHash.toString('latin1');
    const nowMs = this.#monotonicMs();
    this.#sendProbe(nowMs);
    const known = this.#entries.get(name);
    const isKnownUntilMs = known ? Math.max(known.startedAtMs, this.#heardAtMs) + MAX_UNHEARD_MS : 0;
    if (!known || nowMs >= known.endsAtMs || nowMs >= isKnownUntilMs)
      return this.#add(name, keyHash, known?.owner ?? null);
    return nowMs < known.startedAtMs + MAX_UNHEARD_MS ? known.caller : known.lasting;
  }

  /**
   * To be called after the commit of a change to a key or an account: it is in force for every request from now on, without
   * waiting for the notification.
   */
  forgetAll(): void {
    this.#entries.clear();
  }

  /** @param word  empty when notifications may have been missed */
  #onNotify(word: string): void {
    if (word.startsWith(this.#probe))
      this.#heardAtMs = Math.max(this.#heardAtMs, Number(word.slice(this.#probe.length)));
    else if (!word.startsWith('probe ')) this.forgetAll();
  }

  /** A request after a pause sends none: it would be too old for the next one. */
  #sendProbe(nowMs: number): void {
    const isBusy = nowMs < this.#foundAtMs + MAX_UNHEARD_MS;
    this.#foundAtMs = nowMs;
    if (!isBusy || !this.#isListening || nowMs < this.#probedAtMs + PROBE_EVERY_MS) return;
    this.#probedAtMs = nowMs;
    this.#deps.db.notify(CALLERS_CHANGED, this.#probe + Math.floor(nowMs), { isPatient: true });
  }

  #add(name: string, keyHash: Buffer, owner: AccountName | null): Promise<Caller | null> {
    const startedAtMs = this.#monotonicMs();
    const lookUp = this.#lookUp(keyHash, owner);
    const caller = lookUp.then((found) => found?.caller ?? null);
    const lasting = caller.then((found) => found && { ...found, account: withoutCredit(found.account) });
    // A failed look-up is reported to those who wait for `caller`.
    lasting.catch(() => undefined);
    const entry: Entry = { caller, lasting, startedAtMs, endsAtMs: startedAtMs + MAX_AGE_MS, owner };
    this.#entries.delete(name);
    this.#entries.set(name, entry);
    if (this.#entries.size > MAX_ENTRIES) this.#removeOldest();
    const remove = () => {
      if (this.#entries.get(name) === entry) this.#entries.delete(name);
    };
    lookUp.then((found) => {
      if (!found) return remove();
      entry.endsAtMs = Math.min(entry.endsAtMs, startedAtMs + (found.expiresInMs ?? MAX_AGE_MS));
      entry.owner = found.caller.account;
    }, remove);
    return caller;
  }

  async #lookUp(
    keyHash: Buffer,
    owner: AccountName | null,
  ): Promise<{ caller: Caller; expiresInMs: number | null } | null> {
    const found = await findCallerByKeyHash(this.#deps.db, keyHash, owner);
    if (!found) return null;
    const { isUseNoted, expiresInMs, ...caller } = found;
    if (!isUseNoted) await this.#noteUse(caller);
    return { caller, expiresInMs };
  }

  async #noteUse({ account, key }: Caller): Promise<void> {
    try {
      await noteKeyUse(this.#deps.db, { shard: account.shard, id: key.id });
    } catch (error) {
      // The request does not fail because of this; a later one tries again.
      this.#deps.log.warn({ err: error }, 'could not note the use of a key');
    }
  }

  #removeOldest(): void {
    const [oldest] = this.#entries.keys();
    this.#entries.delete(oldest!);
  }
}

function withoutCredit({ hadCredit: _, ...account }: Account): Account {
  return account;
}
