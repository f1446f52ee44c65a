import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import tls from 'node:tls';
import { openManualClock } from '../../../test/fixtures/manual-clock.ts';
import { until } from '../../../test/fixtures/until.ts';
import { testAuthority } from '../../../test/fixtures/webhooks/receiver.ts';
import { openLog } from '../../platform/log.ts';
import { type TlsFiles, TlsListener } from './tls-listener.ts';

const HANDSHAKES_PER_ADDRESS = 200;

/** A certificate whose serial number names it. */
const issue = () => testAuthority.issue({ hosts: ['localhost', '127.0.0.1'] });

/** Writes as renewals do: each file is replaced in one step. */
function write({ certFile, keyFile }: TlsFiles, { cert, key }: { cert: string; key: string }): void {
  for (const [file, text] of [
    [certFile, cert],
    [keyFile, key],
  ] as const) {
    writeFileSync(`${file}.new`, text);
    renameSync(`${file}.new`, file);
  }
}

async function openFixture(given = issue()) {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'tls-'));
  const files = { certFile: path.join(folder, 'cert.pem'), keyFile: path.join(folder, 'key.pem') };
  write(files, given);
  const clock = openManualClock();
  const server = http.createServer((request, response) => response.end(`${request.method} ${request.url}`));
  const listener = await TlsListener.open(server, files, { clock, log: openLog('silent') });
  const port = await listener.listen('127.0.0.1', 0);
  return {
    ...{ files, clock, server, listener, port },
    /** The certificate that a client is shown, as text. */
    async shown(): Promise<string> {
      const socket = tls.connect({ port, host: '127.0.0.1', ca: testAuthority.cert });
      await once(socket, 'secureConnect');
      const { raw } = socket.getPeerCertificate();
      socket.destroy();
      return raw.toString('base64');
    },
    async [Symbol.asyncDispose]() {
      listener.close();
      server.closeAllConnections();
      rmSync(folder, { recursive: true });
    },
  };
}

const bodyOf = (cert: string) => cert.replace(/-----.*-----|\s/g, '');

function get(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { port, path: '/a', ca: testAuthority.cert, agent: false };
    https
      .get(options, (answer) => {
        let text = '';
        answer.on('data', (chunk) => {
          text += chunk;
        });
        answer.on('end', () => resolve(text));
      })
      .on('error', reject);
  });
}

test('requests over TLS are requests of the server', async () => {
  await using fixture = await openFixture();
  const connections: unknown[] = [];
  fixture.server.on('connection', (socket) => connections.push(socket));

  assert.equal(await get(fixture.port), 'GET /a');
  assert.equal(connections.length, 1);
  await assert.rejects((async () => await fetch(`https://127.0.0.1:${fixture.port}/`))());
});

test('a renewed certificate is shown within a minute, and one without its key only once both are there', async () => {
  const [first, second, third] = [issue(), issue(), issue()];
  await using fixture = await openFixture(first);
  const { files, clock, shown } = fixture;
  assert.equal(await shown(), bodyOf(first.cert));

  write(files, second);
  assert.equal(await shown(), bodyOf(first.cert));
  await clock.advance(60_000);
  await until('the renewed certificate', async () => (await shown()) === bodyOf(second.cert));

  write(files, { cert: third.cert, key: second.key });
  await clock.advance(60_000);
  assert.equal(await shown(), bodyOf(second.cert));
  write(files, third);
  await until('both files', async () => {
    await clock.advance(60_000);
    return (await shown()) === bodyOf(third.cert);
  });
});

test('files that do not belong together are refused at the start', async () => {
  const [one, other] = [issue(), issue()];

  await assert.rejects(openFixture({ cert: one.cert, key: other.key }), /key values mismatch/);
  await assert.rejects(openFixture({ cert: 'no certificate', key: other.key }), /no start line|PEM/i);
});

test('an address that opens handshakes and does not end them gets so many, and leaves the others alone', async () => {
  await using fixture = await openFixture();
  const { port, listener } = fixture;
  const open: net.Socket[] = [];
  for (let count = 0; count < HANDSHAKES_PER_ADDRESS; count++) {
    const socket = net.connect(port, '127.0.0.1');
    socket.on('error', () => undefined);
    open.push(socket);
    await once(socket, 'connect');
  }

  await assert.rejects(get(port));
  open[0]!.destroy();
  await until('a place', () => get(port).catch(() => false));

  const ended = Promise.all(open.slice(1).map((socket) => once(socket.resume(), 'close')));
  listener.close();
  await ended;
});
