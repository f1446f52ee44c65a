import { createHash, type Hash } from 'node:crypto';
import { PassThrough, type Writable } from 'node:stream';
import { Busboy, type BusboyFileStream } from '@fastify/busboy';
import { ApiError, BodyTimeoutError } from '../../http/api-error.ts';
import type { IncomingUpload } from '../../http/route.ts';
import { unknownField } from '../../http/server/validation-errors.ts';
import type { Clock } from '../../platform/clock.ts';
import { FileStart } from '../file-start.ts';
import { cleanFilename } from '../filename.ts';
import { diskFull, isDiskFull, whileDiskIsFree } from '../storage/free-disk.ts';
import { type AudioStorage, type ReceivedAudio, UploadTooLargeError } from '../storage/storage.ts';
import { LIST_BYTES, listValues } from './list-values.ts';
import { isTooSlow } from './upload-pace.ts';

/** Names the file in `param` of an error, whatever the name of its part. */
export const FILE_FIELD = 'file';

export type UploadLimits = {
  maxFileBytes: number;
  /** The allowed fields with the largest size of each in UTF-8 bytes. */
  fieldBytes: Readonly<Record<string, number>>;
  /** Fields that may be repeated, or hold a JSON array of strings. */
  listFields?: readonly string[];
  /** The field that may be sent in place of the file; absent when the file is required. */
  insteadOfFile?: string | undefined;
  /** The upload is refused when less than 16 KiB arrive in this time. */
  maxStallMs: number;
  /** The upload is refused when the disk has less free space. */
  minFreeDiskBytes: number;
};

export type Upload = {
  fields: Map<string, string>;
  /** The values of the received `listFields`, in order. */
  lists: Map<string, string[]>;
  /**
   * SHA-256 in hex of the fields and the file; it does not depend on the boundary and the order of the parts.
   * Null unless wanted.
   */
  fingerprint: string | null;
  /** Null when the field `insteadOfFile` came in its place. */
  file: StoredFile | null;
};

/** As `ReceivedAudio`. */
export type StoredFile = ReceivedAudio & { filename: string | null; start: FileStart };

export type Arrival = IncomingUpload & {
  storage: AudioStorage;
  limits: UploadLimits;
  clock: Clock;
  wantsFingerprint: boolean;
};

// Boundaries, part headers and fields, which take 70 KiB at most.
const ENVELOPE_BYTES = 128 * 1024;
// 0.5 KiB/s at the default of 30 s: slower than usable connections, faster than a slow-upload attack.
const STALL_BYTES = 16 * 1024;
// 100 keywords, and every other field.
const MAX_PARTS = 160;
const MAX_PART_HEADERS = 32;
const MAX_PART_HEADER_BYTES = 8 * 1024;

/**
 * Streams a multipart body: its file into the storage, its fields into memory. Memory does not grow with the file. When
 * it rejects, nothing of the upload stays on disk; the caller handles the unread rest of the stream.
 * @throws ApiError  that says what is wrong with the upload
 * @throws BodyTimeoutError  when the upload is too slow
 */
export async function acceptUpload(arrival: Arrival): Promise<Upload> {
  const { contentType, contentLength, limits, wantsFingerprint } = arrival;
  const maxBodyBytes = limits.maxFileBytes + ENVELOPE_BYTES;
  if (contentLength !== null && contentLength > maxBodyBytes) throw tooLarge(limits.maxFileBytes);
  const parser = openParser(contentType);
  const failure = new AbortController();
  const fail = (cause: unknown) => failure.abort(cause);
  const parts: Promise<void>[] = [];
  const received: Received = {
    fields: new Map(),
    lists: new Map(),
    hasFile: false,
    file: null,
    hash: wantsFingerprint ? createHash('sha256') : null,
  };

  parser.on('file', (name, part, filename, _encoding, type) => {
    const isField = name !== undefined && Object.hasOwn(limits.fieldBytes, name) && !isMedia(type);
    // `destroy` below emits the error on the part as well.
    part.on('error', () => undefined);
    failure.signal.addEventListener('abort', () => part.destroy(failure.signal.reason));
    if (failure.signal.aborted) return void part.destroy();
    const incoming = { name, part, filename, isFile: !isField && isFile(filename, type) };
    // Synchronously, so that a mistake in an early part is reported before one in a later part.
    const mistake = mistakeOf(incoming, received, limits);
    if (mistake) return fail(mistake);
    parts.push(receivePart(incoming, received, arrival).catch(fail));
  });
  parser.on('partsLimit', () => fail(new ApiError('invalid_request', `Send at most ${MAX_PARTS} form fields.`)));

  return await receiveAll(arrival, { parser, received, parts, failure, maxBodyBytes });
}

