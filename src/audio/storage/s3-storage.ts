import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ListMultipartUploadsCommandOutput, S3Client } from '@aws-sdk/client-s3';
import type { ByteRange } from '../../rules/byte-range.ts';
import { reasonOfS3 } from './s3-failure.ts';
import {
  assertKey,
  freeBytesAt,
  ID_NAME,
  isKey,
  openScratchFile,
  type SharedStorage,
  StorageAwayError,
  UploadTooLargeError,
} from './storage.ts';

export type S3Location = {
  bucket: string;
  /** Prefix of every object's name: empty, or ending with a slash. */
  prefix: string;
  /** URL of an S3-compatible server; null for AWS. */
  endpoint: string | null;
  /** Null for the region of the SDK's own configuration, or for any region with a custom endpoint. */
  region: string | null;
  /** Folder of this node for copies of objects while a decoder reads them. */
  downloadsDir: string;
};

type Sdk = typeof import('@aws-sdk/client-s3') & Pick<typeof import('@aws-sdk/lib-storage'), 'Upload'>;
/** `reader` has sockets of its own: slow readers of audio must not keep uploads and jobs waiting for a socket. */
type Store = S3Location & { sdk: Sdk; client: S3Client; reader: S3Client };

// Parts are held in memory until they are sent: two parts of 5 MiB, the minimum of S3, for each upload.
const PARTS_AT_ONCE = 2;
const MIN_PART_BYTES = 5 * 1024 * 1024;
const MAX_PARTS = 10_000;
// A million uploads. The limit ends the loop for a server that always reports a next page.
const MAX_UPLOAD_PAGES = 1000;
const CONNECT_TIMEOUT_MS = 3_000;
const IDLE_TIMEOUT_MS = 30_000;
const CHECK_TIMEOUT_MS = 2_000;
const NO_REGION = 'its region is not known: set AWS_REGION, or AWS_ENDPOINT_URL_S3 for a server other than AWS';
// The server chooses the text.
const MAX_ERROR_CHARS = 500;

/** Stores audio as objects of a bucket that all nodes share. The SDK finds the credentials in its usual places. */
export async function openS3Storage(location: S3Location): Promise<SharedStorage> {
  await mkdir(location.downloadsDir, { recursive: true, mode: 0o700 });
  await removeLeftDownloads(location.downloadsDir);
  const sdk = await loadSdk();
  const store = { ...location, sdk, client: openClient(sdk, location), reader: openClient(sdk, location) };
  return {
    receive: (bytes, { maxBytes }) => receive(store, bytes, maxBytes),
    localPath: (key) => download(store, key),
    read: (key, bytes) => read(store, key, bytes),
    isComplete: (key, sizeBytes) => isComplete(store, key, sizeBytes),
    copy: (key) => copy(store, key),
    remove: (key) => remove(store, key),
    listOlderThan: (ageMs) => listOlderThan(store, ageMs),
    freeBytes: () => freeBytesAt(location.downloadsDir),
    openScratch: () => openScratchFile(localFile(location)),
    whyAway: () => whyAway(store),
    readId: () => readId(store),
    writeId: (id) => writeId(store, id),
    // A bucket can be emptied or made anew, and its address lead to another server: only the id tells.
    readPlace: async () => null,
  };
}

/** Imported only when needed, so that a start without a bucket does not load it. */
async function loadSdk(): Promise<Sdk> {
  const [client, { Upload }] = await Promise.all([import('@aws-sdk/client-s3'), import('@aws-sdk/lib-storage')]);
  return { ...client, Upload };
}

function openClient({ S3Client }: Sdk, { endpoint, region }: S3Location): S3Client {
  return new S3Client({
    // Most servers other than AWS have no host name per bucket.
    ...(endpoint !== null && { endpoint, forcePathStyle: true, region: region ?? 'us-east-1' }),
    ...(region !== null && { region }),
    // Many of these servers do not support the newer checksums. The signature covers each part's SHA-256 in any case.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: {
      connectionTimeout: CONNECT_TIMEOUT_MS,
      requestTimeout: IDLE_TIMEOUT_MS,
      socketTimeout: IDLE_TIMEOUT_MS,
      throwOnRequestTimeout: true,
    },
  });
}

