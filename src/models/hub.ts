import type { ListFileEntry } from '@huggingface/hub';
import { downloadFile, HubApiError, listFiles } from '@huggingface/hub';
import { FIRST_MODEL, findModel } from './catalogue.ts';
import type { Model, ModelFile } from './model.ts';
import { ModelError } from './model.ts';

/** What a file must be, so that it may be used: what the catalogue pins, else what the hub says. */
export type ExpectedFile = {
  path: string;
  sizeBytes: number;
  /** One of the two is always there: the hub keeps the SHA-256 of large files, and git's SHA-1 of small ones. */
  sha256: string | null;
  gitSha1: string | null;
};

/** A file's bytes from an offset on. Rejects while it is read, when the connection breaks. */
export type OpenAt = (offset: number, signal: AbortSignal) => AsyncIterable<Uint8Array>;

const LISTING_MS = 30_000;

/** The server took no notice of where to begin. */
export class RangeIgnoredError extends Error {
  constructor() {
    super('the server cannot go on in the middle of a file');
    this.name = 'RangeIgnoredError';
  }
}

/** An answer of the hub that another try may better (5xx, 408, 429), or one that none will. */
export class HubAnswerError extends Error {
  readonly status: number;
  constructor(status: number, path: string) {
    super(`the hub answered ${status} for ${path}`);
    this.name = 'HubAnswerError';
    this.status = status;
  }
  get isPassing(): boolean {
    return this.status >= 500 || this.status === 408 || this.status === 429;
  }
}

/**
 * The model's files as the hub lists them now, held against the catalogue before a byte is fetched.
 * @throws ModelError  when the hub cannot be reached, or lacks the model or a file, or has other bytes than the catalogue
 */
export async function expectFiles(model: Model, hubUrl: string, signal: AbortSignal): Promise<ExpectedFile[]> {
  const listed = new Map((await listAll(model, hubUrl, signal)).map((entry) => [entry.path, entry]));
  const where = `${model.repository} at ${model.revision.slice(0, 12)}`;
  return model.files.map((pinned) => {
    const entry = listed.get(pinned.path);
    if (!entry) throw new ModelError('not_on_hub', `The hub has no ${pinned.path} in ${where}.`);
    if (isOther(pinned, entry)) {
      const what = `The hub has another ${pinned.path} in ${where} than the catalogue names; nothing was fetched.`;
      throw new ModelError('wrong_bytes', `${what} Check the hub's address, ${hubUrl}.`);
    }
    return {
      path: pinned.path,
      sizeBytes: pinned.sizeBytes,
      sha256: pinned.sha256 ?? entry.lfs?.oid ?? null,
      // Of a file in large storage, git knows the pointer only.
      gitSha1: entry.lfs ? null : (entry.oid ?? null),
    };
  });
}

function isOther(pinned: ModelFile, entry: ListFileEntry): boolean {
  const listed = entry.lfs?.oid ?? null;
  return entry.size !== pinned.sizeBytes || (pinned.sha256 !== null && listed !== null && listed !== pinned.sha256);
}

async function listAll(model: Model, hubUrl: string, signal: AbortSignal): Promise<ListFileEntry[]> {
  const where = { repo: model.repository, revision: model.revision, hubUrl, recursive: true };
  const limited = AbortSignal.any([signal, AbortSignal.timeout(LISTING_MS)]);
  try {
    return await Array.fromAsync(listFiles({ ...where, fetch: fetchUntil(limited) }));
  } catch (cause) {
    signal.throwIfAborted();
    if (cause instanceof HubApiError && cause.statusCode < 500) {
      const message = `The hub at ${hubUrl} answered ${cause.statusCode} for ${model.repository}.`;
      throw new ModelError('not_on_hub', message, { cause });
    }
    throw new ModelError('unreachable', `The hub at ${hubUrl} cannot be reached; HF_ENDPOINT names another.`, {
      cause,
    });
  }
}

/** How to read one file of a model; a break shows as a rejection that `download.ts` knows what to do with. */
export function openFile(model: Model, file: ExpectedFile, hubUrl: string): OpenAt {
  const url = `${hubUrl}/${model.repository}/resolve/${encodeURIComponent(model.revision)}/${file.path}`;
  return async function* read(offset, signal) {
    let failure: unknown = null;
    const fetchFrom: typeof fetch = async (input, init) => {
      try {
        return checkAnswer(await fetch(input, { ...init, signal }), offset, file.path);
      } catch (error) {
        failure = error;
        throw error;
      }
    };
    const blob = await downloadFile({
      repo: model.repository,
      path: file.path,
      // Told what the listing said, the client need not ask again: small files come compressed, and then with no length.
      downloadInfo: { size: file.sizeBytes, etag: file.sha256 ?? file.gitSha1 ?? '', url },
      // Plain HTTP and not the xet protocol, because only there a byte offset says where to go on.
      xet: false,
      fetch: fetchFrom,
    });
    try {
      yield* blob!.slice(offset).stream();
    } catch (error) {
      // The client makes a string of what its fetch threw.
      throw failure ?? error;
    }
  };
}

function checkAnswer(answer: Response, offset: number, path: string): Response {
  const problem = !answer.ok
    ? new HubAnswerError(answer.status, path)
    : offset > 0 && answer.headers.get('content-range')?.startsWith(`bytes ${offset}-`) !== true
      ? new RangeIgnoredError()
      : null;
  if (problem === null) return answer;
  answer.body?.cancel().catch(() => undefined);
  throw problem;
}

function fetchUntil(signal: AbortSignal): typeof fetch {
  return (input, init) => fetch(input, { ...init, signal });
}

/** Whether a hub answers there within that time; a proxy's error page is no hub. Never rejects. */
export async function isHubReachable(hubUrl: string, timeoutMs = 3000): Promise<boolean> {
  const signal = AbortSignal.timeout(timeoutMs);
  const { repository: repo, revision } = findModel(FIRST_MODEL);
  try {
    for await (const _ of listFiles({ repo, revision, hubUrl, fetch: fetchUntil(signal) })) return true;
    return true;
  } catch (error) {
    // A mirror that lacks this one model is a hub all the same.
    return error instanceof HubApiError && error.statusCode < 500 && error.statusCode !== 407;
  }
}