/**
 * Receives a body that is the file itself; its fields stand in the query. As `acceptUpload` otherwise.
 * @throws ApiError  that says what is wrong with the upload
 * @throws BodyTimeoutError  when the upload is too slow
 */
export async function acceptRawAudio(arrival: Arrival): Promise<Upload> {
  const { contentLength, rawQuery, limits, wantsFingerprint } = arrival;
  const maxBodyBytes = limits.maxFileBytes;
  if (contentLength !== null && contentLength > maxBodyBytes) throw tooLarge(maxBodyBytes);
  const received = { ...readQueryFields(rawQuery ?? '', limits), hash: wantsFingerprint ? createHash('sha256') : null };
  const failure = new AbortController();
  const parser = new PassThrough();
  parser.on('error', () => undefined);
  failure.signal.addEventListener('abort', () => parser.destroy(failure.signal.reason as Error));
  const parts = [receiveFile(parser, undefined, received, arrival).catch((cause) => failure.abort(cause))];
  return await receiveAll(arrival, { parser, received, parts, failure, maxBodyBytes });
}

function readQueryFields(query: string, limits: UploadLimits): Received {
  const received: Received = { fields: new Map(), lists: new Map(), hasFile: false, file: null, hash: null };
  for (const [name, value] of new URLSearchParams(query)) {
    const mistake = mistakeOfField(name, received, limits);
    if (mistake) throw mistake;
    const isList = isListField(name, limits);
    requireSize(name, isList ? listValues(value) : [value], limits);
    received.fields.set(name, value);
    if (isList) listOf(received, name).push(value);
  }
  return received;
}

type Receiving = {
  parser: Writable;
  received: Received;
  /** Never rejected: a part that fails aborts `failure`. */
  parts: Promise<void>[];
  failure: AbortController;
  maxBodyBytes: number;
};

async function receiveAll(
  arrival: Arrival,
  { parser, received, parts, failure, maxBodyBytes }: Receiving,
): Promise<Upload> {
  try {
    await parseBody(arrival, parser, failure, maxBodyBytes);
    await Promise.all(parts);
    failure.signal.throwIfAborted();
    return completeUpload(received, arrival.limits);
  } catch (cause) {
    failure.abort(cause);
    await Promise.all(parts);
    if (received.file) await arrival.storage.remove(received.file.key);
    throw asApiError(cause, arrival.limits);
  }
}

/** The parts so far; `hasFile` from the file's first byte on, `file` once it is stored. */
type Received = Pick<Upload, 'fields' | 'lists' | 'file'> & { hasFile: boolean; hash: Hash | null };

function openParser(contentType: string) {
  if (!/^multipart\/form-data\s*(;|$)/i.test(contentType)) {
    throw new ApiError('unsupported_media_type', 'Send the audio as multipart/form-data.');
  }
  try {
    return new Busboy({
      headers: { 'content-type': contentType },
      // Every part becomes a stream of bytes: busboy would decode fields and hide bytes that are not UTF-8.
      isPartAFile: () => true,
      limits: { parts: MAX_PARTS, headerPairs: MAX_PART_HEADERS, headerSize: MAX_PART_HEADER_BYTES },
    });
  } catch (cause) {
    throw new ApiError('invalid_request', 'The Content-Type names no multipart boundary.', { cause });
  }
}

