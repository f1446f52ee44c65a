import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { ApiError, BodyTimeoutError } from '../api-error.ts';

/** Largest JSON body, in bytes. */
const MAX_JSON_BYTES = 64 * 1024;

// How much of a refused body is read and dropped, so that a client that is still sending gets to read the answer.
const DRAIN_MAX_BYTES = 64 * 1024 * 1024;
const DRAIN_MAX_MS = 2_000;
const ESCAPED_NUL = /(?<!\\)(?:\\\\)*\\u0000/;
const ESCAPED_SURROGATE = /\\ud[89a-f]/i;
const TIMEOUT_MESSAGE = 'The body did not arrive in time; send the request again.';

/**
 * The bytes of a JSON body.
 * @throws ApiError  400 or 413
 * @throws BodyTimeoutError  if it is not complete after `timeoutMs`
 */
export async function readBody(
  body: Readable,
  { contentLength, timeoutMs }: { contentLength: number | null; timeoutMs: number },
): Promise<Buffer> {
  if (contentLength !== null && contentLength > MAX_JSON_BYTES) throw tooLarge();
  return await readBytes(body, timeoutMs);
}

/**
 * The value of a JSON body; undefined for an empty one.
 * @param keepsBodyText  the handler stores the text, where U+0000 and lone surrogates are escapes
 * @param exactField     the field whose text the handler stores so
 * @throws ApiError  400
 */
export function parseJson(
  bytes: Buffer,
  { keepsBodyText = false, exactField }: { keepsBodyText?: boolean; exactField?: string } = {},
): unknown {
  const text = decodeUtf8(bytes);
  if (text === '') return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new ApiError('invalid_request', 'The body is not valid JSON.', { cause });
  }
  // PostgreSQL's text cannot store U+0000. Refused here for all fields.
  if (!keepsBodyText && ESCAPED_NUL.test(text)) throw containsNul(value);
  // UTF-8 cannot hold half of a pair: it would be stored as another character.
  if (!keepsBodyText && ESCAPED_SURROGATE.test(text)) refuseSurrogates(value, exactField);
  return value;
}

function containsNul(value: unknown): ApiError {
  const fields = value !== null && typeof value === 'object' ? Object.entries(value) : [];
  const [name] = fields.find((field) => ESCAPED_NUL.test(JSON.stringify(field))) ?? [];
  return new ApiError('invalid_request', `${name ?? 'The body'} contains the character U+0000; leave it out.`, {
    ...(name !== undefined && { param: name }),
  });
}

/** @throws ApiError  400 for a lone surrogate in a name or value */
function refuseSurrogates(value: unknown, exactField: string | undefined): void {
  const fields = value !== null && typeof value === 'object' ? Object.entries(value) : [];
  const [name] = fields.find(([key, each]) => key !== exactField && !isWellFormed([key, each])) ?? [];
  if (name === undefined && (fields.length > 0 || isWellFormed(value))) return;
  const param = name?.toWellFormed();
  const message = `${param ?? 'The body'} contains half of a surrogate pair (\\ud800 to \\udfff); send whole characters.`;
  throw new ApiError('invalid_request', message, param === undefined ? {} : { param });
}

function isWellFormed(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed();
  if (value === null || typeof value !== 'object') return true;
  return Object.entries(value).every(([key, each]) => key.isWellFormed() && isWellFormed(each));
}

function readBytes(request: Readable, timeoutMs: number): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  const timer = setTimeout(() => reject(new BodyTimeoutError(TIMEOUT_MESSAGE)), timeoutMs);
  const onData = (chunk: Buffer) => {
    chunks.push(chunk);
    sizeBytes += chunk.length;
    if (sizeBytes > MAX_JSON_BYTES) reject(tooLarge());
  };
  const onEnd = () => {
    // `close` follows each end: the error would be made for nothing, which takes longer than reading a small body.
    request.off('close', onClose);
    resolve(Buffer.concat(chunks));
  };
  const onClose = () => reject(new ApiError('invalid_request', 'The body ended before it was complete.'));
  request.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onClose);
  return promise.finally(() => {
    clearTimeout(timer);
    request.off('data', onData).off('end', onEnd).off('close', onClose);
  });
}

function decodeUtf8(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new ApiError('invalid_request', 'The body is not valid UTF-8.', { cause });
  }
}

function tooLarge(): ApiError {
  return new ApiError('too_large', `The body is over ${MAX_JSON_BYTES} bytes (64 KiB); send less.`);
}

/** Whether the body is not yet received completely. */
export function isUnread(request: IncomingMessage): boolean {
  const isAnnounced =
    request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length']) > 0;
  return isAnnounced && request.complete === false;
}

/**
 * The answer to a request whose body is not read to its end. The answer is sent immediately, and the connection is
 * closed a little later: closing it while the client is still sending would reset it, and the client would lose the
 * answer.
 */
export function answerThenDrain(answer: string | Buffer, request: IncomingMessage): Readable {
  async function* chunks() {
    yield Buffer.from(answer as string);
    await drain(request);
  }
  return Readable.from(chunks(), { objectMode: false });
}

function drain(request: IncomingMessage): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let sizeBytes = 0;
  const timer = setTimeout(resolve, DRAIN_MAX_MS);
  const done = () => resolve();
  const onData = (chunk: Buffer) => {
    sizeBytes += chunk.length;
    if (sizeBytes > DRAIN_MAX_BYTES) resolve();
  };
  request.unpipe();
  request.on('data', onData).on('end', done).on('close', done).on('error', done).resume();
  return promise.finally(() => {
    clearTimeout(timer);
    request.off('data', onData);
  });
}
