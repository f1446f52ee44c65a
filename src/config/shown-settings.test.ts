import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import test from 'node:test';
import { readConfig, SETTINGS } from './settings.ts';
import { showSettings } from './shown-settings.ts';

const SECRET = randomBytes(32).toString('base64');

test('no secret is shown, and that it is set is', () => {
  const env = {
    ADMIN_TOKEN: `${SECRET}-admin`,
    SECRETS_KEY: SECRET,
    ENGINE_API_KEY: SECRET,
    DATABASE_URL: 'postgresql://user:hush-hush@db.example.com/verbatim',
    DATABASE_DIRECT_URL: 'postgresql://user:hush-hush@db.example.com/verbatim',
    WEBHOOK_PROXY_URL: 'http://user:hush-hush@proxy.example.com:3128',
    HF_ENDPOINT: 'https://user:hush-hush@hub.example.com',
  };

  const shown = showSettings(readConfig(env));

  const text = JSON.stringify(shown);
  assert.ok(
    !text.includes('hush-hush') && !text.includes(SECRET) && !text.includes(JSON.stringify(SECRET).slice(1, -1)),
  );
  assert.deepEqual(
    shown.filter(({ value }) => value === '(hidden)').map(({ name }) => name),
    Object.values(SETTINGS)
      .map((setting) => setting.env)
      .filter((name) => name in env),
  );
});

test('values are shown as the settings are written', () => {
  const shown = showSettings(
    readConfig({ WEBHOOK_TIMEOUT_MS: '2500', RATE_LIMIT_JOBS: '7/30', RATE_LIMIT_LIVE: 'off' }),
  );

  const shownOf = (wanted: string) => shown.find(({ name }) => name === wanted)!.value;
  const written: [name: string, value: unknown][] = [
    ['WEBHOOK_TIMEOUT_MS', 2_500],
    ['WEBHOOK_DISABLE_SECONDS', 1_800],
    ['WEBHOOK_RETRY_DELAYS', [0, 30, 300, 1_800]],
    ['MAX_AUDIO_SECONDS', 14_400],
    ['RATE_LIMIT_JOBS', '7/30'],
    ['RATE_LIMIT_LIVE', 'off'],
    ['MAX_LIVE_SESSIONS_PER_ACCOUNT', '3,20'],
    ['LIVE_STEP_SECONDS', null],
  ];
  assert.deepEqual(
    written.map(([name]) => [name, shownOf(name)]),
    written,
  );
});

test('every setting is shown, with its default as the default', () => {
  const shown = showSettings(readConfig({ PORT: '9000' }));

  assert.equal(shown.length, Object.keys(SETTINGS).length);
  assert.deepEqual(
    shown.filter((setting) => !setting.is_default).map(({ name, value }) => [name, value]),
    [['PORT', 9000]],
  );
});
