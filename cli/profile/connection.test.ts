import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../../test/fixtures/service.ts';
import { findConnection } from './connection.ts';
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
