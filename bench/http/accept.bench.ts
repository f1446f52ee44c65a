// Uploads of 100 KB accepted per second by the service (async=true), against a bare Fastify that writes the file as
// durably and answers 202; in turn, in one run.
// BENCH_PROFILE=<folder> keeps CPU profiles of the service's Node processes.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { Pool } from 'undici';
import { SAMPLE_RATE } from '../../src/engines/engine.ts';
import { openTestFolder } from '../../test/fixtures/audio/test-audio.ts';
import { wavFile } from '../../test/fixtures/audio/wav.ts';
import { openService, temporaryFolder } from '../../test/fixtures/service.ts';
import { startServiceDatabase } from '../database.ts';
import { report, round, spread } from '../figures.ts';
import { processorUsOfFamily } from '../processor-time.ts';

// The service reads a plain WAV itself; other formats need a decoder. Both files have 100 KB.
const WAV_SECONDS = 3.2;
const MP3_SECONDS = 6.4;
const CONNECTIONS = 8;
const ROUNDS = 5;
const UPLOADS_PER_ROUND = 80;
const UPLOADS_ALONE = 60;
const BOUNDARY = 'verbatim-bench';

const folder = temporaryFolder();
const bareFolder = path.join(folder, 'bare');
mkdirSync(bareFolder);
const profileFolder = process.env['BENCH_PROFILE'];
const bare = fork(path.join(import.meta.dirname, 'bare-acceptor.ts'), [bareFolder]);
const [barePort] = (await once(bare, 'message')) as [number];
// No transcriber runs: only the uploads are measured.
await using database = await startServiceDatabase();
await using service = await openService({
  ...database.env,
  LOG_LEVEL: 'info',
  ROLES: 'api,deliverer,janitor',
  MAX_QUEUED_JOBS: '1000000',
  RATE_LIMIT_TRANSCRIBE: 'off',
  RATE_LIMIT_DEFAULT: 'off',
  MAX_UPLOADS_PER_ACCOUNT: '100',
  ...(profileFolder && { NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${path.resolve(profileFolder)}` }),
});
const { key } = await service.account();
const forms = { wav: formOf(wavFile(WAV_SECONDS)), mp3: formOf(await mp3()) };
const ours = new Pool(service.baseUrl, { connections: CONNECTIONS });
const theirs = new Pool(`http://127.0.0.1:${barePort}`, { connections: CONNECTIONS });
const sides = {
  wav: openSide(ours, forms.wav),
  mp3: openSide(ours, forms.mp3),
  bare: openSide(theirs, forms.mp3),
};

for (const side of Object.values(sides)) side.oneMs = await latencyMs(side);
for (let count = 0; count < ROUNDS; count += 1) {
  for (const side of Object.values(sides)) await uploadRound(side);
}
const bareRate = spread(sides.bare.rates).p50;
for (const kind of ['wav', 'mp3'] as const) {
  const rate = spread(sides[kind].rates).p50;
  const figure = `${round(rate / bareRate)} (${rate} ÷ ${bareRate})`;
  report(`${kind} files of 100 KB accepted per second: service ÷ bare Fastify`, figure, '>= 0.5');
}
for (const [kind, { oneMs, processorMs }] of Object.entries(sides)) {
  const each = round(spread(processorMs).p50);
  console.log(`  ${kind}: ${oneMs} ms for one at a time; ${each} ms of the service's processor time for each`);
}

await Promise.all([ours.close(), theirs.close()]);
bare.disconnect();
rmSync(folder, { recursive: true });

function formOf(audio: Uint8Array): Buffer {
  const part = (head: string) => `--${BOUNDARY}\r\nContent-Disposition: form-data; ${head}\r\n\r\n`;
  const head = `${part('name="async"')}true\r\n${part('name="file"; filename="a.wav"')}`;
  return Buffer.concat([Buffer.from(head), audio, Buffer.from(`\r\n--${BOUNDARY}--\r\n`)]);
}

async function mp3(): Promise<Buffer> {
  await using made = await openTestFolder();
  return readFileSync(await made.encode('a.mp3', new Int16Array(MP3_SECONDS * SAMPLE_RATE), '-b:a', '128k'));
}

type Side = { pool: Pool; form: Buffer; oneMs: number; rates: number[]; processorMs: number[] };

function openSide(pool: Pool, form: Buffer): Side {
  return { pool, form, oneMs: 0, rates: [], processorMs: [] };
}

/** Over all connections at once. */
async function uploadRound(side: Side): Promise<void> {
  let left = UPLOADS_PER_ROUND;
  const startedAtMs = performance.now();
  const usedUs = processorUsOfFamily(service.pid);
  const send = async () => {
    while (left-- > 0) await post(side);
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, send));
  side.rates.push((UPLOADS_PER_ROUND * 1000) / (performance.now() - startedAtMs));
  side.processorMs.push((processorUsOfFamily(service.pid) - usedUs) / 1000 / UPLOADS_PER_ROUND);
}

async function post({ pool, form }: Side): Promise<void> {
  const headers = { 'x-api-key': key, 'content-type': `multipart/form-data; boundary=${BOUNDARY}` };
  const answer = await pool.request({ method: 'POST', path: '/v1/transcribe', headers, body: form });
  const text = await answer.body.text();
  if (answer.statusCode !== 202) throw new Error(`answered ${answer.statusCode}: ${text}`);
}

async function latencyMs(side: Side): Promise<number> {
  const times: number[] = [];
  for (let count = 0; count < UPLOADS_ALONE; count += 1) {
    const startedAtMs = performance.now();
    await post(side);
    times.push(performance.now() - startedAtMs);
  }
  return spread(times).p50;
}
