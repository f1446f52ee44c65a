import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { engineSpec } from '../engines/engine-spec.ts';
import { ConfigError } from './config-error.ts';
import { doubtsAbout } from './doubts.ts';
import { dataPaths, readConfig, roleEnvironment, SETTINGS } from './settings.ts';
import type { Reader } from './values.ts';
import * as read from './values.ts';

test('an empty environment gives the defaults', () => {
  const config = readConfig({});

  assert.equal(config.host, '127.0.0.1');
  assert.equal(config.port, 8080);
  assert.equal(config.dataDir, path.resolve('./data'));
  assert.equal(config.databaseUrl, null);
  assert.equal(config.adminToken, null);
  assert.deepEqual(config.roles, ['api', 'transcriber', 'deliverer', 'janitor']);
  assert.equal(config.syncWaitMs, 300_000);
  assert.equal(config.maxUploadBytes, 1_073_741_824);
  assert.deepEqual(config.rateLimitTranscribe, { count: 10, windowMs: 60_000 });
  assert.deepEqual(config.rateLimitDefault, { count: 600, windowMs: 60_000 });
  assert.deepEqual(config.webhookRetryDelaysMs, [0, 30_000, 300_000, 1_800_000]);
  assert.equal(config.webhookTimeoutMs, 5000);
  assert.equal(config.webhookDisableFailures, 10);
  assert.equal(config.webhookDisableMs, 1_800_000);
  assert.deepEqual(config.webhookAllowedTargets, []);
  assert.equal(config.webhookHeaderPrefix, 'X-Service-');
  assert.deepEqual([config.retentionDaysLite, config.retentionDaysPro], [7, 30]);
  assert.equal(config.audioRetentionHours, 24);
});

test('an empty variable counts as absent', () => {
  const env = Object.fromEntries(Object.values(SETTINGS).map(({ env }) => [env, '']));

  assert.deepEqual(readConfig(env), readConfig({}));
});

test('one error lists every mistake, without the values of secrets', () => {
  const env = {
    PORT: 'http',
    ROLES: 'api,boss',
    ADMIN_TOKEN: 'short-secret',
    SECRETS_KEY: 'not-a-key',
    DATABASE_URL: 'mysql://user:hunter2@host/db',
    RATE_LIMIT_JOBS: 'many',
    WEBHOOK_PROXY_URL: 'http://:hunter2@proxy.example',
    NODE_TLS_REJECT_UNAUTHORIZED: '0',
  };

  assert.throws(
    () => readConfig(env),
    (error) => {
      assert.ok(error instanceof ConfigError);
      const named = error.mistakes.map((mistake) => mistake.split(/[ =]/)[0]);
      assert.deepEqual(named.toSorted(), Object.keys(env).toSorted());
      assert.ok(error.mistakes.every((mistake) => error.message.includes(mistake)));
      assert.doesNotMatch(error.message, /short-secret|not-a-key|hunter2/);
      return true;
    },
  );
});

test('every setting has a unique name and a meaning', () => {
  const names = Object.values(SETTINGS).map(({ env }) => env);

  assert.equal(new Set(names).size, names.length);
  assert.ok(Object.values(SETTINGS).every(({ env, meaning }) => /^[A-Z0-9_]+$/.test(env) && meaning.length > 5));
});

for (const [env, isMistake] of [
  [{ PORT: '9000', ADMIN_PORT: '9000' }, true],
  [{ PORT: '9000', ADMIN_PORT: '9000', HOST: '0.0.0.0' }, true],
  [{ PORT: '9000', ADMIN_PORT: '9000', HOST: '10.0.0.1', ADMIN_HOST: '10.0.0.1' }, true],
  [{ PORT: '9000', ADMIN_PORT: '9000', HOST: '10.0.0.1' }, false],
  [{ PORT: '9000', ADMIN_PORT: '9001' }, false],
  [{ PORT: '0', ADMIN_PORT: '0' }, false],
] as const) {
  test(`${JSON.stringify(env)} ${isMistake ? 'is a mistake' : 'is right'}`, () => {
    if (isMistake) assert.throws(() => readConfig(env), /ADMIN_PORT must be another port than PORT/);
    else assert.doesNotThrow(() => readConfig(env));
  });
}

