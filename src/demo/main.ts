import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { verifyDelivery } from '#sdk/webhooks/signature.ts';
import { readConfig } from '../config/settings.ts';
import { ROOT } from '../platform/installation.ts';
import { makeCertificates } from './certificates.ts';
import { demoPort } from './port.ts';
import { type DemoReceiver, startReceiver } from './receiver.ts';
import { readRequest, type TimedWord, timedLines, USAGE } from './request.ts';
import { type DemoService, startService } from './service.ts';

// The demo is a separate program that starts the service, so it reads its own settings.
const DATA_DIR = path.resolve(process.env['DEMO_DATA_DIR'] ?? 'data-demo');
/** What the next demo in this folder continues with: as secret as the keys of the service beside it. */
const ACCOUNT_FILE = path.join(DATA_DIR, 'demo-account.json');
const SAMPLE = path.join(ROOT, 'assets/speech/jfk.wav');
/** How the reason for which jobs wait for the first model begins. */
const NO_MODEL = 'No model yet';
const METADATA = '{"order": 12345678901234567890, "from": "demo"}';

/** Starts the service, transcribes a file and prints the verified webhook; the service then runs until Ctrl-C. */
async function main(args: string[]): Promise<void> {
  const { file: wanted, language } = readRequest(args);
  const file = path.resolve(wanted ?? SAMPLE);
  if (!existsSync(file)) throw new Error(`There is no file ${file}. ${USAGE}`);
  const port = await demoPort(process.env['PORT']);
  mkdirSync(DATA_DIR, { recursive: true, mode: 0o700 });
  if (language !== null) await getModel(language);
  const certificates = makeCertificates({ names: ['localhost'], addresses: ['127.0.0.1'] });
  const receiver = await startReceiver({ key: certificates.key, cert: certificates.cert });
  const service = await startDemoService(port, receiver, certificates.ca);

  const account = (await continueAccount(service, receiver)) ?? (await makeAccount(service, receiver));
  const jobId = await transcribe(service, account.key, { file, language });
  await showDelivery(receiver, account.secret, jobId);
  if (language !== null) await showWords(service, account.key, jobId);
  showWhatNext(service, account);

  await service.ended;
  await receiver.close();
}

/** Where no setting names the engine, which then has its own languages. */
async function getModel(language: string): Promise<void> {
  const { enginePro, hubUrl } = readConfig();
  if (enginePro !== null) return;
  const { getModelFor } = await import('./get-model.ts');
  await getModelFor(language, { dataDir: DATA_DIR, hubUrl });
}

/** The command that works on the data of the demo. */
function demoCommand(): string {
  return `DATA_DIR=${path.relative('', DATA_DIR)} ${readConfig().command}`;
}

async function startDemoService(port: number, receiver: DemoReceiver, caCertificate: string): Promise<DemoService> {
  const caFile = path.join(DATA_DIR, 'demo-ca.pem');
  const usersCaFile = process.env['NODE_EXTRA_CA_CERTS'];
  const usersCas = usersCaFile && existsSync(usersCaFile) ? readFileSync(usersCaFile, 'utf8') : '';
  writeFileSync(caFile, `${caCertificate}\n${usersCas}`);
  say(`Starting Verbatim on port ${port} with its own PostgreSQL, data in ${DATA_DIR}`);
  const startedAtMs = Date.now();
  const service = await startService({
    dataDir: DATA_DIR,
    port,
    env: {
      WEBHOOK_ALLOWED_TARGETS: `127.0.0.1/32:${receiver.port}`,
      NODE_EXTRA_CA_CERTS: caFile,
      VERBATIM_COMMAND: demoCommand(),
    },
    onWaiting: (reasons) => say(`Not ready yet: ${reasons}`),
    // The model comes in the background; jobs wait for it.
    isReady: (reasons) => reasons.every((reason) => reason.startsWith(NO_MODEL)),
  });
  say(`Ready after ${Date.now() - startedAtMs} ms`);
  return service;
}

