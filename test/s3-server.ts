import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import S3rver from 's3rver';

const BUCKET = 'audio';
const UPLOADS = '._S3rver_uploads';

export type S3Server = AsyncDisposable & {
  bucket: string;
  endpoint: string;
  /** What makes the AWS SDK, in this process or another, use the server. */
  env: Record<string, string>;
  /** The names of the objects, and of the uploads that were neither completed nor given up. */
  contents(): Promise<string[]>;
  /** The file that holds an object's bytes. */
  fileOf(name: string): string;
  folderOfUploads: string;
  /** From now on lists of objects are these, a page for each question; s3rver knows one page only. */
  answerLists(pages: string[][]): { asked: number };
  /** From now on every request is answered so; null: as it should be. */
  answerAll(status: number | null): void;
};

/**
 * An S3 server with one bucket on a free port. s3rver is made for tests and knows no way to give an upload up or to list
 * uploads: those two are added here, over its own files.
 */
export async function openS3Server(): Promise<S3Server> {
  const directory = await mkdtemp(path.join(os.tmpdir(), 's3-'));
  const folder = path.join(directory, BUCKET);
  const uploads = path.join(folder, UPLOADS);
  const s3 = new S3rver({ directory, silent: true, vhostBuckets: false, configureBuckets: [{ name: BUCKET }] });
  await s3.configureBuckets();
  const answer = s3.callback();
  let forced: number | null = null;
  let pages: string[][] | null = null;
  const listed = { asked: 0 };
  const server = http.createServer((request, response) => {
    const { searchParams: query } = new URL(request.url!, 'http://s3');
    if (pages !== null && query.has('list-type')) {
      listed.asked += 1;
      response.end(listPage(pages, Number(query.get('continuation-token') ?? 0)));
    } else if (forced !== null) response.writeHead(forced).end();
    else if (request.method === 'DELETE' && query.has('uploadId')) void giveUp(query.get('uploadId')!, response);
    else if (request.method === 'GET' && query.has('uploads')) void listUploads(response);
    else answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  async function giveUp(uploadId: string, response: ServerResponse<IncomingMessage>) {
    await rm(path.join(uploads, path.basename(uploadId)), { recursive: true });
    response.writeHead(204).end();
  }

  async function listUploads(response: ServerResponse<IncomingMessage>) {
    const ids = existsSync(uploads) ? await readdir(uploads) : [];
    const rows = ids.map(async (id) => {
      const key = await readFile(path.join(uploads, id, 'key'), 'utf8');
      const { mtime } = await stat(path.join(uploads, id, 'key'));
      return `<Upload><Key>${key}</Key><UploadId>${id}</UploadId><Initiated>${mtime.toISOString()}</Initiated></Upload>`;
    });
    const body = `<ListMultipartUploadsResult>${(await Promise.all(rows)).join('')}</ListMultipartUploadsResult>`;
    response.writeHead(200, { 'content-type': 'application/xml' }).end(body);
  }

  const { port } = server.address() as AddressInfo;
  const endpoint = `http://127.0.0.1:${port}`;
  return {
    bucket: BUCKET,
    endpoint,
    // The account that every s3rver has.
    env: { AWS_ENDPOINT_URL_S3: endpoint, AWS_ACCESS_KEY_ID: 'S3RVER', AWS_SECRET_ACCESS_KEY: 'S3RVER' },
    folderOfUploads: uploads,
    answerLists(given) {
      pages = given;
      listed.asked = 0;
      return listed;
    },
    async contents() {
      const names = await readdir(folder, { recursive: true });
      const objects = names.filter((name) => name.endsWith('._S3rver_object'));
      const begun = existsSync(uploads) ? await readdir(uploads) : [];
      return [...objects.map((name) => name.replace('._S3rver_object', '')), ...begun];
    },
    fileOf: (name) => path.join(folder, `${name}._S3rver_object`),
    answerAll(status) {
      forced = status;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await rm(directory, { recursive: true });
    },
  };
}

/** As S3 answers ListObjectsV2; all objects are a day old. */
function listPage(pages: string[][], number: number): string {
  const modified = new Date(Date.now() - 86_400_000).toISOString();
  const objects = pages[number]!.map(
    (key) => `<Contents><Key>${key}</Key><LastModified>${modified}</LastModified></Contents>`,
  );
  const hasMore = number + 1 < pages.length;
  const next = hasMore ? `<NextContinuationToken>${number + 1}</NextContinuationToken>` : '';
  return `<ListBucketResult><IsTruncated>${hasMore}</IsTruncated>${next}${objects.join('')}</ListBucketResult>`;
}