/** An object becomes visible when it is complete; the parts of a failed upload are aborted. */
async function receive(store: Store, bytes: AsyncIterable<Uint8Array>, maxBytes: number) {
  const key = randomUUID();
  const source = countBytes(bytes, maxBytes);
  const body = Readable.from(source.chunks, { highWaterMark: 1 });
  const upload = new store.sdk.Upload({
    client: store.client,
    params: { ...objectOf(store, key), Body: body, ContentType: 'application/octet-stream' },
    queueSize: PARTS_AT_ONCE,
    partSize: Math.max(MIN_PART_BYTES, Math.ceil(maxBytes / MAX_PARTS)),
  });
  try {
    await upload.done();
    return { key, sizeBytes: source.sizeBytes(), durable: Promise.resolve() };
  } catch (cause) {
    body.destroy();
    // The upload may have succeeded although its response was lost.
    await remove(store, key).catch(() => undefined);
    throw source.failure() ?? away(cause);
  }
}

/**
 * Yields the chunks, counts their bytes and records an error of their source, to tell it from an error of the bucket.
 */
function countBytes(bytes: AsyncIterable<Uint8Array>, maxBytes: number) {
  let sizeBytes = 0;
  let failure: unknown = null;
  async function* chunks() {
    try {
      for await (const chunk of bytes) {
        sizeBytes += chunk.length;
        if (sizeBytes > maxBytes) throw new UploadTooLargeError(maxBytes);
        yield chunk;
      }
    } catch (cause) {
      failure = cause;
      throw cause;
    }
  }
  return { chunks: chunks(), sizeBytes: () => sizeBytes, failure: () => failure };
}

/** The path of a new file, which is removed at a later start if this process leaves it behind. */
function localFile({ downloadsDir }: S3Location): string {
  return path.join(downloadsDir, `${process.pid}.${randomUUID()}`);
}

/** A copy that only this user can read, until it is disposed. For a deleted key there is no file at the path. */
async function download(store: Store, key: string) {
  const file = localFile(store);
  // A copy that is left behind is removed at the next start.
  const dispose = () => rm(file, { force: true }).catch(() => undefined);
  const object = objectOf(store, key);
  try {
    const { Body, ContentLength } = await store.client.send(new store.sdk.GetObjectCommand(object));
    // Only a body with a length is known to be whole.
    if (ContentLength === undefined) throw refused(Body, 'The answer has no Content-Length.');
    await pipeline(Body as Readable, createWriteStream(file, { flags: 'wx', mode: 0o600 }));
  } catch (cause) {
    await dispose();
    if ((cause as Error).name !== 'NoSuchKey') throw away(cause);
  }
  return { path: file, [Symbol.asyncDispose]: dispose };
}

async function read(store: Store, key: string, { first, last }: ByteRange): Promise<Readable | null> {
  const range = { ...objectOf(store, key), Range: `bytes=${first}-${last}` };
  const answer = await store.reader.send(new store.sdk.GetObjectCommand(range)).catch(nullWithoutKey);
  if (answer === null) return null;
  // A server that ignores Range sends the object from its start.
  if (answer.ContentRange?.startsWith(`bytes ${first}-${last}/`)) return answer.Body as Readable;
  throw away(refused(answer.Body, 'The answer is not the part of the object that was asked for.'));
}

/** The error of an answer whose body is not read. */
function refused(body: unknown, message: string): Error {
  (body as Readable | undefined)?.destroy();
  return new Error(message);
}

async function isComplete(store: Store, key: string, sizeBytes: number): Promise<boolean> {
  const answer = await store.client.send(new store.sdk.HeadObjectCommand(objectOf(store, key))).catch(nullWithoutKey);
  return answer?.ContentLength === sizeBytes;
}

/** S3 copies objects of up to 5 GB in one request; larger ones are refused. */
async function copy(store: Store, key: string): Promise<string | null> {
  const copied = randomUUID();
  const { Bucket, Key } = objectOf(store, key);
  const CopySource = [Bucket, ...Key.split('/')].map(encodeURIComponent).join('/');
  const command = new store.sdk.CopyObjectCommand({ ...objectOf(store, copied), CopySource });
  return (await store.client.send(command).catch(nullWithoutKey)) === null ? null : copied;
}

/** A response to HEAD has no error code: its error has a name of its own. */
function nullWithoutKey(cause: Error): null {
  if (cause.name === 'NoSuchKey' || cause.name === 'NotFound') return null;
  throw away(cause);
}

async function remove(store: Store, key: string): Promise<void> {
  const object = objectOf(store, key);
  await store.client.send(new store.sdk.DeleteObjectCommand(object)).catch(rethrowAway);
}

/** Aborts old unfinished uploads as well, which a killed process has left. */
async function* listOlderThan(store: Store, ageMs: number): AsyncIterable<string[]> {
  const isOld = (date: Date | undefined) => date !== undefined && Date.now() - date.getTime() > ageMs;
  const place = { Bucket: store.bucket, Prefix: store.prefix };
  try {
    for await (const page of store.sdk.paginateListObjectsV2({ client: store.client, stopOnSameToken: true }, place)) {
      const old = (page.Contents ?? []).filter(({ LastModified }) => isOld(LastModified));
      const keys = old.map(({ Key }) => keyOf(store, Key!)).filter((key) => key !== null);
      if (keys.length > 0) yield keys;
    }
    await abortOldUploads(store, isOld);
  } catch (cause) {
    throw away(cause);
  }
}

