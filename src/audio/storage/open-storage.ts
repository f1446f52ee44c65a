import path from 'node:path';
import { type Config, dataPaths } from '../../config/settings.ts';
import { openS3Storage } from './s3-storage.ts';
import { openFileStorage, type SharedStorage } from './storage.ts';

/**
 * The storage that STORAGE_URL names, which all nodes share, else files on this node. No request is sent to a bucket
 * yet: `whyAway` and the first use report an unreachable one.
 */
export async function openStorage(config: Config): Promise<SharedStorage> {
  const { audio } = dataPaths(config.dataDir);
  if (config.storageUrl === null) return { ...(await openFileStorage(audio)), whyAway: async () => null };
  return await openS3Storage({
    ...readStorageUrl(config.storageUrl),
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
