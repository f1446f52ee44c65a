import type { Runtime } from '../../db/runtime.ts';
import { BOUNDS } from '../../rules/bounds.ts';
import type { Caller } from '../account.ts';
import { type Credential, findCaller } from './caller-store.ts';
import { type AccountName, noteKeyUse } from './key-store.ts';

/** What the endpoints of accounts and keys run on. */
export type AccountsRuntime = Runtime & { callers: Pick<Callers, 'forgetAll'> };

/** A look-up, under way or answered. */
type Entry = {
  caller: Promise<Caller | null>;
  endsAtMs: number;
  /** The account of the credential, which never changes; null until it is known. */
  owner: AccountName | null;
};

const MAX_ENTRIES = 10_000;

/**
 * The callers behind the keys and sessions of requests. A key is looked up in the database; for 900 ms from the start
 * of the look-up further requests with the key get the same caller. Unknown and expired keys are looked up each time.
 */
export class Callers {
  readonly #runtime: Runtime;
  readonly #monotonicMs: () => number;
  /** By kind and hash, in the order of the look-ups. */
  readonly #entries = new Map<string, Entry>();

  /** @param monotonicMs  a monotonic clock; the process's by default */
  constructor(runtime: Runtime, monotonicMs: () => number = () => performance.now()) {
    this.#runtime = runtime;
    this.#monotonicMs = monotonicMs;
  }

  /** The caller of a key, whose use is noted; null for an unknown or expired key. @param hash  SHA-256 of the key */
  find(hash: Buffer): Promise<Caller | null> {
    return this.#find({ kind: 'key', hash });
  }

  /** The caller of a session; null for an unknown or ended one. @param hash  SHA-256 of the session's token */
  findBySession(hash: Buffer): Promise<Caller | null> {
    return this.#find({ kind: 'session', hash });
  }

  /**
   * To be called after the commit of a change to a key, a session or an account:
   * it is in force for every request from now on.
   */
  forgetAll(): void {
    this.#entries.clear();
  }

  #find(credential: Credential): Promise<Caller | null> {
    const name = `${credential.kind} ${credential.hash.toString('latin1')}`;
    const known = this.#entries.get(name);
    if (known && this.#monotonicMs() < known.endsAtMs) return known.caller;
    return this.#add(name, credential, known?.owner ?? null);
  }

  #add(name: string, credential: Credential, owner: AccountName | null): Promise<Caller | null> {
    const startedAtMs = this.#monotonicMs();
    const lookUp = this.#lookUp(credential, owner);
    const caller = lookUp.then((found) => found?.caller ?? null);
    const entry: Entry = { caller, endsAtMs: startedAtMs + BOUNDS.callerMaxAgeMs, owner };
    this.#entries.delete(name);
    this.#entries.set(name, entry);
    if (this.#entries.size > MAX_ENTRIES) this.#removeOldest();
    const remove = () => {
      if (this.#entries.get(name) === entry) this.#entries.delete(name);
    };
    lookUp.then((found) => {
      if (!found) return remove();
      entry.endsAtMs = Math.min(entry.endsAtMs, startedAtMs + (found.expiresInMs ?? BOUNDS.callerMaxAgeMs));
      entry.owner = found.caller.account;
    }, remove);
    return caller;
  }

  async #lookUp(
    credential: Credential,
    owner: AccountName | null,
  ): Promise<{ caller: Caller; expiresInMs: number | null } | null> {
    const found = await findCaller(this.#runtime.db, credential, owner);
    if (!found) return null;
    const { isUseNoted, expiresInMs, ...caller } = found;
    if (!isUseNoted) await this.#noteUse(caller);
    return { caller, expiresInMs };
  }

  async #noteUse({ account, key }: Caller): Promise<void> {
    try {
      await noteKeyUse(this.#runtime.db, { shard: account.shard, id: key.id });
    } catch (error) {
      // The request does not fail because of this; a later one tries again.
      this.#runtime.log.warn({ err: error }, 'could not note the use of a key');
    }
  }

  #removeOldest(): void {
    const [oldest] = this.#entries.keys();
    this.#entries.delete(oldest!);
  }
}
