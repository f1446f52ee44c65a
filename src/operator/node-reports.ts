import os from 'node:os';
import type { Runtime } from '../db/runtime.ts';
import type { Readiness } from '../http/service/service-routes.ts';
import { BOUNDS } from '../rules/bounds.ts';
import { deleteNode, reportNode } from './node-store.ts';

type ReportedNode = { id: string; version: string; roles: readonly string[] };

/** Reports this node to the other nodes every 10 s, until `close`. */
export class NodeReports {
  readonly #runtime: Runtime;
  readonly #node: ReportedNode;
  readonly #readiness: Readiness;
  readonly #closing = new AbortController();
  readonly #reporting: Promise<void>;

  constructor(runtime: Runtime, node: ReportedNode, readiness: Readiness) {
    this.#runtime = runtime;
    this.#node = node;
    this.#readiness = readiness;
    this.#reporting = this.#reportUntilClosed();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#reporting;
    await deleteNode(this.#runtime.db, this.#node.id).catch(() => undefined);
  }

  async #reportUntilClosed(): Promise<void> {
    const { db, clock, log } = this.#runtime;
    const { signal } = this.#closing;
    const startedAt = new Date(clock.now());
    while (!signal.aborted) {
      try {
        const { ready, reasons } = await this.#readiness.check();
        await reportNode(db, { ...this.#node, host: os.hostname(), ready, reasons, startedAt });
      } catch (err) {
        log.debug({ err }, 'could not report the node');
      }
      await clock.sleep(BOUNDS.reportNodeEveryMs, signal);
    }
  }
}
