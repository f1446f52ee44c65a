// Starts the service once in an empty DATA_DIR, asks for what users open first, and stops it: Node then keeps the compiled code of
// all processes in NODE_COMPILE_CACHE. Building an image runs this; it fails when the service does not become ready.
import { mkdirSync, rmSync } from 'node:fs';
import { freePort, startService } from '../src/demo/service.ts';

const dataDir = process.env['DATA_DIR'] ?? '/tmp/verbatim';
mkdirSync(dataDir, { recursive: true });
const service = await startService({ dataDir, port: await freePort(8080), env: {} });
for (const path of ['/', '/openapi.json', '/healthz']) {
  const { status } = await fetch(service.baseUrl + path);
  if (status !== 200) throw new Error(`${path} was answered ${status}`);
}
await service.stop();
rmSync(dataDir, { recursive: true, force: true });
process.exit(0);
