import type { ErrorBody } from '../sdk/src/wire.ts';
import type { ServerSentEvent } from './event-stream.ts';
import { openEventReader } from './event-stream.ts';

export type Who = 'key' | 'admin';

/** An error answer of the API; status 0 when there was no answer. */
export class ApiProblem extends Error {
  readonly status: number;
  readonly retryAfterSeconds: number | null;

  constructor(status: number, message: string, retryAfterSeconds: number | null = null) {
    super(message);
    this.status = status;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

const SLOTS = { key: 'verbatim.key', admin: 'verbatim.admin' };

/** The secrets of the signed-in user. The browser deletes them when the tab is closed. */
export const session = {
  get: (who: Who) => sessionStorage.getItem(SLOTS[who]),
  set: (who: Who, secret: string) => sessionStorage.setItem(SLOTS[who], secret),
  clear: (who: Who) => sessionStorage.removeItem(SLOTS[who]),
};

/** The JSON that a GET answers. @throws ApiProblem */
export async function get<Body>(path: string, secret?: string): Promise<Body> {
  return JSON.parse(await getText(path, secret)) as Body;
}

/** The text that a GET answers, in which metadata and payloads keep their digits. @throws ApiProblem */
export async function getText(path: string, secret?: string): Promise<string> {
  return await (await request('GET', path, undefined, secret)).text();
}

/** The JSON that a request answers; undefined for 204. @throws ApiProblem */
export async function send<Body>(method: 'POST' | 'PATCH' | 'DELETE', path: string, body?: object): Promise<Body> {
  const text = await (await request(method, path, body)).text();
  return (text === '' ? undefined : JSON.parse(text)) as Body;
}

export async function getFile(path: string): Promise<Blob> {
  return await (await request('GET', path)).blob();
}

/** The events of a stream until it ends. @throws ApiProblem */
export async function* follow(path: string, signal: AbortSignal): AsyncGenerator<ServerSentEvent> {
  const answer = await request('GET', path, undefined, undefined, signal);
  const read = openEventReader();
  const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    yield* read(value);
  }
}

/** Posts a form. XMLHttpRequest, because fetch does not report upload progress. @throws ApiProblem */
export function upload<Body>(path: string, form: FormData, onProgress: (part: number) => void, signal: AbortSignal) {
  return new Promise<Body>((resolve, reject) => {
    const call = new XMLHttpRequest();
    call.open('POST', path);
    for (const [name, value] of Object.entries(credentials(path))) call.setRequestHeader(name, value);
    call.upload.onprogress = ({ loaded, total }) => onProgress(total > 0 ? loaded / total : 0);
    call.onload = () =>
      call.status < 300 ? resolve(JSON.parse(call.responseText)) : reject(problemOf(call.status, call.responseText));
    call.onerror = () => reject(unreachable());
    call.onabort = () => reject(new ApiProblem(0, 'The upload was stopped; nothing was kept.'));
    signal.addEventListener('abort', () => call.abort());
    call.send(form);
  });
}

async function request(method: string, path: string, body?: object, secret?: string, signal?: AbortSignal) {
  const headers = { ...credentials(path, secret), ...(body && { 'content-type': 'application/json' }) };
  const answer = await fetch(path, {
    method,
    headers,
    cache: 'no-store',
    credentials: 'omit',
    ...(body && { body: JSON.stringify(body) }),
    ...(signal && { signal }),
  }).catch(() => {
    throw unreachable();
  });
  if (!answer.ok) throw problemOf(answer.status, await answer.text());
  return answer;
}

function credentials(path: string, secret?: string): Record<string, string> {
  const who: Who = path.startsWith('/admin/') ? 'admin' : 'key';
  const shown = secret ?? session.get(who) ?? '';
  return who === 'admin' ? { authorization: `Bearer ${shown}` } : { 'x-api-key': shown };
}

function problemOf(status: number, text: string): ApiProblem {
  try {
    const { error, retry_after } = JSON.parse(text) as ErrorBody;
    return new ApiProblem(status, error.message, retry_after ?? null);
  } catch {
    return new ApiProblem(status, `The service answered ${status} without saying why.`);
  }
}

function unreachable(): ApiProblem {
  return new ApiProblem(0, 'The service cannot be reached. Check that it runs, then try again.');
}
