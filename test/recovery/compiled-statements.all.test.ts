import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { openDatabase } from '../../src/db/database.ts';
import { TONE_MODEL, toneWav } from '../fixtures/audio/test-audio.ts';
import { startOutside } from '../fixtures/database/outside-postgres.ts';
import { openService, temporaryFolder } from '../fixtures/service.ts';
import { openReceiver, testAuthority } from '../fixtures/webhooks/receiver.ts';

// Counts the statements of a server; with the packages of Debian it is beside PostgreSQL.
const EXTENSION = 'pg_stat_statements';
const isMissing = fs.globSync(`/usr/lib/postgresql/*/lib/${EXTENSION}.so`).length === 0;
const skip = isMissing && 'no PostgreSQL of the system that counts statements';
const EVENTS = 40;
const STATEMENTS = `
  select query, calls, jit_functions::int as "compiled"
  from pg_stat_statements
  join pg_roles on pg_roles.oid = userid`;

test("beside a PostgreSQL with Debian's defaults no statement of the service is compiled", { skip }, async () => {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'verbatim-test-'));
  // Read by PostgreSQL's user, which is another one where the test runs as root.
  fs.chmodSync(dir, 0o755);
  const server = await startOutside(path.join(dir, 'database'), { fsync: 'off', shared_preload_libraries: EXTENSION });
  const admin = openDatabase(`${server.url}?application_name=admin`, { maxConnections: 1 });
  try {
    await admin.run({ text: `create extension ${EXTENSION}` });
    await using receiver = await openReceiver();
    const dataDir = temporaryFolder();
    fs.writeFileSync(path.join(dataDir, 'receiver-ca.pem'), testAuthority.cert);
    const env = {
      DATABASE_URL: server.url,
      ENGINE_LITE: `sherpa-onnx:${TONE_MODEL}`,
      ENGINE_PRO: `sherpa-onnx:${TONE_MODEL}`,
      RATE_LIMIT_TRANSCRIBE: 'off',
      WEBHOOK_ALLOWED_TARGETS: `127.0.0.1/32:${receiver.port}`,
      NODE_EXTRA_CA_CERTS: path.join(dataDir, 'receiver-ca.pem'),
    };
    await using service = await openService(env, dataDir);
    const { key } = await service.account();
    const headers = { authorization: `Bearer ${key}` };
    await fetch(`${service.baseUrl}/v1/webhooks`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ url: receiver.url, events: ['transcription.completed'] }),
    });
    for (let sent = 0; sent < EVENTS; sent++) {
      const body = new FormData();
      body.set('file', new Blob([toneWav('hello')]), 'a.wav');
      body.set('async', 'true');
      const answer = await fetch(`${service.baseUrl}/v1/transcribe`, { method: 'POST', headers, body });
      assert.equal(answer.status, 202);
    }
    await receiver.waitFor(EVENTS);

    const statements = await admin.rows<{ query: string; calls: string; compiled: number }>({ text: STATEMENTS });
    assert.ok(statements.length > 40, `${statements.length} statements`);
    assert.deepEqual(
      statements.filter(({ compiled }) => compiled > 0),
      [],
    );
  } finally {
    await admin.close();
    await server.stop();
    fs.rmSync(dir, { recursive: true });
  }
});