test('all paths are inside the data directory', () => {
  assert.ok(Object.values(dataPaths('/data')).every((place) => place.startsWith('/data/')));
});

const KEY = Buffer.alloc(32, 7);
const OTHER_KEY = Buffer.alloc(32, 9);
const MISTAKE = Symbol('mistake');

type Row = [reader: string, read: Reader<unknown>, rows: [given: string | null, expected: unknown][]];

const READERS: Row[] = [
  [
    'networks',
    read.networks,
    [
      ['', []],
      ['127.0.0.1, 10.0.0.0/8,fd00::/8', ['127.0.0.1', '10.0.0.0/8', 'fd00::/8']],
      ['0.0.0.0/0', MISTAKE],
      ['10.0.0.0/33', MISTAKE],
      ['::/129', MISTAKE],
      ['proxy', MISTAKE],
      ['10.0.0.1:80', MISTAKE],
    ],
  ],
  [
    'text',
    read.text,
    [
      ['a', 'a'],
      ['', MISTAKE],
      [null, MISTAKE],
    ],
  ],
  [
    'public URL',
    read.publicUrl,
    [
      ['https://speech.example.com', 'https://speech.example.com'],
      ['https://Speech.example.com:8443/', 'https://speech.example.com:8443'],
      ['https://example.com/speech', MISTAKE],
      ['https://example.com/?speech', MISTAKE],
      ['https://user@example.com', MISTAKE],
      ['speech.example.com', MISTAKE],
    ],
  ],
  [
    'host',
    read.host,
    [
      ['0.0.0.0', '0.0.0.0'],
      ['::1', '::1'],
      ['localhost', 'localhost'],
      ['node-1.example.com', 'node-1.example.com'],
      ['not a host', MISTAKE],
      ['http://h', MISTAKE],
      ['h:80', MISTAKE],
      ['', MISTAKE],
      [null, MISTAKE],
    ],
  ],
  [
    'folder',
    read.folder,
    [
      ['/a/../b', '/b'],
      ['x', path.resolve('x')],
      [null, MISTAKE],
    ],
  ],
  [
    'optional',
    read.optional(read.text),
    [
      [null, null],
      ['a', 'a'],
      ['', MISTAKE],
    ],
  ],
  [
    'integer 1 to 10',
    read.integer(1, 10),
    [
      ['1', 1],
      ['10', 10],
      ['07', 7],
      ['0', MISTAKE],
      ['11', MISTAKE],
      ['-1', MISTAKE],
      ['1.5', MISTAKE],
      ['1e1', MISTAKE],
      [' 1', MISTAKE],
      ['0x5', MISTAKE],
      ['', MISTAKE],
      [null, MISTAKE],
      ['1\n', MISTAKE],
    ],
  ],
  [
    'decimal 0 to 1000',
    read.decimal(0, 1000, 3),
    [
      ['0', 0],
      ['1.005', 1.005],
      ['1000', 1000],
      ['1.0005', MISTAKE],
      ['1000.001', MISTAKE],
      ['.5', MISTAKE],
      ['1.', MISTAKE],
      ['-1', MISTAKE],
      [null, MISTAKE],
    ],
  ],
  [
    'seconds 0 to 60',
    read.secondsAsMs(0, 60),
    [
      ['0', 0],
      ['0.25', 250],
      ['60', 60_000],
      ['60.1', MISTAKE],
      ['-1', MISTAKE],
      ['1s', MISTAKE],
      [null, MISTAKE],
    ],
  ],
  [
    'one of',
    read.oneOf(['a', 'b']),
    [
      ['a', 'a'],
      ['A', MISTAKE],
      ['a,b', MISTAKE],
      [null, MISTAKE],
    ],
  ],
  [
    'list of',
    read.listOf(['a', 'b', 'c']),
    [
      ['a', ['a']],
      ['c, a', ['a', 'c']],
      ['a,a', ['a']],
      ['a,d', MISTAKE],
      ['', MISTAKE],
      [',', MISTAKE],
      [null, MISTAKE],
    ],
  ],
  [
    'database URL',
    read.databaseUrl,
    [
      ['postgres://u@h/d', 'postgres://u@h/d'],
      ['postgresql:///d?host=/tmp', 'postgresql:///d?host=/tmp'],
      ['mysql://h/d', MISTAKE],
      ['h/d', MISTAKE],
      ['postgres://h:65536/d', MISTAKE],
      [null, MISTAKE],
    ],
  ],
  [
    'storage URL',
    read.storageUrl,
    [
      ['s3://bucket', 's3://bucket'],
      ['s3://my.bucket/a/b', 's3://my.bucket/a/b'],
      ['s3://', MISTAKE],
      ['s3://B/a', MISTAKE],
      ['/tmp', MISTAKE],
      ['s3://bucket/a b', MISTAKE],
      [null, MISTAKE],
    ],
  ],
  [
    'token',
    read.token,
    [
      ['0123abcd'.repeat(4), '0123abcd'.repeat(4)],
      ['0123abcd'.repeat(32), '0123abcd'.repeat(32)],
      ['0123abcd'.repeat(4).slice(1), MISTAKE],
      [`${'0123abcd'.repeat(32)}0`, MISTAKE],
      [`${'0123abcd'.repeat(4)} b`, MISTAKE],
      ['ü1234567'.repeat(4), MISTAKE],
      ['changeme', MISTAKE],
      [null, MISTAKE],
    ],
  ],
  [
    'keys of 32 bytes',
    read.keys32,
    [
      [KEY.toString('base64'), [KEY]],
      [`${KEY.toString('base64')},${OTHER_KEY.toString('base64')}`, [KEY, OTHER_KEY]],
      [`${KEY.toString('base64')}\n${OTHER_KEY.toString('base64')}\n`, [KEY, OTHER_KEY]],
      [`${KEY.toString('base64')},`, MISTAKE],
      [`${KEY.toString('base64')},short`, MISTAKE],
      [Array(9).fill(KEY.toString('base64')).join(), MISTAKE],
      [KEY.subarray(1).toString('base64'), MISTAKE],
      [KEY.toString('hex'), MISTAKE],
      [KEY.toString('base64url'), MISTAKE],
      [null, MISTAKE],
    ],
  ],
  [
    'rate limit',
    read.rateLimit,
    [
      ['10/60', { count: 10, windowMs: 60_000 }],
      ['off', null],
      ['10000/86400', { count: 10_000, windowMs: 86_400_000 }],
      ['0/60', MISTAKE],
      ['10/0', MISTAKE],
      ['10001/60', MISTAKE],
      ['10/86401', MISTAKE],
      ['10', MISTAKE],
      ['10/60s', MISTAKE],
      ['1.5/60', MISTAKE],
      ['OFF', MISTAKE],
      [null, MISTAKE],
    ],
  ],
  [
    'four delays',
    read.fourDelaysAsMs,
    [
      ['0,30,300,1800', [0, 30_000, 300_000, 1_800_000]],
      ['0, 0.05, 0.1, 0.2', [0, 50, 100, 200]],
      ['0,30,300', MISTAKE],
      ['0,30,300,1800,1', MISTAKE],
      ['0,,30,300,1800', MISTAKE],
      ['0,-1,2,3', MISTAKE],
      ['0,1,2,604801', MISTAKE],
      [null, MISTAKE],
    ],
  ],
  [
    'header prefix',
    read.headerPrefix,
    [
      ['X-Service-', 'X-Service-'],
      ['A-', 'A-'],
      ['webhook-x-', 'webhook-x-'],
      ['X-Service', MISTAKE],
      ['-', MISTAKE],
      ['X_Y-', MISTAKE],
      ['X Y-', MISTAKE],
      ['X:\r\n-', MISTAKE],
      ['Webhook-', MISTAKE],
      [`${'a'.repeat(64)}-`, MISTAKE],
      [null, MISTAKE],
    ],
  ],
  [
    'allowed targets',
    read.allowedTargets,
    [
      ['', []],
      [null, []],
      ['127.0.0.1/32:8443', [{ address: '127.0.0.1', prefixBits: 32, port: 8443 }]],
      [
        '10.0.0.0/8, ::1/128',
        [
          { address: '10.0.0.0', prefixBits: 8, port: null },
          { address: '::1', prefixBits: 128, port: null },
        ],
      ],
      ['[fd00::]/8:8443', [{ address: 'fd00::', prefixBits: 8, port: 8443 }]],
      ['fd00::/8:8443', [{ address: 'fd00::', prefixBits: 8, port: 8443 }]],
      ['10.0.0.0', MISTAKE],
      ['10.0.0.0/33', MISTAKE],
      ['::1/129', MISTAKE],
      ['10.0.0/8', MISTAKE],
      ['localhost/32', MISTAKE],
      ['10.0.0.0/8:0', MISTAKE],
      ['10.0.0.0/8:65536', MISTAKE],
      ['fe80::%eth0/64', MISTAKE],
      ['10.0.0.0/8:443;::1/128', MISTAKE],
      ['[fd00::/8', MISTAKE],
      ['[10.0.0.0]/8', MISTAKE],
    ],
  ],
  [
    'origins',
    read.origins,
    [
      ['', []],
      [null, []],
      ['https://intranet.example.com', ['https://intranet.example.com']],
      ['http://localhost:3000, https://a.example', ['http://localhost:3000', 'https://a.example']],
      ['https://intranet.example.com/', MISTAKE],
      ['https://intranet.example.com:443', MISTAKE],
      ['https://Intranet.example.com', MISTAKE],
      ['https://user@intranet.example.com', MISTAKE],
      ['https://*.example.com', MISTAKE],
      ['https://a.example;script-src', MISTAKE],
      ["https://a.example 'self'", MISTAKE],
      ['https://a.example:65536', MISTAKE],
      ['intranet.example.com', MISTAKE],
      ['data:text/html,x', MISTAKE],
      ['*', MISTAKE],
      [Array.from({ length: 51 }, (_, index) => `https://${index}.example`).join(), MISTAKE],
    ],
  ],
  [
    'engine',
    engineSpec,
    [
      ['sherpa-onnx:parakeet', { kind: 'sherpa-onnx', model: 'parakeet' }],
      ['sherpa-onnx:/models/a:b', { kind: 'sherpa-onnx', model: '/models/a:b' }],
      ['openai:http://localhost:8000/v1/', { kind: 'openai', baseUrl: 'http://localhost:8000/v1', model: null }],
      [
        'openai:https://api.example.com/v1#whisper-1',
        { kind: 'openai', baseUrl: 'https://api.example.com/v1', model: 'whisper-1' },
      ],
      ['sherpa-onnx:', MISTAKE],
      ['sherpa-onnx', MISTAKE],
      ['sherpa-onnxx', MISTAKE],
      ['openai:', MISTAKE],
      ['openai:localhost', MISTAKE],
      ['openai:ftp://x', MISTAKE],
      ['openai:http:x', MISTAKE],
      ['whisper', MISTAKE],
      ['pocketsphinx', MISTAKE],
      ['', MISTAKE],
      [null, MISTAKE],
    ],
  ],
];