/** Pipes the body into the parser. Resolves at the end of the body; rejects with the first failure. */
async function parseBody(
  { open, limits, clock }: Arrival,
  parser: Writable,
  failure: AbortController,
  maxBodyBytes: number,
): Promise<void> {
  const stream = open();
  const done = Promise.withResolvers<void>();
  const fail = (cause: unknown) => failure.abort(cause);
  let bodyBytes = 0;
  let goalBytes = STALL_BYTES;
  const isHeldBack = () => parser.writableNeedDrain || stream.readableEnded;
  const stall = setTimeout(
    () => (isHeldBack() ? void stall.refresh() : fail(brokenOff('The upload stalled.'))),
    limits.maxStallMs,
  );
  const over = new AbortController();
  const slowness = isTooSlow({ receivedBytes: () => bodyBytes, isHeldBack }, clock, over.signal);
  void slowness.then((isSlow) => isSlow && fail(tooSlow()));
  const onData = (chunk: Uint8Array) => {
    bodyBytes += chunk.length;
    if (bodyBytes >= goalBytes) {
      goalBytes = bodyBytes + STALL_BYTES;
      stall.refresh();
    }
    if (bodyBytes > maxBodyBytes) fail(tooLarge(limits.maxFileBytes));
  };
  const onClose = () => stream.readableEnded || fail(brokenOff('The upload broke off.'));
  failure.signal.addEventListener('abort', () => done.reject(failure.signal.reason));
  if (failure.signal.aborted || stream.destroyed) onClose();
  parser.on('error', (cause: unknown) => fail(broken(cause)));
  parser.once('finish', () => done.resolve());
  stream.on('data', onData).on('error', onClose).on('close', onClose);
  stream.pipe(parser);
  try {
    await done.promise;
  } finally {
    clearTimeout(stall);
    // With a reason: without one, an error is made for each upload.
    over.abort(null);
    stream.unpipe(parser);
    stream.off('data', onData).off('close', onClose);
  }
}

type Part = { name: string | undefined; part: BusboyFileStream; filename: string | undefined; isFile: boolean };

/** A part with the name of a field is one also when it has a file name: forms send JSON as a part of its own so. */
function isFile(filename: string | undefined, type: string): boolean {
  return filename !== undefined || type.startsWith('application/octet-stream') || isMedia(type);
}

function isMedia(type: string): boolean {
  return /^(audio|video)\//.test(type);
}

/** The error in a part's headers; null when there is none. */
function mistakeOf({ name, isFile }: Part, received: Received, limits: UploadLimits): ApiError | null {
  const refusal = (message: string, param?: string) => new ApiError('invalid_request', message, param ? { param } : {});
  if (isFile) return received.hasFile ? refusal('Send exactly one file.', name) : null;
  if (!name) return refusal('Every part of the form needs a name.');
  return mistakeOfField(name, received, limits);
}

function mistakeOfField(name: string, { fields }: Received, limits: UploadLimits): ApiError | null {
  const isRepeated = fields.has(name) && !isListField(name, limits);
  if (isRepeated) return new ApiError('invalid_request', `Send ${name} once.`, { param: name });
  if (Object.hasOwn(limits.fieldBytes, name)) return null;
  if (name !== FILE_FIELD) return unknownField(name, Object.keys(limits.fieldBytes));
  const message = 'file holds text. Send it as a file: with curl, -F file=@speech.mp3.';
  return new ApiError('invalid_request', message, { param: FILE_FIELD });
}

/** Records the part before the first await, because the check of the next part needs it. */
async function receivePart({ name, part, filename, isFile }: Part, received: Received, arrival: Arrival) {
  const { limits } = arrival;
  if (isFile) return await receiveFile(part as AsyncIterable<Uint8Array>, filename, received, arrival);
  received.fields.set(name!, '');
  const values = isListField(name!, limits) ? listOf(received, name!) : null;
  const at = values ? values.push('') - 1 : 0;
  const maxBytes = limits.fieldBytes[name!]!;
  const value = decode(name!, await readField(name!, part, values ? Math.max(maxBytes, LIST_BYTES) : maxBytes));
  if (values) requireSize(name!, listValues(value), limits);
  received.fields.set(name!, value);
  if (values) values[at] = value;
}

