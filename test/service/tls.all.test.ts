import assert from 'node:assert/strict';
import { createPrivateKey } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import https from 'node:https';
import path from 'node:path';
import test from 'node:test';
import OpenAI from 'openai';
import { OpenAIRealtimeWS } from 'openai/realtime/ws';
import { WebSocket } from 'ws';
import { freePort } from '../../src/demo/service.ts';
import { TONE_MODEL } from '../fixtures/audio/test-audio.ts';
import { toneSpeech } from '../fixtures/audio/tone/speech.ts';
import { openService, temporaryFolder } from '../fixtures/service.ts';
import { until } from '../fixtures/until.ts';
import { testAuthority } from '../fixtures/webhooks/receiver.ts';

const ca = testAuthority.cert;
const ENGINES = { ENGINE_LITE: `sherpa-onnx:${TONE_MODEL}`, ENGINE_PRO: `sherpa-onnx:${TONE_MODEL}` };
const SAMPLES_PER_APPEND = 1_600;

async function openSecureService() {
  const folder = temporaryFolder();
  const [certFile, keyFile] = [path.join(folder, 'cert.pem'), path.join(folder, 'key.pem')];
  const { cert, key } = testAuthority.issue({ hosts: ['localhost', '127.0.0.1'] });
  writeFileSync(certFile, cert);
  writeFileSync(keyFile, key, { mode: 0o600 });
  const port = await freePort();
  const settings = { TLS_CERT_FILE: certFile, TLS_KEY_FILE: keyFile, TLS_PORT: String(port) };
  const service = await openService({ ...ENGINES, ...settings });
  return { service, port, [Symbol.asyncDispose]: () => service[Symbol.asyncDispose]() };
}

function statusOf(port: number, route: string): Promise<number> {
  return new Promise((resolve, reject) => {
    https
      .get({ port, path: route, ca, agent: false }, (answer) => {
        answer.resume();
        resolve(answer.statusCode!);
      })
      .on('error', reject);
  });
}

test('the API is served with TLS beside HTTP, and live sessions over wss', async () => {
  await using environment = await openSecureService();
  const { service, port } = environment;
  const { key } = await service.account();
  const begun = await fetch(`${service.baseUrl}/v1/live`, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: '{}',
  });
  const { path: route, token } = (await begun.json()) as { path: string; token: string };

  const socket = new WebSocket(`wss://127.0.0.1:${port}${route}`, ['verbatim.live.v1', `token.${token}`], { ca });
  const [hello] = await once(socket, 'message');

  assert.equal(JSON.parse(String(hello)).type, 'hello');
  assert.deepEqual([await statusOf(port, '/healthz'), await statusOf(port, '/v1/jobs')], [200, 401]);
  socket.terminate();
});

// Its client refuses all but wss.
for (const { who, turns } of [
  { who: 'that commits by itself', turns: null },
  { who: 'whose turns the server ends', turns: { type: 'server_vad', silence_duration_ms: 350 } },
] as const) {
  test(`the unchanged openai package transcribes live over wss, as a client ${who}`, async () => {
    await using environment = await openSecureService();
    const { service, port } = environment;
    const { key: apiKey } = await service.account();
    const openai = new OpenAI({ apiKey, baseURL: `https://127.0.0.1:${port}/v1` });
    const realtime = new OpenAIRealtimeWS({ intent: 'transcription', options: { ca } }, openai);
    const errors: unknown[] = [];
    const texts: string[] = [];
    const updated = Promise.withResolvers<void>();
    const spoken = ['hello world', 'good morning'];
    // The words of an item may come before those of the one before it are complete.
    const deltas = new Map<string, string>();
    realtime.on('error', (error) => errors.push(error));
    realtime.on('session.updated', () => updated.resolve());
    realtime.on('conversation.item.input_audio_transcription.delta', ({ item_id, delta = '' }) => {
      deltas.set(item_id, (deltas.get(item_id) ?? '') + delta);
    });
    realtime.on('conversation.item.input_audio_transcription.completed', ({ transcript }) => {
      texts.push(transcript);
    });
    await once(realtime.socket, 'open');
    const input = { format: { type: 'audio/pcm', rate: 24_000 }, turn_detection: turns } as const;
    realtime.send({ type: 'session.update', session: { type: 'transcription', audio: { input } } });
    await updated.promise;

    for (const text of spoken) {
      const audio = resampled(toneSpeech(text), 24_000);
      for (let at = 0; at < audio.length; at += SAMPLES_PER_APPEND)
        append(realtime, audio.slice(at, at + SAMPLES_PER_APPEND));
      if (turns === null) realtime.send({ type: 'input_audio_buffer.commit' });
      else append(realtime, new Int16Array(24_000));
    }
    await until('both texts', () => texts.length === 2);
    if (turns === null) {
      // Of nothing: it is answered, as an error would end the session of some clients.
      realtime.send({ type: 'input_audio_buffer.commit' });
      await until('the empty text', () => texts.length === 3);
    }
    realtime.close();
    await once(realtime.socket, 'close');

    assert.deepEqual([texts, errors], [turns === null ? [...spoken, ''] : spoken, []]);
    const heard = [...deltas.values()];
    assert.ok(
      heard.every((words) => spoken.some((text) => text.startsWith(words))),
      heard.join('|'),
    );
  });
}

