import { AbortedError, ApiError, type TranscribeParams, VerbatimError } from '#sdk/client/index.ts';
import { api } from '../../api/client.ts';
import { session } from '../../session/session.ts';
import { openStore } from '../../session/store.ts';

/** Audio from the user's machine, or from a URL that the service fetches. */
export type Source = File | { url: string; headers?: Record<string, string> };

/**
 * `ready`: its cost is shown, and nothing was sent. `paused`: its upload begins anew when the queue goes on, with the
 * same Idempotency-Key, so that it never makes a second job.
 */
export type UploadState = 'ready' | 'waiting' | 'sending' | 'paused' | 'failed' | 'sent';

export type Upload = {
  id: number;
  source: Source;
  name: string;
  /** Null for a URL. */
  sizeBytes: number | null;
  /** Length of the audio; null while it is unknown. */
  seconds: number | null;
  state: UploadState;
  /** Of the bytes, 0 to 1. */
  part: number;
  error: unknown;
  jobId: string | null;
  params: TranscribeParams;
  idempotencyKey: string;
};

export type QueueState = {
  uploads: readonly Upload[];
  isPaused: boolean;
  /** Until then the API takes no more uploads; 0: it does. In milliseconds since the epoch. */
  blockedUntilMs: number;
};

const MAX_AT_ONCE = 3;
const RETRIES = 2;
const RETRY_MS = 1_000;

/** The uploads of this tab. They go on while other views are shown. */
export const queue = openStore<QueueState>({ uploads: [], isPaused: false, blockedUntilMs: 0 });

const sending = new Map<number, AbortController>();
let lastId = 0;

/** Adds audio that `start` will send. @param seconds  its length, where it is known already */
export function addUpload(source: Source, seconds: number | null = null): number {
  const id = ++lastId;
  const isFile = source instanceof File;
  const upload: Upload = {
    id,
    source,
    seconds,
    state: 'ready',
    part: 0,
    error: null,
    jobId: null,
    params: {},
    name: isFile ? source.webkitRelativePath || source.name : source.url,
    sizeBytes: isFile ? source.size : null,
    idempotencyKey: newKey(),
  };
  change({ uploads: [...queue.get().uploads, upload] });
  return id;
}

/** Sends all that is ready, three at once. */
export function start(params: TranscribeParams): void {
  for (const { id, state } of queue.get().uploads) if (state === 'ready') update(id, { state: 'waiting', params });
  resume();
}

export function pause(): void {
  change({ isPaused: true });
  for (const [id, cut] of sending) {
    update(id, { state: 'paused', part: 0 });
    cut.abort();
  }
}

export function resume(): void {
  change({ isPaused: false });
  for (const { id, state } of queue.get().uploads) if (state === 'paused') update(id, { state: 'waiting' });
  sendNext();
}

/** Sends a failed upload again. */
export function retry(id: number): void {
  // After a cut connection the job may exist: then the key finds it. After a refusal the key is free.
  update(id, { state: 'waiting', part: 0, error: null });
  sendNext();
}

/** Removes an upload from the list; one that is under way is ended. */
export function remove(id: number): void {
  change({ uploads: queue.get().uploads.filter((upload) => upload.id !== id) });
  sending.get(id)?.abort();
}

/** Removes the uploads that were sent. */
export function removeSent(): void {
  change({ uploads: queue.get().uploads.filter(({ state }) => state !== 'sent') });
}

export function setLength(id: number, seconds: number): void {
  update(id, { seconds });
}

function sendNext(): void {
  const { uploads, isPaused, blockedUntilMs } = queue.get();
  if (isPaused || blockedUntilMs > Date.now()) return;
  for (const upload of uploads.filter(({ state }) => state === 'waiting').slice(0, MAX_AT_ONCE - sending.size)) {
    void send(upload);
  }
}

async function send({ id, source, params, idempotencyKey }: Upload): Promise<void> {
  const cut = new AbortController();
  sending.set(id, cut);
  update(id, { state: 'sending', part: 0 });
  try {
    const onUpload = (part: number) => update(id, { part });
    const job = await retried(() => api.jobs.create(source, params, { idempotencyKey, signal: cut.signal, onUpload }));
    update(id, { state: 'sent', part: 1, jobId: job.id });
  } catch (error) {
    if (error instanceof ApiError && error.status === 429) block(id, error.retryAfterMs ?? 1_000);
    else if (!(error instanceof AbortedError)) update(id, { state: 'failed', error });
  } finally {
    // After a pause while it waited to try again, a later one may send the same upload.
    if (sending.get(id) === cut) sending.delete(id);
    sendNext();
  }
}

/** Tries again after a cut connection or a fault of the service. A 429 concerns all uploads, and is left to `block`. */
async function retried<Result>(attempt: () => Promise<Result>): Promise<Result> {
  for (let failures = 0; ; failures++) {
    try {
      return await attempt();
    } catch (error) {
      const isLimited = error instanceof ApiError && error.status === 429;
      const isWorthIt = error instanceof VerbatimError && error.isRetryable && !isLimited;
      if (!isWorthIt || failures >= RETRIES) throw error;
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS * (failures + 1)));
    }
  }
}

/** The API takes no upload until then: all wait. */
function block(id: number, waitMs: number): void {
  update(id, { state: 'waiting', part: 0 });
  change({ blockedUntilMs: Date.now() + waitMs });
  setTimeout(() => {
    change({ blockedUntilMs: 0 });
    sendNext();
  }, waitMs);
}

function update(id: number, changed: Partial<Upload>): void {
  change({ uploads: queue.get().uploads.map((upload) => (upload.id === id ? { ...upload, ...changed } : upload)) });
}

function change(changed: Partial<QueueState>): void {
  queue.set({ ...queue.get(), ...changed });
}

/** Not randomUUID: pages that came over plain HTTP do not have it. */
function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return `console-${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}

let owner = session.get().account;

// What one account chose is neither shown to the next nor sent for it.
session.subscribe(() => {
  const { account } = session.get();
  if (account === owner) return;
  owner = account;
  change({ uploads: [], isPaused: false });
  for (const cut of sending.values()) cut.abort();
});

addEventListener('beforeunload', (event) => {
  if (queue.get().uploads.some(({ state }) => state === 'sending' || state === 'waiting')) event.preventDefault();
});
