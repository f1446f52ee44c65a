// Starts the service once from its bundle, with an empty DATA_DIR, asks for what users open first, and stops it.
// Building an image runs this; it fails when the service does not become ready.
import { mkdirSync, rmSync } from 'node:fs';
import { freePort, startService } from '../src/demo/service.ts';

const dataDir = process.env['DATA_DIR'] ?? '/tmp/verbatim';
mkdirSync(dataDir, { recursive: true });
const service = await startService({ dataDir, port: await freePort(8080), env: {} });
for (const place of ['/', '/docs/', '/docs/site.css', '/openapi.json', '/healthz']) {
  const { status } = await fetch(service.baseUrl + place);
  if (status !== 200) throw new Error(`${place} was answered ${status}`);
}
await service.stop();
rmSync(dataDir, { recursive: true, force: true });
process.exit(0);