const OIDC = { OIDC_ISSUER: 'https://id.example.com/', OIDC_CLIENT_ID: 'verbatim' };

for (const [name, reader, rows] of READERS) {
  test(`the reader "${name}" takes what it should and refuses the rest`, () => {
    const found = rows.map(([given]) => {
      const result = reader(given);
      return [given, 'mistake' in result ? MISTAKE : result.value];
    });

    assert.deepEqual(found, rows);
  });
}

test('a node without all audio roles and without STORAGE_URL gets a warning', () => {
  const doubts = (env: Record<string, string>) => doubtsAbout(readConfig(env));

  assert.match(doubts({ ROLES: 'api' }).join(), /leaves transcriber and janitor to other nodes.* set STORAGE_URL/);
  assert.equal(doubts({ ROLES: 'api,janitor,deliverer' }).length, 1);
  assert.deepEqual(doubts({ ROLES: 'api', STORAGE_URL: 's3://audio' }), []);
  assert.deepEqual(doubts({ ROLES: 'deliverer' }), []);
  assert.deepEqual(doubts({}), []);
});

const UNSERVED: [string, Record<string, string>, Record<string, string>][] = [
  ['DATABASE_CONNECTIONS', { DATABASE_CONNECTIONS: '40' }, { DATABASE_URL: 'postgres://db/verbatim' }],
  ['AWS_ENDPOINT_URL_S3', { AWS_ENDPOINT_URL_S3: 'http://bucket:7070' }, { STORAGE_URL: 's3://audio' }],
  ['OIDC_NAME', { OIDC_NAME: 'Example ID' }, OIDC],
  ['OIDC_CLIENT_SECRET', { OIDC_CLIENT_SECRET: 'secret' }, OIDC],
  ['AUDIO_URL_ALLOWED_TARGETS', { AUDIO_URL: 'off', AUDIO_URL_ALLOWED_TARGETS: '10.0.0.0/8' }, { AUDIO_URL: 'on' }],
  ['ENGINE_API_KEY', { ENGINE_API_KEY: 'key' }, { ENGINE_PRO: 'openai:http://127.0.0.1:8000/v1' }],
  ['AUDIO_RETENTION_HOURS', { AUDIO_RETENTION_HOURS: '721' }, { JOB_RETENTION_DAYS: '31' }],
  ['ENGINE_LIVE_LITE', { LIVE_SESSIONS: '0', ENGINE_LIVE_LITE: 'sherpa-onnx:small' }, { LIVE_SESSIONS: '1' }],
  ['ENGINE_LIVE_PRO', { LIVE_SESSIONS: '0', ENGINE_LIVE_PRO: 'sherpa-onnx:small' }, { LIVE_SESSIONS: '1' }],
  ['LIVE_STEP_SECONDS', { LIVE_SESSIONS: '0', LIVE_STEP_SECONDS: '2' }, { LIVE_SESSIONS: '1' }],
  ['MAX_LIVE_SESSIONS_PER_ACCOUNT', { LIVE_SESSIONS: '0', MAX_LIVE_SESSIONS_PER_ACCOUNT: '9' }, { LIVE_SESSIONS: '1' }],
];

