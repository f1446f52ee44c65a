import https from 'node:https';
import net from 'node:net';
import { TONE_MODEL, toneWav } from '../fixtures/audio/test-audio.ts';
import { openNameServer } from '../fixtures/servers/name-server.ts';
import { prepareOwnNetwork } from '../fixtures/servers/own-network.ts';
import { until } from '../fixtures/until.ts';
import { testAuthority } from '../fixtures/webhooks/receiver.ts';
import { type Caller, openWebhookService } from '../fixtures/webhooks/webhook-service.ts';

// Runs in a network of its own (own-network.ts), where public and private addresses alike are on the loopback: the
// whole service, with no exception from its rules, a name server whose answers change, receivers on public addresses,
// and canaries on all others. Writes the results as JSON.

const PUBLIC = ['93.184.216.34', '2606:2800:220:1::1'];
const INSIDE = [
  ...['127.0.0.1', '10.0.0.5', '192.168.7.7', '169.254.169.254', '100.100.100.200', '168.63.129.16'],
  ...['::1', 'fd00::5', '64:ff9b::a00:5', '2002:a00:5::1', '2001:0:a00:5::1'],
];
/** Forbidden addresses that a name may resolve to. */
const BAD_ANSWERS: Record<string, readonly string[]> = {
  loopback: ['127.0.0.1'],
  private: ['10.0.0.5'],
  metadata: ['169.254.169.254'],
  'shared address space': ['100.100.100.200'],
  'metadata in a public range': ['168.63.129.16'],
  'loopback of IPv6': ['::1'],
  'unique local': ['fd00::5'],
  mapped: ['0:0:0:0:0:ffff:a00:5'],
  NAT64: ['64:ff9b::a00:5'],
  '6to4': ['2002:a00:5::1'],
  Teredo: ['2001:0:a00:5::1'],
  'public and private': ['93.184.216.34', '10.0.0.5'],
  'private and public': ['10.0.0.5', '93.184.216.34'],
  'public, and private in IPv6': ['93.184.216.34', 'fd00::5'],
  'an alias of a local name': ['printer.internal', '192.168.7.7'],
};
const WAV = toneWav('hello quiet world');
const REDIRECTS = [301, 302, 303, 307, 308];

type Entry = { id: string; status: string; attempt: number; event_type: string; error: { reason: string } | null };

const available = prepareOwnNetwork([...PUBLIC, ...INSIDE]);
const zone = new Map<string, readonly string[] | ((index: number) => readonly string[])>();
await using nameServer = await openNameServer((name, index) => {
  const found = zone.get(name) ?? null;
  return typeof found === 'function' ? found(index) : found;
});
const canary = await openCanaries(INSIDE.filter((address) => available.includes(address)));
const receiver = await openPublicReceivers(PUBLIC.filter((address) => available.includes(address)));
await using environment = await openWebhookService([], {
  WEBHOOK_RETRY_DELAYS: '0,0.05,0.05,0.05',
  WEBHOOK_TIMEOUT_MS: '2000',
  RATE_LIMIT_TRANSCRIBE: 'off',
});
const engine = `sherpa-onnx:${TONE_MODEL}`;
const node = await environment.start('api,deliverer,transcriber', { ENGINE_LITE: engine, ENGINE_PRO: engine });

const seen = {
  created: await createAtBadNames(),
  moved: await sendAfterMove(),
  badAnswers: await sendToBadAnswers(),
  flips: await sendWhileFlipping(),
  literals: await sendToLiterals(),
  redirects: await followNoRedirect(),
  unknownName: await sendToUnknownName(),
  audio: await fetchAudio(),
};
process.stdout.write(JSON.stringify({ ...seen, canaries: canary.size, canaryConnections: canary.connections() }));
canary.close();
receiver.close();

/** What each bad answer, spelled as a name, is answered at creation and at a change of url. */
async function createAtBadNames() {
  const { call, webhook } = await environment.caller(node);
  const hook = await webhook('https://nobody.example.org/');
  const answers = [];
  for (const [index, [what, addresses]] of Object.entries(BAD_ANSWERS).entries()) {
    const name = `bad-${index}.example.org`;
    zone.set(name, addresses);
    const created = await call('POST', '/v1/webhooks', { url: `https://${name}/`, events: ['webhook.test'] });
    const changed = await call('PATCH', hook.path, { url: `https://${name}/` });
    answers.push({
      what,
      created: [created.status, created.json.error],
      changed: [changed.status, changed.json.error],
    });
  }
  return answers;
}

