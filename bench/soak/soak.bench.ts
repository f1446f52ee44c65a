// Mixed work at half of the capacity for hours: synchronous and asynchronous uploads, some canceled and some without
// audio, live sessions, webhooks of which one fails and one hangs, and the pages of a console. Measured is what grows:
// memory and descriptors of each kind of process, tables, dead rows, the write-ahead log, latencies.
//   npm run bench soak -- [--hours 3] [--rate <uploads a minute, instead of half of the capacity>] [--sessions 1]
//     [--every <seconds between two samples>] [--folder <for soak.md, soak.svg and soak.json>] [--engine tone]
// The results are written at each sample, so that a run can be looked at, and be stopped at any time.
import { mkdirSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { fetchModels } from '../../test/fixtures/fetch-models.ts';
import { openService, type TestService } from '../../test/fixtures/service.ts';
import { SPEECH_MODEL } from '../../test/fixtures/speech-model.ts';
import { openDeliveryFixture, type Watcher } from '../delivery/delivery-fixture.ts';
import { round } from '../figures.ts';
import { type Client, MixedLoad, TIMED } from './load.ts';
import { pictureOf, type Row, tableOf } from './picture.ts';
import { type Sample, takeSample } from './samples.ts';
import { median, type Series, slopeOf } from './slope.ts';

const { values } = parseArgs({
  options: {
    hours: { type: 'string', default: '3' },
    rate: { type: 'string' },
    sessions: { type: 'string', default: '1' },
    every: { type: 'string', default: '60' },
    folder: { type: 'string', default: path.join(os.tmpdir(), 'verbatim-soak') },
    engine: { type: 'string', default: 'speech' },
  },
});
const HOURS = Number(values.hours);
const CAPACITY_SECONDS = 30;
const ACCOUNTS = 4;
// Milliseconds by which a median moves with the load of the machine.
const LATENCY_NOISE_MS = 50;
const MS_PER_HOUR = 3_600_000;
const SPEECH = { ENGINE_LITE: `sherpa-onnx:${SPEECH_MODEL}`, ENGINE_PRO: `sherpa-onnx:${SPEECH_MODEL}` };
const ENV = {
  ...(values.engine === 'speech' && SPEECH),
  AUDIO_RETENTION_HOURS: '0',
  JOB_RETENTION_DAYS: '1',
  RETENTION_DAYS_LITE: '1',
  RETENTION_DAYS_PRO: '1',
  RATE_LIMIT_TRANSCRIBE: 'off',
  RATE_LIMIT_JOBS: 'off',
  RATE_LIMIT_LIVE: 'off',
  RATE_LIMIT_DEFAULT: 'off',
  // The failing webhooks stay, and what waits for their retries reaches its level within a minute.
  WEBHOOK_DISABLE_FAILURES: '1000000',
  WEBHOOK_RETRY_DELAYS: '0,5,15,30',
};

if (values.engine === 'speech') await fetchModels();
await using fixture = await openDeliveryFixture();
const watcher = await fixture.openWatcher();
await using service = await openService({
  ...ENV,
  DATABASE_URL: fixture.server.url,
  WEBHOOK_ALLOWED_TARGETS: `127.0.0.1/32:${watcher.port}`,
  NODE_EXTRA_CA_CERTS: fixture.files.ca,
});
const clients = await Promise.all(Array.from({ length: ACCOUNTS }, (_, at) => openClient(service, watcher, at)));
const load = new MixedLoad(service, clients);
const rate = values.rate === undefined ? await halfOfCapacity() : Number(values.rate);
console.log(`${round(rate)} uploads a minute and ${values.sessions} live sessions, for ${HOURS} hours`);
console.log(`results: ${values.folder}`);

const hours: number[] = [];
const all = new Map<string, Series>();
const startedAtMs = performance.now();
const untilMs = startedAtMs + HOURS * MS_PER_HOUR;
const ended = new AbortController();
void service.ended.then(() => ended.abort());
load.start(rate, Number(values.sessions));
while (performance.now() < untilMs) {
  const pauseMs = Math.min(Number(values.every) * 1000, untilMs - performance.now());
  await delay(Math.max(0, pauseMs), undefined, { signal: ended.signal }).catch(() => undefined);
  if (ended.signal.aborted) break;
  addSample(await sampleNow());
  writeResults();
}
await load.stop();
if (ended.signal.aborted) console.log(`The service has ended, after ${hours.length} samples.`);
else console.log(writeResults());

async function halfOfCapacity(): Promise<number> {
  const capacity = await load.measureCapacity(2 * os.availableParallelism(), CAPACITY_SECONDS);
  console.log(`capacity: ${round(capacity)} jobs a minute`);
  return capacity / 2;
}

async function sampleNow(): Promise<Sample> {
  const sample = await takeSample({
    db: fixture.db,
    servicePid: service.pid,
    postgresPid: fixture.server.pid,
    databaseFolder: path.join(fixture.folder, 'database'),
    dataDir: service.dataDir,
  });
  const times = load.takeTimes(await watcher.take());
  for (const name of TIMED) {
    const found = times.get(name);
    if (found) sample.set(`median ms: ${name}`, { value: median(found), unit: 'ms', noise: LATENCY_NOISE_MS });
  }
  return sample;
}

/** A series begins with the sample that has it first, and has no value where a sample lacks it. */
function addSample(sample: Sample): void {
  hours.push((performance.now() - startedAtMs) / MS_PER_HOUR);
  for (const [name, { unit, noise }] of sample) {
    if (!all.has(name)) all.set(name, { name, unit, noise, values: hours.slice(1).map(() => null) });
  }
  for (const [name, series] of all) series.values.push(sample.get(name)?.value ?? null);
}

/** Writes the table, the picture and the values; returns the table. */
function writeResults(): string {
  const isConstant = ({ values: [first, ...others] }: Series) => others.every((value) => value === first);
  const constant = [...all.values()].filter(isConstant).map(({ name }) => name);
  const rows: Row[] = [...all.values()]
    .filter((series) => !isConstant(series))
    .map((series) => ({ ...series, slope: slopeOf(series, hours) }));
  const grown = rows.filter(({ slope }) => slope.verdict === 'grows');
  const failures = [...load.failures].map(([what, count]) => `- ${count} times: ${what}`);
  const text = [
    `# Soak of ${round(hours.at(-1)!)} hours`,
    '',
    `${load.begun} uploads and sessions, at ${round(rate)} uploads a minute; ${hours.length} samples.`,
    `Grow: ${grown.map(({ name }) => name).join(', ') || 'none'}. Unexpected answers: ${failures.length === 0 ? 'none' : ''}`,
    ...failures,
    '',
    tableOf(rows),
    `Constant: ${constant.join(', ') || 'none'}.`,
    '',
  ].join('\n');
  mkdirSync(values.folder, { recursive: true });
  writeFileSync(path.join(values.folder, 'soak.md'), text);
  writeFileSync(path.join(values.folder, 'soak.svg'), pictureOf(rows, hours));
  writeFileSync(path.join(values.folder, 'soak.json'), JSON.stringify({ hours, series: [...all.values()] }));
  return text;
}

/** An account with a webhook that works; the first two have one that fails and one that hangs as well. */
async function openClient(of: TestService, receiver: Watcher, at: number): Promise<Client> {
  const account = await of.account({ plan: at < 2 ? 'pro' : 'lite' });
  const webhookIds: string[] = [];
  for (const route of ['/ok', ...(at === 0 ? ['/failing'] : at === 1 ? ['/hang'] : [])]) {
    const answer = await fetch(`${of.baseUrl}/v1/webhooks`, {
      method: 'POST',
      headers: { 'x-api-key': account.key, 'content-type': 'application/json' },
      body: JSON.stringify({ url: receiver.url(route), events: ['transcription.completed', 'transcription.failed'] }),
    });
    if (answer.status !== 201) throw new Error(`no webhook: ${answer.status} ${await answer.text()}`);
    webhookIds.push(((await answer.json()) as { id: string }).id);
  }
  return { ...account, webhookIds };
}
