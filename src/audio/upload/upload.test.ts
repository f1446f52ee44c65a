import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import test from 'node:test';
import { setImmediate as nextEventLoopTurn } from 'node:timers/promises';
import { openManualClock } from '../../../test/fixtures/manual-clock.ts';
import { randomFrom } from '../../../test/fixtures/random.ts';
import { until } from '../../../test/fixtures/until.ts';
import { type ApiError, BodyTimeoutError, type ErrorType } from '../../http/api-error.ts';
import { systemClock } from '../../platform/clock.ts';
import { openFileStorage } from '../storage/storage.ts';
import { acceptUpload } from './upload.ts';

const LIMITS = { maxFileBytes: 1000, fieldBytes: { plan: 10, metadata: 20 }, maxStallMs: 60_000, minFreeDiskBytes: 0 };
const MEBIBYTE = 2 ** 20;
const TYPE = 'multipart/form-data; boundary=xx';

async function openEnvironment() {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'accept-'));
  const storage = await openFileStorage(folder);
  return {
    storage,
    accept: (stream: Readable, options: Partial<Parameters<typeof acceptUpload>[0]> = {}) =>
      acceptUpload({
        open: () => stream,
        contentType: TYPE,
        contentLength: null,
        rawQuery: null,
        storage,
        limits: LIMITS,
        clock: systemClock,
        wantsFingerprint: true,
        ...options,
      }),
    files: () => readdir(folder),
    read: async (key: string) => readFile((await storage.localPath(key)).path, 'latin1'),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true }),
  };
}

const file = (bytes = 'audio', name = 'file') =>
  `--xx\r\nContent-Disposition: form-data; name="${name}"; filename="a.wav"\r\n\r\n${bytes}\r\n`;
const field = (name: string, value: string, type = '') =>
  `--xx\r\nContent-Disposition: form-data; name="${name}"${type && `\r\nContent-Type: ${type}`}\r\n\r\n${value}\r\n`;
const END = '--xx--\r\n';
/** latin1, so that a test can write every byte value. */
const bodyOf = (...parts: string[]) => Readable.from([Buffer.from(parts.join(''), 'latin1')], { objectMode: false });

test('the file and the fields before and after it are accepted', async () => {
  await using fixture = await openEnvironment();

  const upload = await fixture.accept(
    bodyOf(field('plan', 'pro'), file('s\r\n--x', 'any'), field('metadata', '{}'), END),
  );

  assert.deepEqual(Object.fromEntries(upload.fields), { plan: 'pro', metadata: '{}' });
  assert.equal(upload.file!.filename, 'a.wav');
  assert.equal(upload.file!.sizeBytes, 6);
  assert.equal(await fixture.read(upload.file!.key), 's\r\n--x');
});

test('the charset of a part does not change the bytes of its field', async () => {
  await using fixture = await openEnvironment();
  const value = Buffer.from('"é"', 'utf8').toString('latin1');

  const upload = await fixture.accept(bodyOf(field('metadata', value, 'text/plain; charset=utf-16le'), file(), END));

  assert.equal(upload.fields.get('metadata'), '"é"');
});

test('a path and control characters are removed from the file name', async () => {
  await using fixture = await openEnvironment();
  const part = '--xx\r\nContent-Disposition: form-data; name="f"; filename="../../etc/a\tb.wav"\r\n\r\nx\r\n';

  const upload = await fixture.accept(bodyOf(part, END));

  assert.equal(upload.file!.filename, 'ab.wav');
});

