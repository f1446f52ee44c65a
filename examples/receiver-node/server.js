// A receiver of webhook deliveries. See README.md in this folder.
import { readFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
// In your own project: '@verbatim/sdk'.
import { expressHandler, rememberEvents } from '../../sdk/src/index.ts';

const { VERBATIM_WEBHOOK_SECRET, TLS_CERT, TLS_KEY, PORT = '8443', HOST = '127.0.0.1' } = process.env;
if (!VERBATIM_WEBHOOK_SECRET) {
  console.error('Set VERBATIM_WEBHOOK_SECRET to the secret that was shown when the webhook was created (whsec_…).');
  process.exit(1);
}

const receive = expressHandler({
  secret: VERBATIM_WEBHOOK_SECRET,
  memory: rememberEvents(),
  on: {
    'transcription.completed': ({ id, data: { job } }) => console.log(`${id}: ${job.id} says: ${job.text}`),
    'transcription.failed': ({ id, data: { job } }) => console.log(`${id}: ${job.id} failed: ${job.error?.message}`),
    'webhook.test': ({ id }) => console.log(`${id}: the webhook works`),
  },
});

const server =
  TLS_CERT && TLS_KEY
    ? https.createServer({ cert: readFileSync(TLS_CERT), key: readFileSync(TLS_KEY) }, receive)
    : http.createServer(receive);
server.listen(Number(PORT), HOST, () => {
  const scheme = server instanceof https.Server ? 'https' : 'http';
  const address = server.address();
  console.log(`listening on ${scheme}://${HOST}:${typeof address === 'object' ? address?.port : address}`);
});
