import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TONE_MODEL, toneWav } from '../fixtures/audio/test-audio.ts';
import { openAudioServer } from '../fixtures/servers/audio-server.ts';
import { startTinyproxy, WITHOUT_TINYPROXY } from '../fixtures/servers/egress-proxy.ts';
import { until } from '../fixtures/until.ts';
import { openReceiver } from '../fixtures/webhooks/receiver.ts';
import { openWebhookService } from '../fixtures/webhooks/webhook-service.ts';

const CREDENTIALS = 'verbatim:pass.word';
const ENGINES = { ENGINE_LITE: `sherpa-onnx:${TONE_MODEL}`, ENGINE_PRO: `sherpa-onnx:${TONE_MODEL}` };
const SECRETS = new RegExp(`pass\\.word|${Buffer.from(CREDENTIALS).toString('base64')}`);
const WAV = toneWav('hello world');

test('with WEBHOOK_PROXY_URL the service delivers and fetches through the proxy, and shows no credentials', {
  skip: WITHOUT_TINYPROXY,
}, async () => {
  await using receiver = await openReceiver();
  await using audio = await openAudioServer((_, response) => response.writeHead(200).end(WAV));
  await using proxy = await startTinyproxy([receiver.port, audio.port]);
  await using service = await openWebhookService([receiver.port], {
    ...ENGINES,
    WEBHOOK_PROXY_URL: `http://${CREDENTIALS}@${proxy.address}`,
    LOG_LEVEL: 'debug',
    AUDIO_URL_ALLOWED_TARGETS: `127.0.0.1/32:${audio.port}`,
  });
  const node = await service.start('api,deliverer,transcriber');
  const { call, webhook } = await service.caller(node);
  // A name, which the proxy must not look up again.
  const { path } = await webhook(`https://localhost:${receiver.port}/hook`);

  await call('POST', `${path}/test`);
  await receiver.waitFor(1);
  const fetched = await call('POST', '/v1/transcribe', { audio_url: `https://localhost:${audio.port}/a.wav` });
  const settings = await fetch(`${node.baseUrl}/admin/v1/settings`, {
    headers: { authorization: `Bearer ${node.adminToken}` },
  });

  assert.equal(fetched.json.text, 'hello world');
  assert.deepEqual(
    new Set(proxy.logText().match(/CONNECT \S+/g)),
    new Set([receiver.port, audio.port].map((port) => `CONNECT 127.0.0.1:${port}`)),
  );
  for (const text of [node.logText(), await settings.text()]) assert.doesNotMatch(text, SECRETS);
});

test('a proxy that refuses the credentials is named without them, to operators and to the account', {
  skip: WITHOUT_TINYPROXY,
}, async () => {
  await using receiver = await openReceiver();
  await using proxy = await startTinyproxy([receiver.port]);
  await using service = await openWebhookService([receiver.port], {
    WEBHOOK_PROXY_URL: `http://verbatim:other.word@${proxy.address}`,
    LOG_LEVEL: 'debug',
  });
  const node = await service.start('api,deliverer');
  const { call, webhook } = await service.caller(node);
  const { path } = await webhook(receiver.url);

  await call('POST', `${path}/test`);
  const entry = await until('a failed attempt', async () => {
    const { data } = (await call('GET', `${path}/deliveries?status=failed`)).json;
    return data[0];
  });
  const whole = await call('GET', `${path}/deliveries/${entry.id}`);

  assert.match(entry.error.message, /^No connection to the receiver: the egress proxy answered 40[17]\.$/);
  assert.equal(receiver.connections(), 0);
  for (const text of [whole.text, node.logText()]) {
    assert.doesNotMatch(text, /other\.word|Proxy-Authorization/i);
    assert.ok(!text.includes(proxy.address));
  }
});
