import { downloadFile, HubApiError, type ListFileEntry, listFiles } from '@huggingface/hub';
import { reasonOfConnection } from '../../rules/network/connection-failure.ts';
import { type HubSource, type Model, ModelError, type ModelFile } from '../model.ts';
import { AnswerError, type ExpectedFile, type OpenAt, RangeIgnoredError } from './expected-file.ts';

const LISTING_MS = 30_000;
// A page has 1,000 files at most, of a few hundred bytes each.
const LISTING_PAGE_BYTES = 8 * 1024 * 1024;

/**
 * The model's files as the hub lists them, compared with the catalogue before the download.
 * @throws ModelError  when the hub is unreachable, lacks the model or a file, or lists other sizes or digests than the
 *                     catalogue
 */
export async function filesOfHub(
  model: Model,
  repository: HubSource,
  { hubUrl, signal }: { hubUrl: string; signal: AbortSignal },
): Promise<ExpectedFile[]> {
  const sources = Map.groupBy(model.files, ({ source }) => source ?? repository);
  const listings = new Map<HubSource, Map<string, ListFileEntry>>();
  for (const source of sources.keys()) {
    const entries = await listAll(source, hubUrl, signal);
    listings.set(source, new Map(entries.map((entry) => [entry.path, entry])));
  }
  return model.files.map((pinned) => {
    const source = pinned.source ?? repository;
    const where = `${source.repository} at ${source.revision.slice(0, 12)}`;
    const entry = listings.get(source)?.get(pinned.path);
    if (!entry) throw new ModelError('not_on_hub', `The hub has no ${pinned.path} in ${where}.`);
    if (differs(pinned, entry)) {
      const what = `The hub has another ${pinned.path} in ${where} than the catalogue names; nothing was fetched.`;
      throw new ModelError('wrong_bytes', `${what} Check the hub's address, ${hubUrl}.`);
    }
    const file = {
      path: pinned.path,
      sizeBytes: pinned.sizeBytes,
      sha256: pinned.sha256 ?? entry.lfs?.oid ?? null,
      // For a file in LFS, git's digest is that of its pointer.
      gitSha1: entry.lfs ? null : (entry.oid ?? null),
      server: 'the hub',
    };
    return { ...file, openAt: openFile(file, source, hubUrl) };
  });
}

function differs(pinned: ModelFile, entry: ListFileEntry): boolean {
  const listed = entry.lfs?.oid ?? null;
  return entry.size !== pinned.sizeBytes || (pinned.sha256 !== null && listed !== null && listed !== pinned.sha256);
}

async function listAll(
  { repository, revision }: HubSource,
  hubUrl: string,
  signal: AbortSignal,
): Promise<ListFileEntry[]> {
  const where = { repo: repository, revision, hubUrl, recursive: true };
  const limited = AbortSignal.any([signal, AbortSignal.timeout(LISTING_MS)]);
  try {
    return await Array.fromAsync(listFiles({ ...where, fetch: fetchUntil(limited) }));
  } catch (cause) {
    signal.throwIfAborted();
    if (cause instanceof HubApiError && cause.statusCode < 500) {
      const message = `The hub at ${hubUrl} answered ${cause.statusCode} for ${repository}.`;
      throw new ModelError('not_on_hub', message, { cause });
    }
    const message = `The hub ${hubUrl} (HF_ENDPOINT) ${reasonOfHub(cause)}.`;
    throw new ModelError('unreachable', message, { cause });
  }
}

/** A function that reads one file of a model; it rejects with the errors that `download.ts` handles. */
function openFile(file: Omit<ExpectedFile, 'openAt'>, { repository, revision }: HubSource, hubUrl: string): OpenAt {
  const url = `${hubUrl}/${repository}/resolve/${encodeURIComponent(revision)}/${file.path}`;
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
      repo: repository,
      path: file.path,
      // Given, so that the client sends no HEAD request: for small, compressed files its response has no length.
      downloadInfo: { size: file.sizeBytes, etag: file.sha256 ?? file.gitSha1 ?? '', url },
      // Plain HTTP, because the xet protocol cannot resume at a byte offset.
      xet: false,
      fetch: fetchFrom,
    });
    try {
      yield* blob!.slice(offset).stream();
    } catch (error) {
      // The client turns errors of its fetch into strings.
      throw failure ?? error;
    }
  };
}

function checkAnswer(answer: Response, offset: number, path: string): Response {
  const problem = !answer.ok
    ? new AnswerError('the hub', answer.status, path)
    : offset > 0 && answer.headers.get('content-range')?.startsWith(`bytes ${offset}-`) !== true
      ? new RangeIgnoredError()
      : null;
  if (problem === null) return answer;
  answer.body?.cancel().catch(() => undefined);
  throw problem;
}

function fetchUntil(signal: AbortSignal): typeof fetch {
  return async (input, init) => {
    const answer = await fetch(input, { ...init, signal });
    return new Response(answer.body?.pipeThrough(limitBytes()), answer);
  };
}

/** Fails when more comes than a page of a listing has: it would fill the memory. */
function limitBytes(): TransformStream<Uint8Array, Uint8Array> {
  let sizeBytes = 0;
  return new TransformStream({
    transform(chunk, controller) {
      sizeBytes += chunk.length;
      if (sizeBytes > LISTING_PAGE_BYTES)
        controller.error(new Error(`the listing is over ${LISTING_PAGE_BYTES} bytes`));
      else controller.enqueue(chunk);
    },
  });
}

/**
 * Why no hub responds at this URL in time, as a phrase that follows its name; null when one does. An error page of a
 * proxy does not count. Never rejects.
 * @param source  of a model that hubs have
 */
export async function whyHubIsAway(hubUrl: string, source: HubSource, timeoutMs = 3000): Promise<string | null> {
  const signal = AbortSignal.timeout(timeoutMs);
  const { repository: repo, revision } = source;
  try {
    for await (const _ of listFiles({ repo, revision, hubUrl, fetch: fetchUntil(signal) })) return null;
    return null;
  } catch (error) {
    // A mirror without this model is still a hub.
    const isHub = error instanceof HubApiError && error.statusCode < 500 && error.statusCode !== 407;
    return isHub ? null : reasonOfHub(error);
  }
}

function reasonOfHub(error: unknown): string {
  if (error instanceof HubApiError) return `answered ${error.statusCode}: try again later, or set another hub`;
  return reasonOfConnection(error) ?? 'gives no list of files as a hub does: check the address';
}
