import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { openDatabase } from '../../src/db/database.ts';
import { startEmbedded } from '../../src/db/embedded/server.ts';
import { freePort } from '../../src/demo/service.ts';
import { openLog } from '../../src/platform/log.ts';
import { TONE_MODEL } from '../fixtures/audio/test-audio.ts';
import { descendantsOf } from '../fixtures/processes/process-list.ts';
import { until } from '../fixtures/until.ts';
import { openReceiver, testAuthority } from '../fixtures/webhooks/receiver.ts';
import { dumpTables } from './dump.ts';
import { type Made, makeData, RECEIVER } from './traffic.ts';

// Makes the data of a version: starts it as an operator does, uses it, kills it while it works, and writes its rows.
//   node test/upgrade/make.ts <folder of its checkout, with node_modules> <folder for rows.dump and made.json>

const SECRETS_KEY = Buffer.alloc(32, 7).toString('base64');
const [checkout, target] = process.argv.slice(2).map((folder) => path.resolve(folder));
if (!checkout || !target) throw new Error('usage: node test/upgrade/make.ts <checkout> <target>');

const dataDir = mkdtempSync(path.join(os.tmpdir(), 'verbatim-upgrade-'));
await using receiver = await openReceiver({
  reply: ({ path: place }) => ({ status: place === '/failing' ? 500 : place === '/missing.wav' ? 404 : 204 }),
});
const made = await run(checkout, receiver.port);
mkdirSync(target, { recursive: true });
writeFileSync(path.join(target, 'made.json'), `${JSON.stringify(made, null, 1)}\n`);
writeFileSync(path.join(target, 'rows.dump'), await dump(receiver.port));
rmSync(dataDir, { recursive: true });

async function run(folder: string, receiverPort: number): Promise<Made> {
  const port = await freePort();
  const caFile = path.join(dataDir, 'ca.pem');
  writeFileSync(caFile, testAuthority.cert);
  const engine = `sherpa-onnx:${TONE_MODEL}`;
  const service = spawn(process.execPath, ['src/processes/main.ts'], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      PATH: process.env['PATH'],
      DATA_DIR: dataDir,
      PORT: String(port),
      SECRETS_KEY,
      ENGINE_LITE: engine,
      ENGINE_PRO: engine,
      TRANSCRIBE_CONCURRENCY: '1',
      NODE_EXTRA_CA_CERTS: caFile,
      WEBHOOK_ALLOWED_TARGETS: `127.0.0.1/32:${receiverPort}`,
      AUDIO_URL_ALLOWED_TARGETS: `127.0.0.1/32:${receiverPort}`,
      WEBHOOK_RETRY_DELAYS: '0,600,600,600',
      JOB_WEBHOOKS: 'all',
    },
  });
  const baseUrl = `http://127.0.0.1:${port}`;
  await until(
    'the service to be ready',
    async () => (await fetch(`${baseUrl}/readyz`).catch(() => null))?.status === 200,
    60_000,
  );
  const token = () => readFileSync(path.join(dataDir, 'admin-token'), 'utf8').trim();
  await until('the token', () => existsSync(path.join(dataDir, 'admin-token')));
  try {
    return await makeData({ baseUrl, adminToken: token(), receiverPort });
  } finally {
    for (const pid of [service.pid!, ...descendantsOf(service.pid!).map(({ pid }) => pid)]) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {}
    }
  }
}

async function dump(receiverPort: number): Promise<string> {
  const server = await startEmbedded({
    dir: path.join(dataDir, 'database'),
    postgresBin: null,
    log: openLog('warn', {}),
  });
  const db = openDatabase(server.url, { maxConnections: 1 });
  try {
    const text = await dumpTables(db);
    return text
      .replaceAll(`127.0.0.1:${receiverPort}`, RECEIVER)
      .replaceAll(TONE_MODEL, 'tone')
      .replaceAll(os.hostname(), 'node');
  } finally {
    await db.close();
    await server.stop();
  }
}