/** A name that was public when its webhook was made, and is not when it is sent to: on every way to send. */
async function sendAfterMove() {
  const { call, emit, webhook } = await environment.caller(node);
  zone.set('moved.example.org', ['93.184.216.34']);
  const hook = await webhook('https://moved.example.org/');
  const first = await emit();
  const [delivered] = await entriesOf(call, hook.path, 1, `?event_id=${first}&status=succeeded`);

  receiver.replyWith(500);
  const retried = await emit();
  await entriesOf(call, hook.path, 1, `?event_id=${retried}&status=failed`);
  zone.set('moved.example.org', ['10.0.0.5']);
  receiver.replyWith(204);
  const retry = await entriesOf(call, hook.path, 4, `?event_id=${retried}&status=failed`);
  const before = receiver.requests();

  const attempt = await entriesOf(call, hook.path, 4, `?event_id=${await emit()}&status=failed`);
  const ping = (await call('POST', `${hook.path}/test`)).json.event_id;
  const test = await entriesOf(call, hook.path, 4, `?event_id=${ping}&status=failed`);
  await call('POST', `${hook.path}/deliveries/${delivered!.id}/redeliver`);
  const redelivery = await entriesOf(call, hook.path, 4, `?event_id=${first}&status=failed`);
  const recovered = (await call('POST', `${hook.path}/recover`, { since: '2026-01-01T00:00:00Z' })).json;
  const recovery = await entriesOf(call, hook.path, 8, `?event_id=${retried}&status=failed`);
  const full = (await call('GET', `${hook.path}/deliveries/${recovery[0]!.id}`)).json;
  return {
    errors: [retry[0]!, ...attempt, ...test, ...redelivery, ...recovery.slice(0, 4)].map(({ error }) => error),
    recovered,
    full,
    requestsSince: receiver.requests() - before,
  };
}

/** What the log says of a test ping whose name leads to each bad answer. */
async function sendToBadAnswers() {
  const errors = [];
  for (const [index, [what, addresses]] of Object.entries(BAD_ANSWERS).entries()) {
    const { call, webhook } = await environment.caller(node);
    const name = `later-${index}.example.org`;
    const hook = await webhook(`https://${name}/`);
    zone.set(name, addresses);
    await call('POST', `${hook.path}/test`);
    const [entry] = await entriesOf(call, hook.path, 1, '?status=failed');
    errors.push({ what, error: entry!.error });
  }
  return errors;
}

/** A name that changes at every look-up: between the check and the connection there is none. */
async function sendWhileFlipping() {
  const { call, webhook } = await environment.caller(node);
  zone.set('flip.example.org', ['93.184.216.34']);
  const hook = await webhook('https://flip.example.org/');
  zone.set('flip.example.org', (index) => [index % 2 === 0 ? '93.184.216.34' : '10.0.0.5']);
  for (let sent = 0; sent < 15; sent++) {
    const { event_id } = (await call('POST', `${hook.path}/test`)).json;
    await entriesOf(call, hook.path, 1, `?event_id=${event_id}&status=succeeded`);
  }
  const entries = await entriesOf(call, hook.path, 15, '?limit=100');
  return entries.map(({ status, error }) => error?.reason ?? status);
}

/** Literals of public addresses are sent to, and never looked up. */
async function sendToLiterals() {
  const { call, webhook } = await environment.caller(node);
  const sent = [];
  for (const host of ['93.184.216.34', '0x5db8d822', ...(receiver.hasIpv6 ? ['[2606:2800:220:1::1]'] : [])]) {
    const hook = await webhook(`https://${host}/`);
    await call('POST', `${hook.path}/test`);
    const [entry] = await entriesOf(call, hook.path, 1, '?status=succeeded');
    sent.push(entry!.status);
  }
  return { sent, asked: nameServer.asked.filter((name) => !name.endsWith('example.org')) };
}

