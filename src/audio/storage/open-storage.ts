import { stat as statWithCallback } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { type Config, dataPaths } from '../../config/settings.ts';
import { openS3Storage } from './s3-storage.ts';
import { ID_NAME, openFileStorage, type SharedStorage, StorageAwayError } from './storage.ts';

const stat = promisify(statWithCallback);

const NOT_KNOWN = 'it is not the storage that the database knows';
const OTHER_FOLDER = `${NOT_KNOWN}, or its disk is not mounted: mount the disk of DATA_DIR/audio`;
const OTHER_BUCKET = `${NOT_KNOWN}: correct STORAGE_URL and AWS_ENDPOINT_URL_S3`;

/**
 * The storage that STORAGE_URL names, which all nodes share, else files on this node. No request is sent to a bucket
 * yet: `whyAway` and the first use report an unreachable one.
 * @param id  of the storage that the database knows: any other is away. Null: not known.
 */
export async function openStorage(config: Config, id: string | null = null): Promise<SharedStorage> {
  const { audio } = dataPaths(config.dataDir);
  const storage = config.storageUrl === null ? await openFiles(audio) : await openBucket(config, config.storageUrl);
  return id === null ? storage : onlyWithId(storage, id, config.storageUrl === null ? OTHER_FOLDER : OTHER_BUCKET);
}

async function openFiles(folder: string): Promise<SharedStorage> {
  const file = path.join(folder, ID_NAME);
  return {
    ...(await openFileStorage(folder)),
    whyAway: () => readFile(file).then(() => null, reasonOfFolder),
    readId: () => readFile(file, 'utf8').then((text) => text.trim(), nullWithoutFile),
    writeId: (id) => writeFile(file, `${id}\n`, { mode: 0o600, flush: true }),
    readPlace: () =>
      stat(file).then(({ dev, ino, size, mtimeMs }) => [dev, ino, size, mtimeMs].join(' '), nullWithoutFile),
  };
}

function reasonOfFolder({ code }: NodeJS.ErrnoException): string | null {
  return code === 'ENOENT' ? null : `DATA_DIR/audio cannot be read (${code}): check its disk and its rights`;
}

function nullWithoutFile(cause: NodeJS.ErrnoException): null {
  if (cause.code === 'ENOENT') return null;
  throw new StorageAwayError(cause);
}

/**
 * The storage while it holds the id: a disk that is not mounted leaves an empty folder, or another one. The id
 * is read before each use, but where the place is still the one at which it was read.
 */
function onlyWithId(storage: SharedStorage, id: string, notKnown: string): SharedStorage {
  const isKnown = async () => (await storage.readId()) === id;
  let knownPlace: string | null = null;
  async function require(): Promise<void> {
    const place = await storage.readPlace();
    if (place !== null && place === knownPlace) return;
    if (!(await isKnown())) throw new StorageAwayError(new Error(notKnown));
    knownPlace = place;
  }
  const guarded =
    <Given extends unknown[], Result>(use: (...given: Given) => Promise<Result>) =>
    async (...given: Given) => {
      await require();
      const result = await use(...given);
      // The disk may have gone away since: only a storage that is still there can tell that it has no such audio.
      if (result === null || result === false) await require();
      return result;
    };
  return {
    ...storage,
    receive: guarded(storage.receive),
    localPath: guarded(storage.localPath),
    read: guarded(storage.read),
    isComplete: guarded(storage.isComplete),
    copy: guarded(storage.copy),
    remove: guarded(storage.remove),
    async whyAway() {
      const why = await storage.whyAway();
      if (why !== null) return why;
      return await isKnown().then(
        (known) => (known ? null : notKnown),
        async () => (await storage.whyAway()) ?? 'it failed for a moment: it is checked again',
      );
    },
  };
}

async function openBucket(config: Config, url: string): Promise<SharedStorage> {
  const { audio } = dataPaths(config.dataDir);
  return await openS3Storage({
    ...readStorageUrl(url),
    endpoint: config.s3Endpoint ?? config.awsEndpoint,
    region: config.awsRegion,
    downloadsDir: path.join(audio, 'fetched'),
  });
}

/** `prefix` is empty or ends with a slash. */
function readStorageUrl(url: string): { bucket: string; prefix: string } {
  const [bucket, ...folders] = url.replace(/^s3:\/\//, '').split('/');
  const named = folders.filter((folder) => folder !== '');
  return { bucket: bucket!, prefix: named.map((folder) => `${folder}/`).join('') };
}