/** The account and the webhook of an earlier demo in this folder, whose receiver had another port; null without one. */
async function continueAccount(service: DemoService, receiver: DemoReceiver): Promise<DemoAccount | null> {
  const account = readAccount();
  if (account === null) return null;
  const headers = { 'x-api-key': account.key };
  const change = { url: receiver.url, active: true };
  const changed = await send(service, 'PATCH', `/v1/webhooks/${account.webhookId}`, headers, change);
  // The key was revoked or the webhook deleted.
  if ([401, 404].includes(changed.status)) return null;
  resultOf(changed);
  say(`Continued with the account ${account.id}; its webhook ${account.webhookId} is now at ${receiver.url}`);
  return account;
}

/** Null where there is none, or where a demo was killed while it wrote it. */
function readAccount(): DemoAccount | null {
  try {
    const account = JSON.parse(readFileSync(ACCOUNT_FILE, 'utf8')) as Partial<DemoAccount> | null;
    const values = [account?.id, account?.key, account?.webhookId, account?.secret];
    return values.every((value) => typeof value === 'string') ? (account as DemoAccount) : null;
  } catch {
    return null;
  }
}

async function makeAccount(service: DemoService, receiver: DemoReceiver): Promise<DemoAccount> {
  const admin = { authorization: `Bearer ${service.adminToken}` };
  const post = async (route: string, headers: Record<string, string>, body: object) =>
    resultOf(await send(service, 'POST', route, headers, body));
  const { id } = await post('/admin/v1/accounts', admin, { name: 'demo', plan: 'pro' });
  const { key } = await post(`/admin/v1/accounts/${id}/keys`, admin, { name: 'demo' });
  say(`Created a pro account, ${id}, and an API key for it`);
  const events = ['transcription.completed', 'transcription.failed'];
  const webhook = { url: receiver.url, events, description: 'the receiver of the demo' };
  const { id: webhookId, secret } = await post('/v1/webhooks', { 'x-api-key': String(key) }, webhook);
  say(`Registered the webhook ${webhookId} at ${receiver.url}`);
  const account = { id: String(id), key: String(key), webhookId: String(webhookId), secret: String(secret) };
  writeFileSync(ACCOUNT_FILE, `${JSON.stringify(account)}\n`, { mode: 0o600 });
  return account;
}

async function transcribe(
  service: DemoService,
  key: string,
  { file, language }: { file: string; language: string | null },
): Promise<string> {
  const form = new FormData();
  form.append('async', 'true');
  form.append('metadata', METADATA);
  form.append('file', new Blob([readFileSync(file)]), path.basename(file));
  if (language !== null)
    for (const [name, value] of Object.entries({ language, timestamps: 'word' })) form.append(name, value);
  const spoken = language === null ? '' : `language=${language} timestamps=word `;
  say(`POST /v1/transcribe  file=${path.basename(file)} async=true ${spoken}metadata=${METADATA}`);
  const answer = await fetch(`${service.baseUrl}/v1/transcribe`, {
    method: 'POST',
    headers: { 'x-api-key': key },
    body: form,
  });
  const job = (await answer.json()) as { id: string; status: string; error: { message: string } | null };
  if (answer.status !== 202) throw new Error(`The service answered ${answer.status}: ${job.error?.message}`);
  say(`202 Accepted: ${job.id}, ${job.status}`);
  await followJob(service, key, job.id, job.status);
  return job.id;
}

async function followJob(service: DemoService, key: string, id: string, firstStatus: string): Promise<void> {
  let status = firstStatus;
  while (status === 'queued' || status === 'processing') {
    // Four times a second: GET /v1/jobs/:id counts against 600 requests a minute.
    await delay(250);
    const answer = await fetch(`${service.baseUrl}/v1/jobs/${id}`, { headers: { 'x-api-key': key } });
    const job = (await answer.json()) as { status: string; model: string | null; progress: number };
    if (job.status !== status) say(`Job ${job.status}${job.model ? ` with ${job.model}` : ''}`);
    status = job.status;
    if (status === 'queued') await showFetch(service);
  }
}

