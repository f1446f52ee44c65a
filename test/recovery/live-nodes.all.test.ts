import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { STREAMING_TONE_MODEL, TONE_MODEL } from '../fixtures/audio/test-audio.ts';
import { toneSpeech } from '../fixtures/audio/tone/speech.ts';
import { openTestDatabase } from '../fixtures/database/test-database.ts';
import { LiveClient } from '../fixtures/live-client.ts';
import { folderWithAudioOf, openService, temporaryFolder } from '../fixtures/service.ts';
import { until } from '../fixtures/until.ts';

const SESSIONS = 50;
const SILENCE = new Uint8Array(32_000);

const tone = (text: string) => new Uint8Array(toneSpeech(text).buffer as ArrayBuffer);

test(`${SESSIONS} sessions of a node that is stopped go on at another node`, async () => {
  await using db = await openTestDatabase();
  const shared = {
    DATABASE_URL: db.url,
    ADMIN_TOKEN: randomBytes(24).toString('base64url'),
    SECRETS_KEY: randomBytes(32).toString('base64'),
    ROLES: 'api',
    AUDIO_RETENTION_HOURS: '0',
    ENGINE_LITE: `sherpa-onnx:${TONE_MODEL}`,
    ENGINE_PRO: `sherpa-onnx:${TONE_MODEL}`,
    ENGINE_LIVE_PRO: `sherpa-onnx:${STREAMING_TONE_MODEL}`,
    MAX_LIVE_SESSIONS_PER_ACCOUNT: String(SESSIONS),
    RATE_LIMIT_LIVE: 'off',
  };
  await using first = await openNode(shared, temporaryFolder());
  await using second = await openNode(shared, folderWithAudioOf(first.dataDir));
  const { key } = await first.account();
  const headers = { 'x-api-key': key, 'content-type': 'application/json' };
  const clients = await Promise.all(
    Array.from({ length: SESSIONS }, async () => {
      const answer = await fetch(`${first.baseUrl}/v1/live`, { method: 'POST', headers, body: '{}' });
      const client = new LiveClient(first.baseUrl, (await answer.json()) as { path: string; token: string });
      await client.connect();
      client.send(tone('so it is'));
      return client;
    }),
  );
  await until('acknowledgements', () => clients.every(({ acknowledged }) => acknowledged > 0));
  // The node stops in the middle of a segment.
  for (const client of clients) client.send(tone(' again'));
  const closed = clients.map((client) => client.next('closed'));

  const stopping = first.stop();
  const codes = (await Promise.all(closed)).map(({ code }) => code);
  const acknowledged = clients.map((client) => client.acknowledged);
  const hellos = await Promise.all(clients.map((client) => client.connect(second.baseUrl)));
  for (const client of clients) client.send(Buffer.concat([SILENCE, tone('the end')]));
  const jobs = await Promise.all(clients.map(async (client) => (await client.finish()).job));
  await stopping;

  assert.deepEqual([...new Set(codes)], [1012]);
  assert.ok(clients.every(({ messages }) => messages.some(({ type }) => type === 'going_away')));
  assert.ok(hellos.every(({ resumed, offset }, at) => resumed && offset >= acknowledged[at]!));
  assert.deepEqual([...new Set(jobs.map(({ text }) => text))], ['so it is again the end']);
  assert.deepEqual([...new Set(clients.map(({ text }) => text))], ['so it is again the end']);
});

function openNode(shared: Record<string, string> & { ADMIN_TOKEN: string }, dataDir: string) {
  // A node that generates its token writes it to this file; accounts are created with the token in it.
  writeFileSync(path.join(dataDir, 'admin-token'), shared.ADMIN_TOKEN);
  return openService(shared, dataDir);
}
