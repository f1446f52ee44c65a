import type { IncomingMessage } from 'node:http';
import http from 'node:http';
import https from 'node:https';

/** What came of one request: the target's answer, or why there is none. */
export type Outcome =
  | { kind: 'answered'; status: number; headers: Record<string, string | string[]>; body: string }
  | { kind: 'failed'; reason: 'refused' | 'timeout' | 'dns' | 'tls' | 'reset' | 'simulated'; message: string };

export type Post = (
  url: URL,
  request: { headers: Record<string, string>; body: string },
  signal: AbortSignal,
) => Promise<Outcome>;

/** The deadline of the service's deliveries. */
const DEADLINE_MS = 5_000;
const SHOWN_BYTES = 4 * 1024;

/** A 2xx is a success, as for the service. */
export function isSuccess(outcome: Outcome): boolean {
  return outcome.kind === 'answered' && outcome.status >= 200 && outcome.status < 300;
}

/** Sends one request: within 5 s, without following redirects. Keeps the first 4 KiB of the answer's body. */
export const post: Post = async (url, { headers, body }, signal) => {
  const cut = AbortSignal.any([signal, AbortSignal.timeout(DEADLINE_MS)]);
  const { request } = url.protocol === 'https:' ? https : http;
  try {
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      // A connection of its own for each, so that a restarted server is found at once.
      const sent = request(url, { method: 'POST', headers, signal: cut, agent: false });
      sent.on('response', resolve).on('error', reject).end(body);
    });
    return {
      kind: 'answered',
      status: answer.statusCode!,
      headers: answer.headers as Record<string, string | string[]>,
      body: await readStart(answer),
    };
  } catch (error) {
    signal.throwIfAborted();
    return explain(error as NodeJS.ErrnoException, url);
  }
};

/** The body counts no longer: it may be cut, or never end. */
async function readStart(answer: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let sizeBytes = 0;
  try {
    for await (const part of answer) {
      parts.push(part);
      sizeBytes += part.length;
      if (sizeBytes >= SHOWN_BYTES) break;
    }
  } catch {
    // What came until then is shown.
  }
  return Buffer.concat(parts).subarray(0, SHOWN_BYTES).toString('utf8');
}

function explain({ code, message, name }: NodeJS.ErrnoException, url: URL): Outcome {
  if (code === 'ECONNREFUSED') {
    return { kind: 'failed', reason: 'refused', message: `nothing listens on ${url.host}: start your server` };
  }
  if (name === 'AbortError' || name === 'TimeoutError') {
    return { kind: 'failed', reason: 'timeout', message: `no answer within ${DEADLINE_MS / 1000} s` };
  }
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
    return { kind: 'failed', reason: 'dns', message: `the name ${url.hostname} does not resolve` };
  }
  if (url.protocol === 'https:' && code !== 'ECONNRESET') return { kind: 'failed', reason: 'tls', message };
  return { kind: 'failed', reason: 'reset', message: `the connection ended before an answer (${code ?? message})` };
}