async function followNoRedirect() {
  const { call, webhook } = await environment.caller(node);
  zone.set('redirect.example.org', ['93.184.216.34']);
  const hook = await webhook('https://redirect.example.org/');
  const errors = [];
  for (const status of REDIRECTS) {
    receiver.replyWith(status, 'https://10.0.0.5/');
    const { event_id } = (await call('POST', `${hook.path}/test`)).json;
    const entries = await entriesOf(call, hook.path, 4, `?event_id=${event_id}&status=failed`);
    errors.push(...entries.map(({ error }) => error?.reason));
  }
  receiver.replyWith(204);
  return errors;
}

async function sendToUnknownName() {
  const { call, webhook } = await environment.caller(node);
  const hook = await webhook('https://nobody.example.org/');
  await call('POST', `${hook.path}/test`);
  const [entry] = await entriesOf(call, hook.path, 1, '?status=failed');
  return entry!.error;
}

/** What a request with `audio_url` ends in, by the name that the URL or one of its redirects leads to. */
async function fetchAudio() {
  const { call } = await environment.caller(node);
  zone.set('audio.example.org', ['93.184.216.34']);
  // Public when the request is checked, and private when the audio is fetched.
  zone.set('rebound.example.org', (index) => [index === 0 ? '93.184.216.34' : '10.0.0.5']);
  zone.set('flipping.example.org', (index) => [index % 2 === 0 ? '93.184.216.34' : '127.0.0.1']);
  zone.set('inside.example.org', ['10.0.0.5']);
  const redirectTo = (url: string) => `https://audio.example.org/?to=${encodeURIComponent(url)}`;
  const flipping = redirectTo('https://flipping.example.org/a.wav');
  const outcome = async (audio_url: string) => {
    const { json } = await call('POST', '/v1/transcribe', { audio_url });
    return json.text ?? json.reason ?? json.error.type;
  };
  return {
    public: await outcome('https://audio.example.org/a.wav'),
    rebound: await outcome('https://rebound.example.org/a.wav'),
    redirectInside: await outcome(redirectTo('https://inside.example.org/a.wav')),
    redirectFlipping: [await outcome(flipping), await outcome(flipping), await outcome(flipping)],
    redirectToMetadata: await outcome(redirectTo('https://169.254.169.254/latest/meta-data/')),
    redirectToHttp: await outcome(redirectTo('http://audio.example.org/a.wav')),
  };
}

async function entriesOf(call: Caller['call'], hook: string, count: number, query: string): Promise<Entry[]> {
  return await until(`${count} entries ${query}`, async () => {
    const { data } = (await call('GET', `${hook}/deliveries${query}`)).json as { data: Entry[] };
    return data.length >= count ? data : null;
  });
}

async function openCanaries(addresses: readonly string[]) {
  let connections = 0;
  const servers = addresses.map((host) =>
    net
      .createServer((socket) => {
        connections += 1;
        socket.destroy();
      })
      .listen(443, host),
  );
  await Promise.all(servers.map((server) => new Promise((resolve) => server.once('listening', resolve))));
  return {
    size: servers.length,
    connections: () => connections,
    close: () => servers.forEach((server) => void server.close()),
  };
}

async function openPublicReceivers(addresses: readonly string[]) {
  let requests = 0;
  let status = 204;
  let location: string | undefined;
  const certificate = testAuthority.issue({ hosts: ['*.example.org', ...PUBLIC] });
  const servers = addresses.map((host) =>
    https
      .createServer(certificate, (request, response) => {
        requests += 1;
        request.resume();
        const { pathname, searchParams } = new URL(request.url ?? '/', 'https://audio.example.org');
        const to = searchParams.get('to');
        if (to !== null) return void response.writeHead(302, { location: to }).end();
        if (pathname === '/a.wav') return void response.writeHead(200, { 'content-type': 'audio/wav' }).end(WAV);
        response.writeHead(status, location === undefined ? {} : { location }).end();
      })
      .listen(443, host),
  );
  await Promise.all(servers.map((server) => new Promise((resolve) => server.once('listening', resolve))));
  return {
    hasIpv6: addresses.length === 2,
    requests: () => requests,
    replyWith(newStatus: number, newLocation?: string) {
      [status, location] = [newStatus, newLocation];
    },
    close() {
      for (const server of servers) {
        server.closeAllConnections();
        server.close();
      }
    },
  };
}
