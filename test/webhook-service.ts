import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { shardOf } from '../src/rules/shard.ts';
import { emitEvent } from '../src/webhooks/events/emit.ts';
import type { EventType } from '../src/webhooks/events/event-types.ts';
import { openTestDatabase } from './database.ts';
import { testAuthority } from './receiver.ts';
import type { TestService } from './service.ts';
import { openService, temporaryFolder } from './service.ts';

type Json = Record<string, unknown>;
// biome-ignore lint/suspicious/noExplicitAny: what a test asserts is what it knows of an answer's shape.
export type Answer = { status: number; headers: Headers; text: string; json: any };
export type Call = (method: string, route: string, body?: unknown) => Promise<Answer>;

/** An account of a running service, and how it calls its API. */
export type Caller = {
  id: string;
  call: Call;
  /** An event as a job's end emits it. Returns its id. */
  emit(type?: EventType): Promise<string>;
  /** A webhook that is answered 201; with its secret. */
  webhook(url: string, more?: Json): Promise<{ id: string; secret: string; path: string }>;
};

/**
 * One database for any number of nodes that serve webhooks, without transcribers. Each node is the service as operators
 * run it, in processes of its own; receivers on these loopback ports may be posted to.
 */
export async function openWebhookService(ports: readonly number[], shared: Record<string, string> = {}) {
  const db = await openTestDatabase();
  const env = {
    DATABASE_URL: db.url,
    ADMIN_TOKEN: randomBytes(24).toString('base64url'),
    SECRETS_KEY: randomBytes(32).toString('base64'),
    RATE_LIMIT_DEFAULT: 'off',
    RATE_LIMIT_RESEND: 'off',
    WEBHOOK_ALLOWED_TARGETS: ports.map((port) => `127.0.0.1/32:${port}`).join(','),
    ...shared,
  };
  const nodes: TestService[] = [];

  /** @param roles  of the node; one with `api` answers calls */
  async function start(roles: string, more: Record<string, string> = {}): Promise<TestService> {
    const dataDir = temporaryFolder();
    // Where a node that made its token itself would keep it: the way to make accounts reads it there.
    writeFileSync(path.join(dataDir, 'admin-token'), env.ADMIN_TOKEN);
    const caFile = path.join(dataDir, 'receiver-ca.pem');
    writeFileSync(caFile, testAuthority.cert);
    const node = await openService({ ...env, NODE_EXTRA_CA_CERTS: caFile, ROLES: roles, ...more }, dataDir);
    nodes.push(node);
    return node;
  }

  async function caller(node: TestService, plan: 'lite' | 'pro' = 'pro'): Promise<Caller> {
    const { id, key } = await node.account({ plan });
    const call: Call = (method, route, body) => callService(node, key, method, route, body);
    return {
      id,
      call,
      emit: (type = 'transcription.completed') =>
        db.transaction((tx) => {
          const account = { id, shard: shardOf(id) };
          return emitEvent(tx, { account, type, jobId: null, data: { job: { id: 'job_x' } }, metadata: '{"n": 1.0}' });
        }),
      async webhook(url, more = {}) {
        const answer = await call('POST', '/v1/webhooks', { url, events: ['transcription.completed'], ...more });
        if (answer.status !== 201) throw new Error(`no webhook: ${answer.text}`);
        return { id: answer.json.id, secret: answer.json.secret, path: `/v1/webhooks/${answer.json.id}` };
      },
    };
  }

  return {
    ...{ db, start, caller },
    async [Symbol.asyncDispose]() {
      await Promise.all(nodes.map((node) => node[Symbol.asyncDispose]()));
      await db[Symbol.asyncDispose]();
    },
  };
}

async function callService(node: TestService, key: string, method: string, route: string, body?: unknown) {
  const isForm = body instanceof FormData;
  const answer = await fetch(node.baseUrl + route, {
    method,
    headers: { 'x-api-key': key, ...(body === undefined || isForm ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: typeof body === 'string' || isForm ? body : JSON.stringify(body) }),
  });
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, text, json: text.startsWith('{') ? JSON.parse(text) : null };
}