async function receiveFile(
  part: AsyncIterable<Uint8Array>,
  filename: string | undefined,
  received: Received,
  { storage, limits }: Arrival,
): Promise<void> {
  received.hasFile = true;
  const start = new FileStart();
  const observers = received.hash ? [start, received.hash] : [start];
  const bytes = whileDiskIsFree(observed(part, observers), storage, limits.minFreeDiskBytes);
  const stored = await storage.receive(bytes, { maxBytes: limits.maxFileBytes });
  received.file = { ...stored, filename: cleanFilename(filename), start };
}

function isListField(name: string, { listFields }: UploadLimits): boolean {
  return listFields?.includes(name) ?? false;
}

function requireSize(name: string, values: readonly string[], { fieldBytes }: UploadLimits): void {
  const maxBytes = fieldBytes[name]!;
  if (values.some((value) => Buffer.byteLength(value) > maxBytes)) throw fieldTooLarge(name, maxBytes);
}

function listOf({ lists }: Received, name: string): string[] {
  const values = lists.get(name) ?? [];
  lists.set(name, values);
  return values;
}

async function* observed(
  part: AsyncIterable<Uint8Array>,
  observers: { update(chunk: Uint8Array): void }[],
): AsyncIterable<Uint8Array> {
  for await (const chunk of part) {
    for (const observer of observers) observer.update(chunk);
    yield chunk;
  }
}

async function readField(name: string, part: BusboyFileStream, maxBytes: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of part as AsyncIterable<Uint8Array>) {
    bytes += chunk.length;
    if (bytes > maxBytes) {
      throw fieldTooLarge(name, maxBytes);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function decode(name: string, bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new ApiError('invalid_request', `${name} is not valid UTF-8.`, { param: name, cause });
  }
}

function completeUpload({ fields, file, hash, ...received }: Received, { insteadOfFile }: UploadLimits): Upload {
  const lists = new Map([...received.lists].map(([name, texts]) => [name, texts.flatMap(listValues)]));
  const comesOtherwise = insteadOfFile !== undefined && fields.has(insteadOfFile);
  if (!file && !comesOtherwise) {
    const otherwise = insteadOfFile === undefined ? '' : `, or its URL as ${insteadOfFile}`;
    const message = `Send the audio as a file part, such as file=@speech.mp3${otherwise}.`;
    throw new ApiError('invalid_request', message, { param: FILE_FIELD });
  }
  if (file && comesOtherwise) {
    throw new ApiError('invalid_request', `Send either a file or ${insteadOfFile}.`, { param: insteadOfFile });
  }
  if (file?.sizeBytes === 0) throw new ApiError('unprocessable_audio', 'The file is empty.', { param: FILE_FIELD });
  return { fields, lists, file, fingerprint: hash && fingerprintOf(fields, lists, file, hash) };
}

function fingerprintOf(fields: Upload['fields'], lists: Upload['lists'], file: Upload['file'], hash: Hash): string {
  const named = [...fields].map(([name, value]) => [name, lists.get(name) ?? value] as const);
  named.sort(([left], [right]) => (left < right ? -1 : 1));
  return createHash('sha256')
    .update(JSON.stringify([named, file?.filename, hash.digest('hex')]))
    .digest('hex');
}

/** The error for a field that is larger than its limit. */
export function fieldTooLarge(name: string, maxBytes: number): ApiError {
  return new ApiError('too_large', `${name} may have at most ${maxBytes} bytes.`, { param: name });
}

function asApiError(cause: unknown, limits: UploadLimits): unknown {
  if (cause instanceof ApiError || cause instanceof BodyTimeoutError) return cause;
  if (cause instanceof UploadTooLargeError) return tooLarge(limits.maxFileBytes);
  return isDiskFull(cause) ? diskFull(cause) : cause;
}

function tooLarge(maxBytes: number): ApiError {
  return new ApiError('too_large', `The file is larger than the limit of ${maxBytes} bytes.`, { param: FILE_FIELD });
}

function tooSlow(): BodyTimeoutError {
  return new BodyTimeoutError('The upload averaged less than 8 KiB/s; send it again over a faster connection.');
}

function brokenOff(message: string): ApiError {
  return new ApiError('invalid_request', `${message} Send it again.`);
}

function broken(cause: unknown): ApiError {
  return new ApiError('invalid_request', 'The multipart body is broken: send it whole, with its closing boundary.', {
    cause,
  });
}
