// The same POSTs with Node's fastest HTTP client, unsigned and unrecorded, over kept-alive connections.
// In a process of its own, as the deliverer is.
import { readFileSync } from 'node:fs';
import { Pool } from 'undici';

export type ToRawSender = { kind: 'send'; count: number };

// 64 keep one core busy; more gain nothing.
const CONNECTIONS = 64;

const [url, caFile, headersFile, bodyFile] = process.argv.slice(2) as [string, string, string, string];
const { origin, pathname } = new URL(url);
const pool = new Pool(origin, { connections: CONNECTIONS, connect: { ca: readFileSync(caFile) } });
const headers = JSON.parse(readFileSync(headersFile, 'utf8')) as Record<string, string>;
const body = readFileSync(bodyFile);

process.on('message', async ({ count }: ToRawSender) => {
  let left = count;
  async function sendInTurn(): Promise<void> {
    while (left > 0) {
      left -= 1;
      const answer = await pool.request({ method: 'POST', path: pathname, headers, body });
      await answer.body.dump();
    }
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, sendInTurn));
  process.send?.('done');
});
process.on('disconnect', () => process.exit(0));