/** The download of the first model, in a line that a terminal rewrites; elsewhere a line for each model. */
async function showFetch(service: DemoService): Promise<void> {
  // Without the time and the number of jobs.
  const reason = (await reasonsOf(service))[0]?.split(' Since ')[0] ?? '';
  const text = process.stdout.isTTY ? reason : reason.replace(/, \d+ % of/, ',');
  if (text === shownFetch || !reason.startsWith(NO_MODEL)) return;
  shownFetch = text;
  process.stdout.write(process.stdout.isTTY ? `\r\x1b[K• ${text}` : `• ${text}\n`);
}

let shownFetch = '';

async function reasonsOf(service: DemoService): Promise<string[]> {
  const answer = await fetch(`${service.baseUrl}/readyz`);
  return ((await answer.json()) as { reasons?: string[] }).reasons ?? [];
}

async function showDelivery(receiver: DemoReceiver, secret: string, jobId: string): Promise<void> {
  let { headers, body } = await receiver.next();
  // What an earlier demo did not receive comes again.
  while (!body.includes(jobId)) ({ headers, body } = await receiver.next());
  say('The webhook was called:');
  for (const [name, value] of Object.entries(headers)) {
    if (name.startsWith('x-service-') || name.startsWith('webhook-')) console.log(`    ${name}: ${value}`);
  }
  const event = verifyDelivery({ secret, headers, body });
  say('Signature verified: HMAC-SHA256 of timestamp + "." + body with the webhook\'s secret');
  const { job } = (event as { data: { job: DeliveredJob } }).data;
  say(`${event.type}, metadata ${/"metadata":(.*?),"data":/s.exec(body.toString())?.[1] ?? 'none'}`);
  console.log(`\n    ${job.text ?? job.error?.message}\n`);
}

/** The words of the job with the seconds at which they begin. */
async function showWords(service: DemoService, key: string, id: string): Promise<void> {
  const answer = await fetch(`${service.baseUrl}/v1/jobs/${id}`, { headers: { 'x-api-key': key } });
  const { segments } = (await answer.json()) as { segments: { words?: TimedWord[] }[] | null };
  const words = (segments ?? []).flatMap((segment) => segment.words ?? []);
  if (words.length === 0) return;
  say('The words, with the seconds at which they begin:');
  for (const line of timedLines(words)) console.log(`    ${line}`);
  console.log();
}

type DemoAccount = { id: string; key: string; webhookId: string; secret: string };

type DeliveredJob = { text: string | null; model: string | null; error: { message: string } | null };

/** The steps of docs/ten-minutes.md with the address, the account and the key of this service. */
function showWhatNext(service: DemoService, { id, key }: DemoAccount): void {
  const { command } = readConfig();
  console.log(`Verbatim is still running. What you can do next, in a second terminal in this folder:

    export VERBATIM_URL=${service.baseUrl} VERBATIM_API_KEY=${key}

  1  the console: open ${service.baseUrl}/ and paste that key
  2  a file of your own: ${command} transcribe my.mp3
  3  a webhook on this machine: ${command} listen --forward-to localhost:3000
  4  a signature that does not verify: ${command} signature explain request.http
  5  a password in place of the key: ${demoCommand()} accounts invite ${id} --role owner --operator

Each step in full: ${service.baseUrl}/docs/ten-minutes. Ctrl-C stops the service.`);
}

type Answer = { route: string; status: number; json: Record<string, unknown> };

async function send(
  service: DemoService,
  method: string,
  route: string,
  headers: Record<string, string>,
  body: object,
): Promise<Answer> {
  const answer = await fetch(service.baseUrl + route, {
    method,
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { route, status: answer.status, json: (await answer.json()) as Answer['json'] };
}

function resultOf({ route, status, json }: Answer): Answer['json'] {
  if (status >= 400) throw new Error(`${route} answered ${status}: ${JSON.stringify(json['error'])}`);
  return json;
}

function say(text: string): void {
  // Ends the line of a download that a terminal rewrites.
  if (shownFetch && process.stdout.isTTY) console.log();
  shownFetch = '';
  console.log(`• ${text}`);
}

main(process.argv.slice(2)).then(
  () => process.exit(0),
  (error: Error) => {
    console.error(error.message);
    process.exit(1);
  },
);
