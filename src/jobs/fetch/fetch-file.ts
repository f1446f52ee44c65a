import { AudioError } from '../../audio/audio-error.ts';
import type { FetchedFile, FetchRequest } from '../../audio/fetch/fetch.ts';
import { FetchError } from '../../audio/fetch/fetch-error.ts';
import { FileStart } from '../../audio/file-start.ts';
import { probeAudio, probeStart } from '../../audio/media/probe.ts';
import { requireFreeDisk, whileDiskIsFree } from '../../audio/storage/free-disk.ts';
import { UploadTooLargeError } from '../../audio/storage/storage.ts';
import type { AudioTrack, TrackChoice } from '../../rules/channels/audio-tracks.ts';
import type { AudioUrl } from './audio-url.ts';
import type { FetchRuntime } from './fetch-runtime.ts';

/** Audio in the storage, as the probe found it. */
export type FetchedAudio = {
  key: string;
  sizeBytes: number;
  format: string;
  durationMs: number;
  tracks: AudioTrack[];
  /** The server's name for the file; null when it gives none. */
  filename: string | null;
};

/** `track` is the audio track that is to be transcribed; null for the first. */
export type WantedFile = AudioUrl & { accountId: string; track: TrackChoice | null };

export type FetchControl = Pick<FetchRequest, 'signal' | 'nextTry'>;

// Media types that servers send with pages and messages in place of a file.
const TEXT_TYPE = /^(text\/.*|application\/(json|xml|xhtml\+xml|problem\+json))$/;

/**
 * Streams a file from its URL into the storage and probes it.
 * When it rejects, nothing of the file stays in the storage.
 * @throws FetchError
 * @throws AudioError  for a file that is not audio that can be transcribed
 * @throws ApiError    503 when the disk is full or the storage away
 * @throws unknown     the signal's reason, once it has aborted
 */
export async function fetchFile(
  runtime: FetchRuntime,
  { url, headers, accountId, track }: WantedFile,
  { signal, nextTry }: FetchControl,
): Promise<FetchedAudio> {
  const { storage, config } = runtime;
  await requireFreeDisk(storage, config.minFreeDiskBytes);
  using file = await runtime.fetcher.open({ url, headers, accountId, signal, nextTry });
  if (file.sizeBytes !== null && file.sizeBytes > config.maxUploadBytes) throw tooLarge(config.maxUploadBytes);
  await requireFreeDisk(storage, config.minFreeDiskBytes, file.sizeBytes ?? 0);
  const start = new FileStart();
  const stored = await store(runtime, file, start);
  try {
    if (stored.sizeBytes === 0) throw new AudioError('The server sent an empty file.');
    const { mediaType, filename } = file;
    return {
      ...stored,
      filename,
      ...(await probe(runtime, { ...stored, accountId, start, mediaType, track }, signal)),
    };
  } catch (cause) {
    await storage.remove(stored.key);
    throw cause;
  }
}

async function store({ storage, config }: FetchRuntime, { bytes }: FetchedFile, start: FileStart) {
  const { maxUploadBytes: maxBytes, minFreeDiskBytes } = config;
  try {
    const kept = whileDiskIsFree(observed(bytes, start), storage, minFreeDiskBytes);
    const stored = await storage.receive(kept, { maxBytes });
    await stored.durable;
    return stored;
  } catch (cause) {
    throw cause instanceof UploadTooLargeError ? tooLarge(maxBytes) : cause;
  }
}

async function* observed(bytes: AsyncIterable<Uint8Array>, start: FileStart): AsyncIterable<Uint8Array> {
  for await (const chunk of bytes) {
    start.update(chunk);
    yield chunk;
  }
}

type ProbedFile = {
  key: string;
  accountId: string;
  start: FileStart;
  mediaType: string | null;
  track: TrackChoice | null;
};

async function probe(
  { storage, tools, config, probes }: FetchRuntime,
  { key, accountId, start, mediaType, track }: ProbedFile,
  signal: AbortSignal,
): Promise<Pick<FetchedAudio, 'format' | 'durationMs' | 'tracks'>> {
  const wanted = { maxAudioSeconds: config.maxAudioSeconds, track };
  const result = (await probeStart(start, wanted)) ?? (await probeStored());
  if (result.kind === 'audio') return result;
  const hint = mediaType !== null && TEXT_TYPE.test(mediaType) ? ` The server says that it is ${mediaType}.` : '';
  throw new AudioError(result.message + hint);

  async function probeStored() {
    await using file = await storage.localPath(key);
    return await probeAudio(file.path, { ...wanted, tools, signal }, (work) => probes(accountId, work, signal));
  }
}

function tooLarge(maxBytes: number): FetchError {
  return new FetchError('too_large', `The file is larger than the limit of ${maxBytes} bytes.`);
}