/** Reads every page, because pages of recent uploads may come before old ones. */
async function abortOldUploads(store: Store, isOld: (date: Date | undefined) => boolean): Promise<void> {
  const { client, sdk, bucket, prefix } = store;
  let from: { KeyMarker?: string; UploadIdMarker?: string } | null = {};
  for (let pages = 0; from !== null && pages < MAX_UPLOAD_PAGES; pages++) {
    const page: ListMultipartUploadsCommandOutput | null = await client
      .send(new sdk.ListMultipartUploadsCommand({ Bucket: bucket, Prefix: prefix, ...from }))
      .catch(nullWhereNotImplemented);
    const ours = (page?.Uploads ?? []).filter(({ Key, Initiated }) => keyOf(store, Key!) !== null && isOld(Initiated));
    for (const { Key, UploadId } of ours) {
      await client.send(new sdk.AbortMultipartUploadCommand({ Bucket: bucket, Key, UploadId }));
    }
    from = nextPageOf(page);
  }
}

/** Servers that cannot list uploads remove unfinished ones themselves or by a rule of the bucket. */
function nullWhereNotImplemented(cause: Error): null {
  if (cause.name === 'NotImplemented') return null;
  throw cause;
}

/** Null after the last page, and when the server does not send the start of the next. */
function nextPageOf(page: ListMultipartUploadsCommandOutput | null) {
  const { IsTruncated, NextKeyMarker, NextUploadIdMarker } = page ?? {};
  if (!IsTruncated || !NextKeyMarker) return null;
  return { KeyMarker: NextKeyMarker, ...(NextUploadIdMarker && { UploadIdMarker: NextUploadIdMarker }) };
}

/** Reads the storage's id, because a response to HEAD has no error code; a bucket that has none yet is there. */
async function whyAway({ client, sdk, ...store }: Store): Promise<string | null> {
  // The SDK's error for this has no name of its own.
  const hasRegion = await client.config.region().then(
    () => true,
    () => false,
  );
  if (!hasRegion) return NO_REGION;
  const abortSignal = AbortSignal.timeout(CHECK_TIMEOUT_MS);
  try {
    const answer = await client.send(new sdk.GetObjectCommand(idOf(store)), { abortSignal });
    await answer.Body?.transformToString();
    return null;
  } catch (error) {
    return (error as Error).name === 'NoSuchKey' ? null : reasonOfS3(error);
  }
}

async function readId({ client, sdk, ...store }: Store): Promise<string | null> {
  const answer = await client.send(new sdk.GetObjectCommand(idOf(store))).catch(nullWithoutKey);
  return answer === null ? null : ((await answer.Body?.transformToString()) ?? '').trim();
}

async function writeId({ client, sdk, ...store }: Store, id: string): Promise<void> {
  await client.send(new sdk.PutObjectCommand({ ...idOf(store), Body: `${id}\n` })).catch(rethrowAway);
}

function idOf({ bucket, prefix }: S3Location): { Bucket: string; Key: string } {
  return { Bucket: bucket, Key: prefix + ID_NAME };
}

function objectOf({ bucket, prefix }: Store, key: string): { Bucket: string; Key: string } {
  assertKey(key);
  return { Bucket: bucket, Key: prefix + key };
}

/** Null for an object that this storage did not make. */
function keyOf({ prefix }: Store, name: string): string | null {
  const key = name.slice(prefix.length);
  return name.startsWith(prefix) && isKey(key) ? key : null;
}

function rethrowAway(cause: unknown): never {
  throw away(cause);
}

/** The SDK's errors contain whole requests; only their name and the start of their message are logged. */
function away(cause: unknown): StorageAwayError {
  const { name, message } = cause as Error;
  return new StorageAwayError(new Error(`${name}: ${message}`.slice(0, MAX_ERROR_CHARS)));
}

/** Removes the copies of killed processes. File names start with the process id. */
async function removeLeftDownloads(folder: string): Promise<void> {
  const names = await readdir(folder);
  const left = names.filter((name) => !isOfRunningProcess(Number.parseInt(name, 10)));
  await Promise.all(left.map((name) => rm(path.join(folder, name), { force: true })));
}

/** Whether another running process has this id. Files with this process's id are a predecessor's. */
function isOfRunningProcess(pid: number): boolean {
  if (!(pid > 0) || pid === process.pid) return false;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