const REFUSED: {
  title: string;
  body: string;
  contentType?: string;
  contentLength?: number;
  is: [ErrorType, string?];
}[] = [
  { title: 'not multipart', body: '{}', contentType: 'application/json', is: ['unsupported_media_type'] },
  {
    title: 'urlencoded',
    body: 'a=b',
    contentType: 'application/x-www-form-urlencoded',
    is: ['unsupported_media_type'],
  },
  { title: 'no boundary', body: file(), contentType: 'multipart/form-data', is: ['invalid_request'] },
  { title: 'no file', body: field('plan', 'pro') + END, is: ['invalid_request', 'file'] },
  { title: 'two files', body: file() + file('more', 'b') + END, is: ['invalid_request', 'b'] },
  { title: 'an unknown field', body: file() + field('speed', '2') + END, is: ['invalid_request', 'speed'] },
  {
    title: 'the name of the file, without its bytes',
    body: field('file', 'speech.mp3') + END,
    is: ['invalid_request', 'file'],
  },
  {
    title: 'a field of the prototype',
    body: file() + field('toString', '2') + END,
    is: ['invalid_request', 'toString'],
  },
  {
    title: 'a field twice',
    body: field('plan', 'a') + field('plan', 'a') + file() + END,
    is: ['invalid_request', 'plan'],
  },
  { title: 'a field too long', body: file() + field('metadata', '1'.repeat(21)) + END, is: ['too_large', 'metadata'] },
  {
    title: 'bytes that are not UTF-8',
    body: file() + field('metadata', '"\xff"') + END,
    is: ['invalid_request', 'metadata'],
  },
  { title: 'a file too large', body: file('x'.repeat(1001)) + END, is: ['too_large', 'file'] },
  { title: 'a declared length too large', body: file() + END, contentLength: 140_000, is: ['too_large', 'file'] },
  { title: 'an endless preamble', body: 'x'.repeat(140_000) + file() + END, is: ['too_large', 'file'] },
  { title: 'an endless epilogue', body: file() + END + 'x'.repeat(140_000), is: ['too_large', 'file'] },
  { title: 'an empty file', body: file('') + END, is: ['unprocessable_audio', 'file'] },
  { title: 'an empty body', body: '', is: ['invalid_request'] },
  { title: 'no closing boundary', body: file(), is: ['invalid_request'] },
  { title: 'a body that ends inside the file', body: file().slice(0, -4), is: ['invalid_request'] },
  {
    title: 'a part without a name',
    body: '--xx\r\nContent-Disposition: form-data\r\n\r\nx\r\n' + file() + END,
    is: ['invalid_request'],
  },
  { title: 'too many parts', body: file() + '--xx\r\n\r\nx\r\n'.repeat(170) + END, is: ['invalid_request'] },
];
for (const { title, body, contentType = TYPE, contentLength = null, is } of REFUSED) {
  test(`${title} is refused and leaves nothing`, async () => {
    await using fixture = await openEnvironment();

    const refusal = await fixture
      .accept(bodyOf(body), { contentType, contentLength })
      .catch((error: ApiError) => error);

    assert.deepEqual([(refusal as ApiError).type, (refusal as ApiError).param], [is[0], is[1]]);
    assert.deepEqual(await fixture.files(), []);
  });
}

test('a file and a field of exactly the largest size are accepted', async () => {
  await using fixture = await openEnvironment();

  const upload = await fixture.accept(bodyOf(field('metadata', '1'.repeat(20)), file('x'.repeat(1000)), END));

  assert.equal(upload.file!.sizeBytes, 1000);
});

test('an upload that the caller aborts leaves nothing', async () => {
  await using fixture = await openEnvironment();
  const stream = new PassThrough();
  const accepting = fixture.accept(stream);
  stream.write(file('half of the sou').slice(0, -2));

  stream.destroy(new Error('aborted'));

  await assert.rejects(accepting, { type: 'invalid_request' });
  assert.deepEqual(await fixture.files(), []);
});

test('an upload that stalls is refused and leaves nothing', async () => {
  await using fixture = await openEnvironment();
  const stream = new PassThrough();
  stream.write(file('half of the sou').slice(0, -2));

  const accepting = fixture.accept(stream, { limits: { ...LIMITS, maxStallMs: 30 } });

  await assert.rejects(accepting, { type: 'invalid_request', message: /stalled/ });
  assert.deepEqual(await fixture.files(), []);
});

test('an upload that averages less than 8 KiB/s after its first minute is ended and leaves nothing', async () => {
  await using fixture = await openEnvironment();
  const clock = openManualClock();
  const stream = new PassThrough();
  const limits = { ...LIMITS, maxFileBytes: 2 ** 20 };
  let isEnded = false;
  const accepting = fixture.accept(stream, { clock, limits }).finally(() => {
    isEnded = true;
  });
  accepting.catch(() => undefined);
  stream.write(file('x'.repeat(60 * 8 * 1024)).slice(0, -2));
  await until('the file to begin', async () => (await fixture.files()).length === 1);

  await clock.advance(60_000);
  assert.equal((await fixture.files()).length, 1, 'a minute at 8 KiB/s is fast enough');
  // Time in which the disk holds the stream back does not count, so that one more step may not be enough.
  await until('the upload to be ended', async () => {
    await clock.advance(5_000);
    return isEnded;
  });

  await assert.rejects(accepting, BodyTimeoutError);
  assert.deepEqual(await fixture.files(), []);
});