function append(realtime: OpenAIRealtimeWS, samples: Int16Array): void {
  const audio = Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength).toString('base64');
  realtime.send({ type: 'input_audio_buffer.append', audio });
}

/** The samples, at 16,000 per second, at another rate. */
function resampled(samples: Int16Array, rate: number): Int16Array {
  return Int16Array.from({ length: Math.floor((samples.length * rate) / 16_000) }, (_, at) => {
    const place = (at * 16_000) / rate;
    const [before, part] = [Math.floor(place), place % 1];
    return samples[before]! * (1 - part) + (samples[before + 1] ?? 0) * part;
  });
}

test('a certificate that cannot be used stops the start with its reason, and nothing is served', async () => {
  const folder = temporaryFolder();
  const write = (name: string, text: string) => {
    writeFileSync(path.join(folder, name), text, { mode: 0o600 });
    return path.join(folder, name);
  };
  const [one, other] = [testAuthority.issue({ hosts: ['localhost'] }), testAuthority.issue({ hosts: ['localhost'] })];
  const locked = createPrivateKey(one.key).export({
    type: 'pkcs8',
    format: 'pem',
    cipher: 'aes-256-cbc',
    passphrase: 'words',
  } as never);
  const [certFile, keyFile] = [write('cert.pem', one.cert), write('key.pem', one.key)];
  const cannotBeUsed = (reason: string) => new RegExp(`TLS_CERT_FILE and TLS_KEY_FILE cannot be used: .*${reason}`);

  for (const [settings, reason] of [
    [{ TLS_CERT_FILE: path.join(folder, 'missing.pem'), TLS_KEY_FILE: keyFile }, cannotBeUsed('ENOENT')],
    [{ TLS_CERT_FILE: folder, TLS_KEY_FILE: keyFile }, cannotBeUsed('EISDIR')],
    [
      { TLS_CERT_FILE: certFile, TLS_KEY_FILE: write('other.pem', other.key) },
      cannotBeUsed('not the key of the first'),
    ],
    [{ TLS_CERT_FILE: keyFile, TLS_KEY_FILE: certFile }, cannotBeUsed('no certificate, or no key')],
    [
      { TLS_CERT_FILE: certFile, TLS_KEY_FILE: write('locked.pem', String(locked)) },
      cannotBeUsed('the key is encrypted'),
    ],
    [{ TLS_CERT_FILE: certFile }, /TLS_CERT_FILE and TLS_KEY_FILE need each other/],
    [{ TLS_KEY_FILE: keyFile }, /TLS_CERT_FILE and TLS_KEY_FILE need each other/],
  ] as const) {
    const refusal = await openService({ ...settings, ROLES: 'api' }).then(
      () => 'started',
      (error: Error) => error.message,
    );
    assert.match(refusal, reason);
    assert.doesNotMatch(refusal, /PRIVATE KEY|"listening"/);
  }
});
