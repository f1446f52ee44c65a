// A disk with a volatile write cache, as a file: node cut-disk.ts <file> <bytes> mounts itself over the file and speaks
// the kernel's FUSE protocol (uapi/linux/fuse.h). What is written is in the cache until a flush. A message
// { cut: seed } makes it lose about half of the blocks in the cache, as a disk may that writes them in any order, and
// ignore all writes until a message { revive: true }.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { promisify } from 'node:util';
import { randomFrom } from '../../fixtures/random.ts';

const BLOCK_BYTES = 4096;
const MAX_WRITE_BYTES = 131_072;
const IN_HEADER_BYTES = 40;
const OUT_HEADER_BYTES = 16;
const OPCODE = { forget: 2, getattr: 3, open: 14, read: 15, write: 16, statfs: 17, release: 18, fsync: 20, init: 26 };
const WITHOUT_REPLY = [OPCODE.forget, 36, 42];
const ENOSYS = 38;
const NO_BYTES = Buffer.alloc(0);

const [file = '', bytes = ''] = process.argv.slice(2);
const durable = new Map<number, Buffer>();
const cached = new Map<number, Buffer>();
let isDead = false;

const read = promisify(fs.read);
const write = promisify(fs.write);
const device = fs.openSync('/dev/fuse', 'r+');
const options = `fd=3,rootmode=100600,user_id=0,group_id=0,max_read=${MAX_WRITE_BYTES}`;
const mount = spawnSync('mount', ['-i', '-t', 'fuse', '-o', options, 'cut-disk', file], {
  stdio: ['ignore', 'ignore', 'inherit', device],
});
if (mount.status !== 0) process.exit(1);
process.on('message', (message: { cut?: number; revive?: boolean }) => {
  if (message.cut !== undefined) cut(message.cut);
  if (message.revive) isDead = false;
  process.send!({});
});
process.on('disconnect', () => process.exit());
void serve();

async function serve(): Promise<void> {
  const request = Buffer.alloc(2 * MAX_WRITE_BYTES);
  for (;;) {
    // Fails when the file is unmounted.
    const { bytesRead } = await read(device, request, 0, request.length, null).catch(() => process.exit());
    const opcode = request.readUInt32LE(4);
    if (WITHOUT_REPLY.includes(opcode)) continue;
    const body = answer(opcode, request.subarray(IN_HEADER_BYTES, bytesRead));
    const reply = Buffer.alloc(OUT_HEADER_BYTES + (body?.length ?? 0));
    reply.writeUInt32LE(reply.length, 0);
    reply.writeInt32LE(body ? 0 : -ENOSYS, 4);
    request.copy(reply, 8, 8, 16);
    body?.copy(reply, OUT_HEADER_BYTES);
    // A request that was interrupted takes no reply.
    await write(device, reply).catch(() => undefined);
  }
}

/** The body of the reply; null for what this disk does not know. */
function answer(opcode: number, body: Buffer): Buffer | null {
  if (opcode === OPCODE.init) return initOut();
  if (opcode === OPCODE.getattr) return attributesOut();
  // Without the kernel's page cache: open_flags has FOPEN_DIRECT_IO.
  if (opcode === OPCODE.open) return fields(16, [8, 1]);
  if (opcode === OPCODE.statfs) return fields(80, [40, BLOCK_BYTES]);
  if (opcode === OPCODE.release) return NO_BYTES;
  const [at, size] = body.length >= 20 ? [Number(body.readBigUInt64LE(8)), body.readUInt32LE(16)] : [0, 0];
  if (opcode === OPCODE.read) return readBytes(at, size);
  if (opcode === OPCODE.write) {
    if (!isDead) writeBytes(at, body.subarray(body.length - size));
    return fields(8, [0, size]);
  }
  if (opcode !== OPCODE.fsync) return null;
  if (!isDead) flush();
  return NO_BYTES;
}

function fields(length: number, ...values: [at: number, value: number][]): Buffer {
  const out = Buffer.alloc(length);
  for (const [at, value] of values) out.writeUInt32LE(value, at);
  return out;
}

/** Version 7.31, with writes of up to 32 pages (FUSE_BIG_WRITES and FUSE_MAX_PAGES). */
function initOut(): Buffer {
  const out = fields(64, [0, 7], [4, 31], [12, (1 << 5) | (1 << 22)], [20, MAX_WRITE_BYTES], [24, 1]);
  out.writeUInt16LE(MAX_WRITE_BYTES / BLOCK_BYTES, 28);
  return out;
}

function attributesOut(): Buffer {
  const [ino, size, mode, links, blockSize] = [16, 24, 76, 80, 96];
  const out = fields(104, [ino, 1], [mode, 0o100600], [links, 1], [blockSize, BLOCK_BYTES]);
  out.writeBigUInt64LE(BigInt(bytes), size);
  return out;
}

function readBytes(at: number, size: number): Buffer {
  const out = Buffer.alloc(size);
  for (let done = 0; done < size; ) {
    const [index, from] = [Math.floor((at + done) / BLOCK_BYTES), (at + done) % BLOCK_BYTES];
    const block = cached.get(index) ?? durable.get(index);
    block?.copy(out, done, from);
    done += BLOCK_BYTES - from;
  }
  return out;
}

function writeBytes(at: number, given: Buffer): void {
  for (let done = 0; done < given.length; ) {
    const [index, from] = [Math.floor((at + done) / BLOCK_BYTES), (at + done) % BLOCK_BYTES];
    const block = cached.get(index) ?? Buffer.from(durable.get(index) ?? Buffer.alloc(BLOCK_BYTES));
    done += given.copy(block, from, done);
    cached.set(index, block);
  }
}

function flush(): void {
  for (const [index, block] of cached) durable.set(index, block);
  cached.clear();
}

function cut(seed: number): void {
  isDead = true;
  const random = randomFrom(seed);
  for (const [index, block] of cached) if (random.next() < 0.5) durable.set(index, block);
  cached.clear();
}