test('time in which the sender waits for the storage does not count towards its pace', async () => {
  await using fixture = await openEnvironment();
  const clock = openManualClock();
  const stream = new PassThrough();
  const disk = Promise.withResolvers<void>();
  const slowStorage: typeof fixture.storage = {
    ...fixture.storage,
    async receive(bytes, limits) {
      await disk.promise;
      return await fixture.storage.receive(bytes, limits);
    },
  };
  const limits = { ...LIMITS, maxFileBytes: 2 ** 20, maxStallMs: 30 };
  const accepting = fixture.accept(stream, { clock, limits, storage: slowStorage });
  stream.end(file('x'.repeat(300_000)) + END);
  await until('the stream to pause', () => stream.isPaused());

  await clock.advance(3_600_000);
  disk.resolve();

  assert.equal((await accepting).file!.sizeBytes, 300_000);
});

test('an upload is refused when the disk falls below the reserve, and its file is removed', async () => {
  await using fixture = await openEnvironment();
  const diskBytes = 64 * MEBIBYTE;
  const reserveBytes = 16 * MEBIBYTE;
  let writtenBytes = 0;
  async function* counted(bytes: AsyncIterable<Uint8Array>) {
    for await (const chunk of bytes) {
      writtenBytes += chunk.length;
      yield chunk;
    }
  }
  const storage: typeof fixture.storage = {
    ...fixture.storage,
    receive: (bytes, limits) => fixture.storage.receive(counted(bytes), limits),
    freeBytes: async () => diskBytes - writtenBytes,
  };
  async function* endless() {
    yield Buffer.from(file('').slice(0, -2));
    for (;;) {
      yield Buffer.alloc(MEBIBYTE);
      // As with a socket, pending writes run between two chunks.
      await nextEventLoopTurn();
    }
  }
  const stream = Readable.from(endless(), { objectMode: false });
  const limits = { ...LIMITS, maxFileBytes: 2 ** 30, minFreeDiskBytes: reserveBytes };

  const accepting = fixture.accept(stream, { storage, limits });

  await assert.rejects(accepting, { type: 'unavailable', headers: { 'retry-after': '60' } });
  stream.destroy();
  assert.deepEqual(await fixture.files(), []);
  assert.ok(writtenBytes < diskBytes, 'before the disk is full');
});

test('a refused upload does not consume the rest of the body, so that the caller can respond', async () => {
  await using fixture = await openEnvironment();
  const stream = new PassThrough();
  stream.write(field('speed', '2'));

  await assert.rejects(fixture.accept(stream), { param: 'speed' });

  assert.equal(stream.destroyed, false);
  assert.equal(stream.listenerCount('data'), 0);
});

test('memory does not grow with the file', async () => {
  await using fixture = await openEnvironment();
  const chunk = Buffer.alloc(64 * 1024, 7);
  let peakBytes = 0;
  async function* large() {
    yield Buffer.from(file('').slice(0, -2));
    for (let i = 0; i < 2048; i++) {
      yield chunk;
      peakBytes = Math.max(peakBytes, process.memoryUsage().arrayBuffers);
    }
    yield Buffer.from(`\r\n${END}`);
  }
  const beforeBytes = process.memoryUsage().arrayBuffers;

  const stream = Readable.from(large(), { objectMode: false });
  const upload = await fixture.accept(stream, { limits: { ...LIMITS, maxFileBytes: 2 ** 30 } });

  assert.equal(upload.file!.sizeBytes, 2048 * chunk.length);
  assert.ok(peakBytes - beforeBytes < 32 * 2 ** 20, `${peakBytes - beforeBytes} bytes more`);
});

const FLOODS = [
  { what: 'a header of a part', start: '--xx\r\nX-Long: ' },
  { what: 'the headers of a part', start: '--xx\r\n', line: 'x-a: b\r\n' },
  { what: 'the preamble', start: '' },
  { what: 'the epilogue', start: file() + END },
];
for (const { what, start, line = 'x' } of FLOODS) {
  test(`memory does not grow with ${what}`, async () => {
    await using fixture = await openEnvironment();
    const chunk = Buffer.from(line.repeat(65_536 / line.length));
    let peakBytes = 0;
    async function* flood() {
      yield Buffer.from(start);
      for (let i = 0; i < 1024; i++) {
        yield chunk;
        const { arrayBuffers, heapUsed } = process.memoryUsage();
        peakBytes = Math.max(peakBytes, arrayBuffers + heapUsed);
        await nextEventLoopTurn();
      }
    }
    const { arrayBuffers, heapUsed } = process.memoryUsage();
    const stream = Readable.from(flood(), { objectMode: false });

    const limits = { ...LIMITS, maxFileBytes: 2 ** 30 };
    // An epilogue is allowed.
    const upload = await fixture.accept(stream, { limits }).catch(() => null);

    const grownBytes = peakBytes - arrayBuffers - heapUsed;
    assert.ok(grownBytes < 48 * MEBIBYTE, `${grownBytes} bytes more`);
    assert.deepEqual(await fixture.files(), upload ? [upload.file!.key] : []);
  });
}