for (const [name, given, served] of UNSERVED) {
  test(`${name} gets a warning where it has no effect`, () => {
    const [doubt, ...others] = doubtsAbout(readConfig(given));

    assert.match(doubt!, new RegExp(`^${name} has no effect `));
    assert.deepEqual(others, []);
    assert.deepEqual(doubtsAbout(readConfig({ ...given, ...served })), []);
  });
}

test('settings of the embedded database and of the listener with TLS get a warning where those are not used', () => {
  const database = { POSTGRES_BIN: '/usr/lib/postgresql/18/bin' };

  assert.deepEqual(doubtsAbout(readConfig(database)), []);
  assert.deepEqual(doubtsAbout(readConfig({ ...database, DATABASE_URL: 'postgres://db/verbatim' })), [
    'POSTGRES_BIN has no effect beside DATABASE_URL, which names another database. Correct one of the two.',
  ]);
  assert.match(doubtsAbout(readConfig({ TLS_PORT: '9443' })).join(), /^TLS_PORT has no effect without TLS_CERT_FILE/);
  assert.deepEqual(doubtsAbout(readConfig({ TLS_PORT: '8443' })), []);
});

test('the environment of a role has the thread pool size, unless it is set', () => {
  const given = { HOME: '/x' };

  assert.deepEqual(roleEnvironment(given), { HOME: '/x', UV_THREADPOOL_SIZE: '16', MALLOC_ARENA_MAX: '1' });
  assert.equal(roleEnvironment({ UV_THREADPOOL_SIZE: '4' })['UV_THREADPOOL_SIZE'], '4');
});

test('audio is kept for a day unless the settings say otherwise', () => {
  assert.equal(readConfig({}).audioRetentionHours, 24);
  assert.equal(readConfig({ AUDIO_RETENTION_HOURS: '0' }).audioRetentionHours, 0);
});
