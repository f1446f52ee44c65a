import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { closeSync, ftruncateSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';

const MIB = 1024 ** 2;
// A copy of the smaller one would exceed the limit too.
const CASES = [
  { mode: 'whole', fileBytes: 1_024 * MIB },
  { mode: 'counted', fileBytes: 256 * MIB },
];
const MAX_GROWTH_BYTES = 160 * MIB;
const CHILD = path.join(import.meta.dirname, '../../../../test/fixtures/processes/upload-child.ts');

/** A server that counts the bytes of each body and keeps none. */
async function openSink() {
  const sizes: number[] = [];
  const server = http.createServer(async (request, response) => {
    let size = 0;
    for await (const chunk of request) size += (chunk as Buffer).length;
    if (request.method === 'POST') sizes.push(size);
    response.writeHead(200).end('{"id":"job_1","metadata":null}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    sizes,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.dispose]: () => void server.close(),
  };
}

for (const { mode, fileBytes } of CASES) {
  test(`a file of ${fileBytes / MIB} MiB is uploaded in bounded memory (${mode})`, async (t) => {
    using sink = await openSink();
    const folder = mkdtempSync(path.join(os.tmpdir(), 'upload-'));
    t.after(() => rmSync(folder, { recursive: true }));
    const file = path.join(folder, 'audio.wav');
    const handle = openSync(file, 'w');
    // A sparse file: it occupies no blocks of the disk.
    ftruncateSync(handle, fileBytes);
    closeSync(handle);

    const { stdout } = await promisify(execFile)(process.execPath, [CHILD, sink.url, file, mode]);

    const { grownBytes, ms } = JSON.parse(stdout) as { grownBytes: number; ms: number };
    t.diagnostic(`grew by ${Math.round(grownBytes / MIB)} MiB in ${Math.round(ms)} ms`);
    assert.ok(sink.sizes[0]! > fileBytes && sink.sizes[0]! < fileBytes + 2_000);
    assert.ok(grownBytes <= MAX_GROWTH_BYTES, `grew by ${grownBytes / MIB} MiB`);
  });
}
