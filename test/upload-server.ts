import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { makeKey } from '../src/accounts/keys/keys.ts';
import { openIdempotencyKeys } from '../src/http/idempotency/idempotency.ts';
import type { Caller } from '../src/http/route.ts';
import { buildServer, closeServer } from '../src/http/server/server.ts';
import { openLog } from '../src/platform/log.ts';
import { openSecretBox } from '../src/webhooks/secrets/secrets.ts';
import { callerOf } from './caller.ts';
import { openJobFixture } from './job-fixture.ts';

const BOUNDARY = 'xx';
const CONTENT_TYPE = `multipart/form-data; boundary=${BOUNDARY}`;

/** A multipart body up to the bytes of its file. */
export const FILE_HEAD = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\n`;
/** The rest of the body after the bytes of its file, for an asynchronous job. */
export const ASYNC_END = `\r\n--${BOUNDARY}\r\nContent-Disposition: form-data; name="async"\r\n\r\n1\r\n--${BOUNDARY}--\r\n`;

export type UploadAnswer = {
  status: number | undefined;
  headers: http.IncomingHttpHeaders;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  json: any;
};

type AccountWish = { plan?: 'lite' | 'pro'; credits?: number | null };

/**
 * The transcription endpoints behind the real server, on a socket, with accounts, keys and Idempotency-Keys.
 * @param env  settings that differ from the defaults
 */
export async function openUploadServer(env: Record<string, string> = {}) {
  const fixture = await openJobFixture(env);
  const log = openLog('silent');
  const callers = new Map<string, Caller>();
  const idempotency = openIdempotencyKeys({ db: fixture.db, box: openSecretBox(Buffer.alloc(32)), log });
  const app = buildServer({
    routes: fixture.routes,
    auth: { adminToken: 'x'.repeat(16), findCaller: async (hash) => callers.get(hash.toString('hex')) ?? null },
    limits: { admit: async () => null },
    ...{ log, idempotency },
    metrics: { requestEnded: () => undefined, rateRefused: () => undefined },
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  return {
    ...{ fixture, port },
    /** An account and a key of it. */
    async account(wish: AccountWish = {}) {
      const account = await fixture.account(wish);
      const { key, hash } = makeKey();
      callers.set(hash.toString('hex'), callerOf(account));
      return { ...account, key };
    },
    /** A request whose body the test writes; what breaks its connection is no error of the test. */
    send(key: string, headers: Record<string, string> = {}, path = '/v1/transcribe') {
      const options = { host: '127.0.0.1', port, method: 'POST', path, agent: false };
      const request = http.request({
        ...options,
        headers: { 'x-api-key': key, 'content-type': CONTENT_TYPE, ...headers },
      });
      return request.on('error', () => undefined);
    },
    async [Symbol.asyncDispose]() {
      idempotency.close();
      await closeServer(app, 0);
      await fixture[Symbol.asyncDispose]();
    },
  };
}

export async function answerOf(request: http.ClientRequest): Promise<UploadAnswer> {
  const [response] = (await once(request, 'response')) as [http.IncomingMessage];
  const text = Buffer.concat(await Array.fromAsync(response)).toString();
  return { status: response.statusCode, headers: response.headers, json: JSON.parse(text) };
}

/** Whether the server has told the request to go on (100 Continue). */
export function watchContinue(request: http.ClientRequest): () => boolean {
  let isContinued = false;
  request.on('continue', () => {
    isContinued = true;
  });
  return () => isContinued;
}
