import os from 'node:os';
import type { Database } from '../db/database.ts';
import type { Readiness } from '../http/service/service-routes.ts';
import type { Clock } from '../platform/clock.ts';
import type { Log } from '../platform/log.ts';
import { deleteNode, reportNode } from './node-store.ts';

type ReportDeps = {
  db: Database;
  clock: Clock;
  log: Log;
  readiness: Readiness;
  node: { id: string; version: string; roles: readonly string[] };
};

const REPORT_EVERY_MS = 10_000;

/** Reports this node to the other nodes every 10 s, until `close`. */
export class NodeReports {
  readonly #deps: ReportDeps;
  readonly #closing = new AbortController();
  readonly #reporting: Promise<void>;

  constructor(deps: ReportDeps) {
    this.#deps = deps;
    this.#reporting = this.#reportUntilClosed();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#reporting;
    await deleteNode(this.#deps.db, this.#deps.node.id).catch(() => undefined);
  }

  async #reportUntilClosed(): Promise<void> {
    const { db, clock, log, readiness, node } = this.#deps;
    const { signal } = this.#closing;
    const startedAt = new Date(clock.now());
    while (!signal.aborted) {
      try {
        const { ready, reasons } = await readiness.check();
        await reportNode(db, { ...node, host: os.hostname(), ready, reasons, startedAt });
      } catch (err) {
        log.debug({ err }, 'could not report the node');
      }
      await clock.sleep(REPORT_EVERY_MS, signal);
    }
  }
}