test('each of 200 malformed bodies is accepted or refused, and nothing stays on disk', async () => {
  await using fixture = await openEnvironment();
  const random = randomFrom(20261121);
  let accepted = 0;

  for (let round = 0; round < 200; round++) {
    const outcome = await fixture.accept(malformedStream(random)).catch((error: unknown) => error);
    if (outcome instanceof Error) assert.equal(outcome.name, 'ApiError', `round ${round}: ${outcome.stack}`);
    else if (++accepted) await fixture.storage.remove((outcome as { file: { key: string } }).file.key);
    assert.deepEqual(await fixture.files(), [], `round ${round}`);
  }
  assert.ok(accepted > 10 && accepted < 190, `${accepted} of 200 were accepted`);
});

/** A form of random parts with a few random defects, in chunks of random size, sometimes truncated. */
function malformedStream(random: ReturnType<typeof randomFrom>): Readable {
  const invalid = [field('metadata', '\xc3\x28'), field('', 'x'), file('y'), field('speed', '2')];
  const parts = [field('plan', 'pro'), file('x'.repeat(random.integer(1200))), field('metadata', '{}')];
  if (random.next() < 0.3) parts[random.integer(parts.length)] = random.pick(invalid);
  let body = parts.join('') + random.pick([END, END, END, END, '', '--xx']);
  for (let i = random.integer(3); i > 0; i--) {
    const at = random.integer(body.length + 1);
    const junk = random.pick(['\r\n', '\r', '\n', '--xx\r\n', '--xx--', '\0', '"', ';', '\xff', ': ', 'filename="']);
    body = body.slice(0, at) + junk + body.slice(at + random.integer(12));
  }
  const bytes = Buffer.from(body, 'latin1');
  const truncatedAt = random.next() < 0.2 ? random.integer(bytes.length + 1) : -1;
  async function* chunks() {
    for (let at = 0; at < bytes.length; ) {
      const size = 1 + random.integer(200);
      if (truncatedAt >= 0 && at >= truncatedAt) throw new Error('aborted');
      yield bytes.subarray(at, at + size);
      at += size;
    }
  }
  return Readable.from(chunks(), { objectMode: false });
}

test('the fingerprint does not depend on the order of the parts and the boundary', async () => {
  await using fixture = await openEnvironment();
  const [plan, metadata] = [field('plan', 'pro'), field('metadata', '{}')];
  const same = [
    [plan, metadata, file(), END],
    [file(), metadata, plan, END],
    [metadata, file('audio', 'other'), plan, END],
  ];
  const different = [
    [plan, metadata, file('Audio'), END],
    [plan, file(), END],
    [field('plan', 'lite'), metadata, file(), END],
    [field('plan', '{}'), field('metadata', 'pro'), file(), END],
  ];

  const sames = await Promise.all(same.map(async (parts) => (await fixture.accept(bodyOf(...parts))).fingerprint));
  const others = await Promise.all(
    different.map(async (parts) => (await fixture.accept(bodyOf(...parts))).fingerprint),
  );
  const stream = Readable.from([Buffer.from([plan, metadata, file(), END].join('').replaceAll('--xx', '--yyy'))], {
    objectMode: false,
  });
  const otherBoundary = await fixture.accept(stream, { contentType: 'multipart/form-data; boundary=yyy' });

  assert.equal(new Set([...sames, otherBoundary.fingerprint]).size, 1);
  assert.equal(new Set([sames[0], ...others]).size, different.length + 1);
});

test('a repeated field is accepted as a list where allowed, otherwise refused', async () => {
  await using fixture = await openEnvironment();
  const limits = { ...LIMITS, listFields: ['plan'] };
  const parts = [field('plan', 'a'), field('plan', 'b'), file()];

  const { lists } = await fixture.accept(bodyOf(...parts, END), { limits });

  assert.deepEqual(lists.get('plan'), ['a', 'b']);
  await assert.rejects(fixture.accept(bodyOf(...parts, END)), { type: 'invalid_request', param: 'plan' });
});
