import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
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
    files,
    clock,
    server,
    listener,
    port,
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

/** Resolves to the version of TLS; rejects where the handshake fails. */
function handshake(port: number, version: tls.SecureVersion): Promise<string | null> {
  return new Promise((resolve, reject) => {
    const socket = tls.connect({
      port,
      host: '127.0.0.1',
      ca: testAuthority.cert,
      minVersion: version,
      maxVersion: version,
      // OpenSSL offers versions before 1.2 at this level only.
      ciphers: 'DEFAULT@SECLEVEL=0',
    });
    socket.once('secureConnect', () => {
      resolve(socket.getProtocol());
      socket.destroy();
    });
    socket.once('error', reject);
  });
}

/** What a client without TLS gets for a request. */
async function askInPlainText(port: number): Promise<string> {
  const socket = net.connect(port, '127.0.0.1', () => socket.write('GET /a HTTP/1.1\r\nHost: a\r\n\r\n'));
  socket.on('error', () => undefined);
  const parts: Buffer[] = [];
  socket.on('data', (part) => parts.push(part));
  await once(socket, 'close');
  return Buffer.concat(parts).toString('latin1');
}

test('versions before TLS 1.2 and requests without TLS are refused, also after a renewal', async () => {
  await using fixture = await openFixture();
  const { port, files, clock, server, shown } = fixture;
  let requests = 0;
  server.on('request', () => requests++);
  const versions = async () => {
    const wanted = ['TLSv1', 'TLSv1.1', 'TLSv1.2', 'TLSv1.3'] as const;
    return await Promise.all(wanted.map((version) => handshake(port, version).catch(() => 'refused')));
  };

  const before = await versions();
  const renewed = issue();
  write(files, renewed);
  await clock.advance(60_000);
  await until('the renewed certificate', async () => (await shown()) === bodyOf(renewed.cert));
  const after = await versions();
  const plain = await askInPlainText(port);

  assert.deepEqual(before, ['refused', 'refused', 'TLSv1.2', 'TLSv1.3']);
  assert.deepEqual(after, before);
  assert.doesNotMatch(plain, /HTTP|GET/);
  assert.equal(requests, 0);
});

for (const [mode, count] of [
  [0o600, 0],
  [0o640, 0],
  [0o644, 1],
] as const) {
  test(`a key whose file has the mode ${mode.toString(8)} gives ${count || 'no'} warning`, async () => {
    const given = issue();
    const folder = mkdtempSync(path.join(os.tmpdir(), 'tls-'));
    const files = { certFile: path.join(folder, 'cert.pem'), keyFile: path.join(folder, 'key.pem') };
    write(files, given);
    chmodSync(files.keyFile, mode);
    const lines: string[] = [];
    const log = Object.assign(openLog('silent'), { warn: (_: unknown, line: string) => lines.push(line) });

    const listener = await TlsListener.open(http.createServer(), files, { clock: openManualClock(), log });
    listener.close();
    rmSync(folder, { recursive: true });

    assert.equal(lines.length, count);
  });
}

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

  await assert.rejects(
    openFixture({ cert: one.cert, key: other.key }),
    /the key is not the key of the first certificate/,
  );
  await assert.rejects(openFixture({ cert: 'no certificate', key: other.key }), /no certificate, or no key, in PEM/);
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
