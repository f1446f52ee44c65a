import type { Sql } from '../db/database.ts';
import { type Horizon, readHorizon } from './horizon-store.ts';
import type { Row, Source } from './source.ts';

/**
 * What the streams of a process read. A change wakes all streams of its account: they join in one read of the horizon,
 * and those that share it read the same pages once.
 */
export class JoinedReads {
  readonly #running = new Map<string, Promise<unknown>>();

  horizon(sql: Sql): Promise<Horizon> {
    return this.#once('horizon', () => readHorizon(sql));
  }

  /**
   * The source with joined reads of its pages. No row is missed: they are read after the horizon, from which the
   * stream reads again.
   */
  pagesAfter<R extends Row>({ nowMs }: Horizon, source: Source<R>): Source<R> {
    const page: Source<R>['page'] = (after, limit) =>
      this.#once(`${nowMs} ${source.name} ${after.at} ${after.id} ${limit}`, () => source.page(after, limit));
    return { ...source, page };
  }

  /** Joins a read that is running. */
  #once<T>(key: string, read: () => Promise<T>): Promise<T> {
    const running = this.#running.get(key) as Promise<T> | undefined;
    if (running) return running;
    const made = read().finally(() => this.#running.delete(key));
    this.#running.set(key, made);
    return made;
  }
}
