// Growth of the service's memory while 1 GiB is uploaded: the http process and the parent, sampled from /proc.
import { readFileSync, readlinkSync } from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { openService } from '../../test/fixtures/service.ts';
import { startServiceDatabase } from '../database.ts';
import { report, round } from '../figures.ts';
import { childrenOf } from '../processor-time.ts';

const CHUNK_BYTES = 256 * 1024;
// Whole chunks, and with the head of the WAV within MAX_UPLOAD_BYTES.
const UPLOAD_BYTES = 2 ** 30 - CHUNK_BYTES;
const SAMPLE_EVERY_MS = 50;

await using database = await startServiceDatabase();
await using service = await openService({ ...database.env, LOG_LEVEL: 'warn' });
const { key } = await service.account();
const pids = nodeProcessesOf(service.pid);
await upload(4 * CHUNK_BYTES);
const beforeMiB = residentMiB(pids);
let peakMiB = beforeMiB;
const sampler = setInterval(() => {
  peakMiB = Math.max(peakMiB, residentMiB(pids));
}, SAMPLE_EVERY_MS);
const startedAtMs = performance.now();
const status = await upload(UPLOAD_BYTES);
clearInterval(sampler);
const seconds = (performance.now() - startedAtMs) / 1000;
report('memory more during a 1 GiB upload, MiB', String(round(peakMiB - beforeMiB)), '<= 64');
console.log(
  `  answered ${status} after ${round(seconds)} s, ${round(UPLOAD_BYTES / 2 ** 20 / seconds)} MiB/s; at rest ${round(beforeMiB)} MiB`,
);

/** Posts that many bytes of a silent WAV, with back-pressure; the status of the answer. */
async function upload(bytes: number): Promise<number> {
  const boundary = 'verbatim-bench';
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="async"\r\n\r\ntrue\r\n--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="big.wav"\r\n\r\n`;
  const url = new URL('/v1/transcribe', service.baseUrl);
  const request = http.request(url, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': `multipart/form-data; boundary=${boundary}` },
  });
  const answered = new Promise<number>((resolve, reject) => {
    request.once('error', reject);
    request.once('response', (response) => response.resume().once('end', () => resolve(response.statusCode!)));
  });
  request.write(head);
  request.write(wavHeader(bytes));
  const chunk = Buffer.alloc(CHUNK_BYTES);
  for (let sent = 0; sent < bytes; sent += CHUNK_BYTES) {
    if (!request.write(chunk)) await new Promise((resolve) => request.once('drain', resolve));
  }
  request.end(`\r\n--${boundary}--\r\n`);
  return await answered;
}

/** 96 kHz, 8 channels, 16 bit: a gibibyte of it is 11 minutes, within MAX_AUDIO_SECONDS. */
function wavHeader(bytes: number): Buffer {
  const header = Buffer.alloc(44);
  header.write('RIFF', 0);
  header.writeUInt32LE(36 + bytes, 4);
  header.write('WAVEfmt ', 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(8, 22);
  header.writeUInt32LE(96_000, 24);
  header.writeUInt32LE(96_000 * 16, 28);
  header.writeUInt16LE(16, 32);
  header.writeUInt16LE(16, 34);
  header.write('data', 36);
  header.writeUInt32LE(bytes, 40);
  return header;
}

function nodeProcessesOf(parentPid: number): number[] {
  return [parentPid, ...childrenOf(parentPid).filter(isNode)];
}

/** By its program: the name in /proc/<pid>/stat is that of a thread. */
function isNode(pid: number): boolean {
  return path.basename(readlinkSync(`/proc/${pid}/exe`)) === 'node';
}

function residentMiB(pids: number[]): number {
  const kib = pids.map((pid) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0));
  return kib.reduce((sum, one) => sum + one, 0) / 1024;
}
