import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ListMultipartUploadsCommandOutput, S3Client } from '@aws-sdk/client-s3';
import type { SharedStorage } from './storage.ts';
import { assertKey, freeBytesAt, isKey, StorageAwayError, UploadTooLargeError } from './storage.ts';

export type S3Place = {
  bucket: string;
  /** Begins the name of every object: empty, or ending in a slash. */
  prefix: string;
  /** Of an S3-compatible server; null for AWS. */
  endpoint: string | null;
  /** Null: as the SDK finds it in its own files, and any where a custom endpoint does not care. */
  region: string | null;
  /** Where objects lie while a decoder reads them; of this node alone. */
  downloadsDir: string;
};

type Sdk = typeof import('@aws-sdk/client-s3') & Pick<typeof import('@aws-sdk/lib-storage'), 'Upload'>;
type Room = S3Place & { sdk: Sdk; client: S3Client };

// A part is held in memory until it is sent: two of 5 MiB (the least that S3 takes) for each upload.
const PARTS_AT_ONCE = 2;
const MIN_PART_BYTES = 5 * 1024 * 1024;
const MAX_PARTS = 10_000;
// A million uploads: a server that always has a next page must not make the loop endless.
const MAX_UPLOAD_PAGES = 1000;
const CONNECT_TIMEOUT_MS = 3_000;
const IDLE_TIMEOUT_MS = 30_000;
const CHECK_TIMEOUT_MS = 2_000;

/** Keeps audio as objects of a bucket that all nodes share. Keys and secrets are found by the SDK, as everywhere. */
export async function openS3Storage(place: S3Place): Promise<SharedStorage> {
  await mkdir(place.downloadsDir, { recursive: true, mode: 0o700 });
  await removeLeftDownloads(place.downloadsDir);
  const sdk = await loadSdk();
  const room = { ...place, sdk, client: openClient(sdk, place) };
  return {
    receive: (bytes, { maxBytes }) => receive(room, bytes, maxBytes),
    localPath: (key) => download(room, key),
    remove: (key) => remove(room, key),
    listOlderThan: (ageMs) => listOlderThan(room, ageMs),
    freeBytes: () => freeBytesAt(place.downloadsDir),
    whyAway: () => whyAway(room),
  };
}

/** Loaded when it is needed only: a start with files in DATA_DIR does not pay for it. */
async function loadSdk(): Promise<Sdk> {
  const [client, { Upload }] = await Promise.all([import('@aws-sdk/client-s3'), import('@aws-sdk/lib-storage')]);
  return { ...client, Upload };
}

