import { appendFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { Random } from '../fixtures/random.ts';
import type { Cluster } from './cluster.ts';

/**
 * What is known of a call: `ok`, it was answered; `fail`, it had no effect; `info`, nobody knows what it did: without
 * an answer, or answered 5xx.
 */
export type Certainty = 'ok' | 'fail' | 'info';

/** One call of a client, in µs of this process's monotonic clock. */
export type Call = {
  promise: string;
  node: number;
  call: number;
  return: number;
  type: Certainty;
  /** 0 without an answer. */
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: answers of many shapes
  json: any;
  headers: Headers;
};

export type Request = {
  method?: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  path: string;
  headers: Record<string, string>;
  /** Sent as JSON, but for bytes. */
  body?: unknown;
  /** Any, where it is not given. */
  node?: number;
};

export type Account = { id: string; headers: Record<string, string> };

const TIMEOUT_MS = 10_000;
const PAUSE_MS = 200;
// A client that waits for what never happens ends with the run.
const MAX_RUN_US = 1_200_000_000;

export function nowUs(): number {
  return Math.round(performance.now() * 1000);
}

/** The time of a clock on the wall, as a date has it, in µs of this process's monotonic clock. */
export function usOf(date: string): number {
  return (Date.parse(date) - performance.timeOrigin) * 1000;
}

/** Sends the calls of all clients, and records them. */
export class Calls {
  readonly recorded: Call[] = [];
  readonly #cluster: Cluster;
  readonly #file: string | null;
  readonly random: Random;
  readonly #deadlineUs = nowUs() + MAX_RUN_US;
  #tags = 0;
  #isOver = false;

  /** @param file  where each call is written as a line of JSON, as it is sent and as it ends; null for none */
  constructor(cluster: Cluster, random: Random, file: string | null) {
    this.#cluster = cluster;
    this.random = random;
    this.#file = file;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** From now on the clients begin nothing new. */
  end(): void {
    this.#isOver = true;
  }

  /** A word that no other call uses. */
  tag(kind: string): string {
    return `${kind}${this.#tags++}`;
  }

  note(promise: string, line: object): void {
    if (this.#file) appendFileSync(this.#file, `${JSON.stringify({ promise, at: nowUs(), ...line })}\n`);
  }

  async send(promise: string, request: Request): Promise<Call> {
    const node = request.node ?? this.random.integer(this.#cluster.nodes.length);
    const { method = 'GET', path, body, headers } = request;
    const call = nowUs();
    if (call > this.#deadlineUs) throw new Error(`${promise}: ${method} ${path} is still repeated at the run's end`);
    this.note(promise, { type: 'invoke', node, method, path, ...(!Buffer.isBuffer(body) && { body }) });
    const answer = await this.#answerTo(`${this.#cluster.nodes[node]!.baseUrl}${path}`, {
      method,
      headers: {
        ...(body !== undefined && !Buffer.isBuffer(body) && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: Buffer.isBuffer(body) ? new Uint8Array(body) : JSON.stringify(body) }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const ended = { promise, node, call, return: nowUs(), ...answer };
    this.record(ended);
    return ended;
  }

  async #answerTo(url: string, init: RequestInit): Promise<Pick<Call, 'type' | 'status' | 'json' | 'headers'>> {
    try {
      const answer = await fetch(url, init);
      const text = await answer.text();
      const json = text.startsWith('{') ? JSON.parse(text) : null;
      return { type: answer.status < 500 ? 'ok' : 'info', status: answer.status, json, headers: answer.headers };
    } catch (error) {
      const { code } = ((error as Error).cause ?? {}) as { code?: string };
      return { type: code === 'ECONNREFUSED' ? 'fail' : 'info', status: 0, json: null, headers: new Headers() };
    }
  }

  /** Records what was not one request with one answer. */
  record(call: Call): void {
    this.recorded.push(call);
    this.note(call.promise, { ...call, headers: undefined });
  }

  /** Repeats a call, which must be one that may be repeated, until it has one of these answers. */
  async sure(promise: string, statuses: number[], request: Request): Promise<Call> {
    for (;;) {
      const answer = await this.send(promise, request);
      if (statuses.includes(answer.status)) return answer;
      if (answer.type === 'ok' && answer.status !== 429 && answer.status !== 409) {
        throw new Error(`${request.path} answered ${answer.status}: ${JSON.stringify(answer.json)}`);
      }
      await this.pause(PAUSE_MS);
    }
  }

  /** All rows of a list. */
  async list(promise: string, path: string, headers: Record<string, string>, limit = 100): Promise<Call['json'][]> {
    const rows: Call['json'][] = [];
    for (let cursor = ''; ; ) {
      const query = `${path.includes('?') ? '&' : '?'}limit=${limit}${cursor}`;
      const { json } = await this.sure(promise, [200], { path: path + query, headers });
      rows.push(...json.data);
      if (!json.next_cursor) return rows;
      cursor = `&cursor=${encodeURIComponent(json.next_cursor)}`;
    }
  }

  /** A new account on pro with a key. */
  async account(promise: string, credits?: number): Promise<Account> {
    const post = (path: string, body: object) => {
      const headers = { ...this.#cluster.admin, 'idempotency-key': this.tag('account-') };
      return this.sure(promise, [201], { method: 'POST', path, headers, body });
    };
    const { json } = await post('/admin/v1/accounts', { name: promise, plan: 'pro', credits });
    const key = await post(`/admin/v1/accounts/${json.id}/keys`, {});
    return { id: json.id, headers: { 'x-api-key': key.json.key } };
  }

  baseUrl(node: number): string {
    return this.#cluster.nodes[node]!.baseUrl;
  }

  get admin(): Record<string, string> {
    return this.#cluster.admin;
  }

  /** Waits, a third more or less. */
  async pause(ms: number): Promise<void> {
    await delay(ms * (0.67 + 0.66 * this.random.next()));
  }
}
