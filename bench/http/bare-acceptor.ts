// The lower bound for accepting an upload: a bare Fastify that streams the file of a form to the disk, as durably as
// the service does, and answers 202. Runs as a child process and sends its port over the fork's channel.
import { randomUUID } from 'node:crypto';
import { open } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { Busboy } from '@fastify/busboy';
import fastify from 'fastify';

const folder = process.argv[2]!;
const app = fastify();
app.addContentTypeParser('multipart/form-data', async () => undefined);
app.post('/v1/transcribe', async (request, reply) => {
  const kept = Promise.withResolvers<{ sizeBytes: number }>();
  const parser = new Busboy({ headers: { 'content-type': request.headers['content-type']! } });
  parser.on('file', (_name, part) => void keep(part).then(kept.resolve, kept.reject));
  request.raw.pipe(parser);
  return reply.code(202).send({ id: randomUUID(), status: 'queued', ...(await kept.promise) });
});
await app.listen({ host: '127.0.0.1', port: 0 });
process.send!((app.server.address() as AddressInfo).port);
process.on('disconnect', () => process.exit(0));

async function keep(part: Readable): Promise<{ sizeBytes: number }> {
  const handle = await open(path.join(folder, randomUUID()), 'wx', 0o600);
  let sizeBytes = 0;
  for await (const chunk of part as AsyncIterable<Buffer>) {
    sizeBytes += chunk.length;
    await handle.write(chunk);
  }
  await handle.sync();
  await handle.close();
  const directory = await open(folder, 'r');
  await directory.sync();
  await directory.close();
  return { sizeBytes };
}
