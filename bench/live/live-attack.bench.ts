// The time that another account waits, and the memory of the HTTP process, while one account does at once what costs it
// next to nothing: far gaps, messages of 4 MiB of audio and of JSON, floods of frames, and messages that are not whole.
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import net from 'node:net';
import { isMainThread, Worker, workerData } from 'node:worker_threads';
import { openService } from '../../test/fixtures/service.ts';
import { report, round, spread } from '../figures.ts';
import { httpProcessOf } from '../http-process.ts';

const CALM_MS = 5_000;
const ATTACK_MS = 12_000;
const PAUSE_MS = 20;
const ANSWER_MAX_MS = 15_000;
const SAMPLE_EVERY_MS = 50;
const MIB = 2 ** 20;
const FRAMES = { text: 0x81, binary: 0x82, unfinished: 0x01 } as const;
const SMALL_FLOOD = Buffer.concat(Array<Buffer>(2_000).fill(frame('text', Buffer.from('{}'))));
const OBJECTS = frame('text', Buffer.from(`{"type":"x","a":[${'{},'.repeat(1_390_000)}{}]}`));
const AUDIO = frame(
  'text',
  Buffer.from(JSON.stringify({ type: 'input_audio_buffer.append', audio: randomBytes(3.1e6).toString('base64') })),
);
const MULAW = frame(
  'text',
  Buffer.from(
    '{"type":"session.update","session":{"type":"transcription","audio":{"input":{"format":{"type":"audio/pcmu"}}}}}',
  ),
);
const KEYWORDS = frame(
  'text',
  Buffer.from(
    `{"type":"session.update","session":{"audio":{"input":{"transcription":{"keywords":["${'A'.repeat(4 * MIB)}"]}}}}}`,
  ),
);
const GAP_SECONDS = 595;

/** Where the attack goes, and by whose key. */
type Target = { baseUrl: string; key: string };

if (isMainThread) await run();
else await attackAll(workerData as Target);

async function run(): Promise<void> {
  await using service = await openService({ LOG_LEVEL: 'warn', RATE_LIMIT_LIVE: 'off', RATE_LIMIT_DEFAULT: 'off' });
  const reader = { baseUrl: service.baseUrl, key: (await service.account()).key };
  const attacker = { baseUrl: service.baseUrl, key: (await service.account({ plan: 'pro', credits: 100 })).key };
  await measure(reader, 2_000);
  const calm = spread(await measure(reader, CALM_MS));
  const before = residentMiB(service.pid);
  let peak = before;
  using _sampler = setInterval(() => {
    peak = Math.max(peak, residentMiB(service.pid));
  }, SAMPLE_EVERY_MS);
  const attack = new Worker(new URL(import.meta.url), { workerData: attacker });
  const times = await measure(reader, ATTACK_MS);
  await attack.terminate();
  const attacked = spread(times);
  report('calm: p50, p99, max', `${calm.p50}, ${calm.p99}, ${calm.max} ms`, 'none');
  report('attacked: p50, p99, max', `${attacked.p50}, ${attacked.p99}, ${attacked.max} ms`, 'p99 at most 3 times that');
  report('attacked: answers a second', `${round(times.length / (ATTACK_MS / 1_000))}`, 'none');
  report('resident memory: before, peak', `${before}, ${peak} MiB`, 'at most 200 MiB more');
}

/** Times of requests of another account, one after another, in milliseconds. */
async function measure({ baseUrl, key }: Target, forMs: number): Promise<number[]> {
  const times: number[] = [];
  const endMs = performance.now() + forMs;
  while (performance.now() < endMs) {
    const startMs = performance.now();
    await fetch(`${baseUrl}/v1/account`, {
      headers: { 'x-api-key': key },
      signal: AbortSignal.timeout(ANSWER_MAX_MS),
    })
      .then((answer) => answer.arrayBuffer())
      .catch(() => undefined);
    times.push(performance.now() - startMs);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  return times;
}

async function attackAll(target: Target): Promise<void> {
  const repeated = async (count: number, each: () => Promise<void>) => {
    const loop = async () => {
      while (true) await each().catch(() => undefined);
    };
    await Promise.all(Array.from({ length: count }, loop));
  };
  const realtime = (frames: Buffer[], staysMs: number) => () =>
    send(target, '/v1/realtime?intent=transcription', frames, staysMs);
  const all = [
    () => repeated(6, () => gap(target)),
    () => repeated(2, realtime([MULAW, AUDIO], 3_000)),
    () => repeated(6, realtime(Array<Buffer>(8).fill(OBJECTS), 3_000)),
    () => repeated(2, realtime([KEYWORDS], 5_000)),
    () => repeated(20, realtime(Array<Buffer>(4).fill(SMALL_FLOOD), 5_000)),
    () => repeated(30, realtime([frame('unfinished', Buffer.alloc(4 * MIB, 'x'))], 10_000)),
  ];
  await Promise.all(all.map((each) => each()));
}

/** A session of 10 ms of audio and a gap of ten minutes. */
async function gap(target: Target): Promise<void> {
  const answer = await fetch(`${target.baseUrl}/v1/live`, {
    method: 'POST',
    headers: { 'x-api-key': target.key, 'content-type': 'application/json' },
    body: JSON.stringify({ encoding: 'mulaw', sample_rate: 8_000 }),
  });
  const created = (await answer.json()) as { path?: string; token?: string };
  if (!created.path) return await pause(500);
  const messages = [
    frame('binary', Buffer.alloc(80, 0xff)),
    frame('text', Buffer.from(JSON.stringify({ type: 'gap', to: GAP_SECONDS * 8_000 }))),
    frame('text', Buffer.from('{"type":"finish"}')),
  ];
  await send(target, `${created.path}?token=${created.token}`, messages, 1_000);
}

/** Opens a WebSocket, sends frames, and stays for a while. What comes back is dropped. */
async function send({ baseUrl, key }: Target, path: string, frames: Buffer[], staysMs: number): Promise<void> {
  const { hostname, port } = new URL(baseUrl);
  const socket = net.connect({ host: hostname, port: Number(port) });
  socket.on('error', () => undefined);
  const isOpen = new Promise<void>((resolve) => socket.once('data', () => resolve()));
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  socket.on('data', () => undefined);
  socket.write(
    `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nX-API-Key: ${key}\r\n` +
      `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${randomBytes(16).toString('base64')}\r\n\r\n`,
  );
  await Promise.race([isOpen, closed]);
  for (const each of frames) socket.write(each);
  await Promise.race([closed, pause(staysMs)]);
  socket.destroy();
  await pause(100);
}

/** A frame as a client sends it, masked with zeros. */
function frame(kind: keyof typeof FRAMES, payload: Buffer): Buffer {
  const head = Buffer.alloc(payload.length < 126 ? 6 : 14);
  head[0] = FRAMES[kind];
  if (payload.length < 126) head[1] = 0x80 | payload.length;
  else {
    head[1] = 0x80 | 127;
    head.writeBigUInt64BE(BigInt(payload.length), 2);
  }
  return Buffer.concat([head, payload]);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function residentMiB(pid: number): number {
  // A process that has ended is started again.
  const status = readFileSync(`/proc/${httpProcessOf(pid)}/status`, 'utf8');
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1_024);
}
