import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { runHealth } from '../../bin/health.js';
import type { Config } from '../../src/config/settings.ts';
import { keepAddress } from '../../src/processes/data-directory.ts';
import { temporaryFolder } from '../../test/fixtures/service.ts';
import { findConnection } from './connection.ts';
import { findOperator } from './operator.ts';
import { readProfiles, saveProfile } from './profiles.ts';

const HOME = { url: 'http://home.example', api_key: 'vb_home' };
const WORK = { url: 'https://work.example/verbatim', api_key: 'vb_work' };

function openConfig(): { env: Record<string, string>; folder: string } & Disposable {
  const folder = temporaryFolder();
  const env = { XDG_CONFIG_HOME: folder };
  saveProfile(env, 'work', WORK);
  saveProfile(env, 'home', HOME);
  return { env, folder, [Symbol.dispose]: () => fs.rmSync(folder, { recursive: true }) };
}

for (const [title, env, choice, expected] of [
  ['the current profile', {}, {}, [HOME.url, 'vb_home', 'home']],
  ['a named profile', {}, { profile: 'work' }, [WORK.url, 'vb_work', 'work']],
  [
    'the environment before the profile',
    { VERBATIM_URL: 'http://e', VERBATIM_API_KEY: 'vb_e' },
    {},
    ['http://e', 'vb_e', 'default'],
  ],
  ['a key of the environment for the URL of the profile', { VERBATIM_API_KEY: 'vb_e' }, {}, [HOME.url, 'vb_e', 'home']],
  [
    'a named profile before the environment',
    { VERBATIM_URL: 'http://e', VERBATIM_API_KEY: 'vb_e' },
    { profile: 'work' },
    [WORK.url, 'vb_work', 'work'],
  ],
  ['the key of a profile not for another service', { VERBATIM_URL: 'http://e' }, {}, ['http://e', null, 'home']],
  [
    'the key of a profile not for another --url',
    {},
    { profile: 'work', url: 'https://work.example.org' },
    ['https://work.example.org', null, 'work'],
  ],
  [
    'the key of a profile for another path of its service',
    {},
    { url: 'http://home.example/v2/' },
    ['http://home.example/v2', 'vb_home', 'home'],
  ],
  ['an empty variable counts as absent', { VERBATIM_URL: '', VERBATIM_API_KEY: '' }, {}, [HOME.url, 'vb_home', 'home']],
] as const) {
  test(`a connection is made from ${title}`, () => {
    using config = openConfig();

    const { url, apiKey, profile } = findConnection({ ...config.env, ...env }, choice);

    assert.deepEqual([url, apiKey, profile], expected);
  });
}

test('without a URL a command asks the service that runs in its folder, at the port where it listens', async () => {
  const folder = temporaryFolder();
  const env = { XDG_CONFIG_HOME: path.join(folder, 'config') };
  const before = process.cwd();
  process.chdir(folder);
  const found = () => [findConnection(env, {}).url, findOperator({ ...env, ADMIN_TOKEN: 'adm_x' }, {}).url];
  try {
    fs.mkdirSync('data');
    fs.mkdirSync('data-demo');
    const service = { url: 'http://127.0.0.1:18180/', operator_url: 'http://127.0.0.1:9090/' };
    fs.writeFileSync('data/address.json', JSON.stringify({ pid: 2 ** 30, ...service }));
    const ended = found();
    keepAddress({ dataDir: 'data-demo' } as Config, service);
    fs.writeFileSync('data-demo/admin-token', 'adm_demo');
    const running = found();

    assert.deepEqual(ended, ['http://127.0.0.1:8080', 'http://127.0.0.1:8080']);
    assert.deepEqual(running, ['http://127.0.0.1:18180', 'http://127.0.0.1:9090']);
    assert.equal(findOperator(env, {}).token, 'adm_demo');
    assert.equal(findConnection({ ...env, VERBATIM_URL: 'http://e' }, {}).url, 'http://e');
    const lines: string[] = [];
    const output = { write: (line: string) => lines.push(line) };
    await runHealth([], { env, stdout: output, stderr: output });
    assert.match(lines.join(''), /^verbatim: 127\.0\.0\.1:18180 /);
  } finally {
    process.chdir(before);
    fs.rmSync(folder, { recursive: true });
  }
});

test('an unknown profile is refused, also one with a name that all objects have', () => {
  using config = openConfig();

  for (const profile of ['play', 'toString', '__proto__']) {
    assert.throws(() => findConnection(config.env, { profile }), /There is no profile/);
  }
});

test('profiles are written for their owner only, and no temporary file is left', () => {
  using config = openConfig();
  const folder = path.join(config.folder, 'verbatim');

  assert.deepEqual(fs.readdirSync(folder), ['profiles.json']);
  assert.equal(fs.statSync(path.join(folder, 'profiles.json')).mode & 0o777, 0o600);
  assert.equal(fs.statSync(folder).mode & 0o777, 0o700);
  assert.deepEqual(readProfiles(config.env), { current: 'home', profiles: { work: WORK, home: HOME } });
});

for (const text of [
  '{',
  '[]',
  '{"current":"a","profiles":{"a":{"url":1}}}',
  '{"current":"a","profiles":null}',
  '"x"',
]) {
  test(`a file of profiles with ${text} is refused with what to do`, () => {
    using config = openConfig();
    fs.writeFileSync(path.join(config.folder, 'verbatim', 'profiles.json'), text);

    assert.throws(() => readProfiles(config.env), /run "verbatim init"/);
  });
}