function openClient({ S3Client }: Sdk, { endpoint, region }: S3Place): S3Client {
  return new S3Client({
    // Most servers that are not AWS have no name for each bucket.
    ...(endpoint !== null && { endpoint, forcePathStyle: true, region: region ?? 'us-east-1' }),
    ...(region !== null && { region }),
    // The newer checksums are unknown to many of these servers; the signature covers each part's SHA-256 anyway.
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

/** An object shows only once it is whole; the parts of an upload that failed are given up. */
async function receive(room: Room, bytes: AsyncIterable<Uint8Array>, maxBytes: number) {
  const key = randomUUID();
  const source = countBytes(bytes, maxBytes);
  const body = Readable.from(source.chunks, { highWaterMark: 1 });
  const upload = new room.sdk.Upload({
    client: room.client,
    params: { ...objectOf(room, key), Body: body, ContentType: 'application/octet-stream' },
    queueSize: PARTS_AT_ONCE,
    partSize: Math.max(MIN_PART_BYTES, Math.ceil(maxBytes / MAX_PARTS)),
  });
  try {
    await upload.done();
    return { key, sizeBytes: source.sizeBytes() };
  } catch (cause) {
    body.destroy();
    // An answer that was lost may have been a yes.
    await remove(room, key).catch(() => undefined);
    throw source.failure() ?? away(cause);
  }
}

/** Passes the chunks on, knows how many bytes went by, and what their source failed of: that is not the bucket's fault. */
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

/** A copy that only this user can read, until disposed. Of a key that is gone there is none, as with files. */
async function download(room: Room, key: string) {
  const file = path.join(room.downloadsDir, `${process.pid}.${randomUUID()}`);
  const drop = () => rm(file, { force: true });
  const object = objectOf(room, key);
  try {
    const { Body } = await room.client.send(new room.sdk.GetObjectCommand(object));
    await pipeline(Body as Readable, createWriteStream(file, { flags: 'wx', mode: 0o600 }));
  } catch (cause) {
    await drop();
    if ((cause as Error).name !== 'NoSuchKey') throw away(cause);
  }
  return { path: file, [Symbol.asyncDispose]: drop };
}

async function remove(room: Room, key: string): Promise<void> {
  const object = objectOf(room, key);
  await room.client.send(new room.sdk.DeleteObjectCommand(object)).catch(rethrowAway);
}

/** Looks after unfinished uploads as well: a process that died could not give them up. */
async function* listOlderThan(room: Room, ageMs: number): AsyncIterable<string[]> {
  const isOld = (date: Date | undefined) => date !== undefined && Date.now() - date.getTime() > ageMs;
  const place = { Bucket: room.bucket, Prefix: room.prefix };
  try {
    for await (const page of room.sdk.paginateListObjectsV2({ client: room.client, stopOnSameToken: true }, place)) {
      const old = (page.Contents ?? []).filter(({ LastModified }) => isOld(LastModified));
      const keys = old.map(({ Key }) => keyOf(room, Key!)).filter((key) => key !== null);
      if (keys.length > 0) yield keys;
    }
    await giveUpUploads(room, isOld);
  } catch (cause) {
    throw away(cause);
  }
}

/** A page at a time, to the last one: a page of young uploads must not hide the old ones behind it. */
async function giveUpUploads(room: Room, isOld: (date: Date | undefined) => boolean): Promise<void> {
  const { client, sdk, bucket, prefix } = room;
  let from: { KeyMarker?: string; UploadIdMarker?: string } | null = {};
  for (let pages = 0; from !== null && pages < MAX_UPLOAD_PAGES; pages++) {
    const page: ListMultipartUploadsCommandOutput | null = await client
      .send(new sdk.ListMultipartUploadsCommand({ Bucket: bucket, Prefix: prefix, ...from }))
      .catch(nullWhereNotImplemented);
    const ours = (page?.Uploads ?? []).filter(({ Key, Initiated }) => keyOf(room, Key!) !== null && isOld(Initiated));
    for (const { Key, UploadId } of ours) {
      await client.send(new sdk.AbortMultipartUploadCommand({ Bucket: bucket, Key, UploadId }));
    }
    from = nextPageOf(page);
  }
}

/** Servers that cannot list uploads give them up by themselves, or by a rule of the bucket. */
function nullWhereNotImplemented(cause: Error): null {
  if (cause.name === 'NotImplemented') return null;
  throw cause;
}

/** Null after the last page, and after one that does not say where the next begins. */
function nextPageOf(page: ListMultipartUploadsCommandOutput | null) {
  const { IsTruncated, NextKeyMarker, NextUploadIdMarker } = page ?? {};
  if (!IsTruncated || !NextKeyMarker) return null;
  return { KeyMarker: NextKeyMarker, ...(NextUploadIdMarker && { UploadIdMarker: NextUploadIdMarker }) };
}

/** Asks for a list, since an answer to HEAD does not say what is wrong. */
function whyAway({ client, sdk, bucket, prefix }: Room): Promise<string | null> {
  const abortSignal = AbortSignal.timeout(CHECK_TIMEOUT_MS);
  const look = new sdk.ListObjectsV2Command({ Bucket: bucket, Prefix: prefix, MaxKeys: 1 });
  return client.send(look, { abortSignal }).then(
    () => null,
    (cause: Error & { code?: string }) => cause.code ?? cause.name,
  );
}

function objectOf({ bucket, prefix }: Room, key: string): { Bucket: string; Key: string } {
  assertKey(key);
  return { Bucket: bucket, Key: prefix + key };
}

/** Null for an object that is not ours. */
function keyOf({ prefix }: Room, name: string): string | null {
  const key = name.slice(prefix.length);
  return name.startsWith(prefix) && isKey(key) ? key : null;
}

function rethrowAway(cause: unknown): never {
  throw away(cause);
}

/** The SDK's errors carry whole requests; a name and a sentence are enough for the log. */
function away(cause: unknown): StorageAwayError {
  const { name, message } = cause as Error;
  return new StorageAwayError(new Error(`${name}: ${message}`));
}

/** What a process that was killed had fetched. Names begin with the process's id. */
async function removeLeftDownloads(folder: string): Promise<void> {
  const names = await readdir(folder);
  const left = names.filter((name) => !isOfAnother(Number.parseInt(name, 10)));
  await Promise.all(left.map((name) => rm(path.join(folder, name), { force: true })));
}

/** Whether another process that lives has this id. Our own id is a predecessor's: nothing has been fetched yet. */
function isOfAnother(pid: number): boolean {
  if (!(pid > 0) || pid === process.pid) return false;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
