import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';

export type HubFile = {
  path: string;
  bytes: Buffer;
  /** Large files are kept apart from git, and answered by way of a redirect. */
  isLarge: boolean;
};

/** What the next answers for one file are, in order; afterwards it is served well again. */
export type Misdeed =
  | { kind: 'cut'; afterBytes: number }
  | { kind: 'stall'; afterBytes: number }
  | { kind: 'status'; status: number }
  | { kind: 'surplus'; bytes: number };

export type Download = { path: string; range: string | null };

/**
 * A server with the part of the hub's API that pulling needs, as the real one answers it: the paged listing of a tree, and
 * files with ranges, redirects for large ones, and compression for small ones.
 */
export class TestHub implements AsyncDisposable {
  readonly repository = 'project/tone';
  readonly revision = '0123456789abcdef0123456789abcdef01234567';
  url = '';
  listings = 0;
  /** Requests for bytes, in order. */
  downloads: Download[] = [];
  ignoresRanges = false;
  /** Sizes that the listing tells in place of the true ones. */
  readonly listedSizes = new Map<string, number>();
  /** Bytes that are served in place of the listed ones. */
  readonly served = new Map<string, Buffer>();
  readonly #misdeeds = new Map<string, Misdeed[]>();
  readonly #files: HubFile[];
  readonly #server = createServer((request, response) => this.#answer(request, response));
  #stalled = Promise.withResolvers<void>();

  constructor(files: HubFile[]) {
    this.#files = files;
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Resolves at the next answer that stops in the middle. */
  stalled(): Promise<void> {
    this.#stalled = Promise.withResolvers<void>();
    return this.#stalled.promise;
  }

  misbehave(path: string, ...misdeeds: Misdeed[]): void {
    this.#misdeeds.set(path, misdeeds);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const url = new URL(request.url!, this.url);
    const resolved = `/${this.repository}/resolve/${this.revision}/`;
    const file = this.#files.find(({ path }) => [`${resolved}${path}`, `/cdn/${path}`].includes(url.pathname));
    if (url.pathname === `/api/models/${this.repository}/tree/${this.revision}`) {
      this.#list(url, response);
    } else if (file?.isLarge && url.pathname.startsWith(resolved)) {
      response.writeHead(302, { location: `/cdn/${file.path}?signature=x` }).end();
    } else if (file) {
      this.#send(file, request, response);
    } else {
      response.writeHead(404, { 'content-type': 'application/json', 'x-error-code': 'RepoNotFound' });
      response.end('{"error":"Repository not found"}');
    }
  }

  /** One entry a page, so that a client that reads the first page only is found out. */
  #list(url: URL, response: ServerResponse): void {
    this.listings += 1;
    const at = Number(url.searchParams.get('cursor') ?? 0);
    const next = new URL(url);
    next.searchParams.set('cursor', String(at + 1));
    const link = at + 1 < this.#files.length ? { link: `<${next.href}>; rel="next"` } : {};
    response.writeHead(200, { 'content-type': 'application/json', ...link });
    response.end(JSON.stringify(this.#files.slice(at, at + 1).map((file) => this.#entry(file))));
  }

  #entry({ path, bytes, isLarge }: HubFile): object {
    const size = this.listedSizes.get(path) ?? bytes.length;
    const oid = createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
    if (!isLarge) return { type: 'file', oid, size, path };
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    return { type: 'file', oid: 'f'.repeat(40), size, path, lfs: { oid: sha256, size, pointerSize: 134 } };
  }

  #send(file: HubFile, request: IncomingMessage, response: ServerResponse): void {
    const range = request.headers.range ?? null;
    this.downloads.push({ path: file.path, range });
    const misdeed = this.#misdeeds.get(file.path)?.shift();
    const bytes = this.served.get(file.path) ?? file.bytes;
    const start = this.ignoresRanges ? 0 : Number(/^bytes=(\d+)-/.exec(range ?? '')?.[1] ?? 0);
    const rest = bytes.subarray(start);
    if (misdeed?.kind === 'status') {
      response.writeHead(misdeed.status).end();
    } else if (misdeed?.kind === 'surplus') {
      response.writeHead(200).end(Buffer.concat([rest, Buffer.alloc(misdeed.bytes)]));
    } else if (range === null && !file.isLarge && !misdeed) {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(bytes));
    } else {
      const contentRange = { 'content-range': `bytes ${start}-${bytes.length - 1}/${bytes.length}` };
      response.writeHead(start > 0 ? 206 : 200, { 'content-length': rest.length, ...(start > 0 ? contentRange : {}) });
      if (misdeed) this.#sendPart(rest.subarray(0, misdeed.afterBytes), misdeed.kind, response);
      else response.end(rest);
    }
  }

  #sendPart(bytes: Buffer, kind: 'cut' | 'stall', response: ServerResponse): void {
    response.write(bytes, () => {
      if (kind === 'cut') response.destroy();
      else this.#stalled.resolve();
    });
  }
}

export async function startHub(files: HubFile[]): Promise<TestHub> {
  const hub = new TestHub(files);
  await hub.listen();
  return hub;
}
