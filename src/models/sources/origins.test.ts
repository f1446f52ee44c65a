import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { modelOrigins } from './origins.ts';

const HUB = { hubUrl: 'https://hub.example' };

/** A home with these files. */
function homeWith(files: Record<string, string>): { HOME: string } & Disposable {
  const home = mkdtempSync(path.join(os.tmpdir(), 'verbatim-home-'));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.join(home, path.dirname(name)), { recursive: true });
    writeFileSync(path.join(home, name), text);
  }
  return { HOME: home, [Symbol.dispose]: () => rmSync(home, { recursive: true }) };
}

test('without any configuration the registries are the public ones', () => {
  using home = homeWith({});

  const { pip, npm } = modelOrigins(HUB, { HOME: home.HOME, npm_config_globalconfig: '/nowhere' });

  assert.deepEqual([pip.authorization, npm], [null, { url: 'https://registry.npmjs.org/', authorization: null }]);
});

test("pip's configuration names a mirror: its section for installs, its last file, and before all the environment", () => {
  const conf = '[global]\n# index-url = https://no.example/\ntimeout = 5\nindex_url = https://mirror.example/simple/\n';
  using home = homeWith({
    '.pip/pip.conf': '[global]\nindex-url = https://old.example/simple\n',
    '.config/pip/pip.conf': conf,
    'other.conf': '[install]\nindex-url: https://no.example/\nindex-url = https://install.example/simple\n',
  });
  const { HOME } = home;
  const urlFor = (env: Record<string, string>) => modelOrigins(HUB, { HOME, ...env }).pip.url;

  assert.equal(urlFor({}), 'https://mirror.example/simple/');
  assert.equal(urlFor({ PIP_CONFIG_FILE: path.join(HOME, 'other.conf') }), 'https://install.example/simple/');
  assert.equal(urlFor({ PIP_CONFIG_FILE: os.devNull }), 'https://pypi.org/simple/');
  assert.equal(urlFor({ PIP_INDEX_URL: 'https://here.example' }), 'https://here.example/');
  assert.equal(urlFor({ PIP_INDEX_URL: 'file:///etc' }), 'https://pypi.org/simple/');
});

test('a user and a password in the URL become a header', () => {
  const { pip } = modelOrigins(HUB, { PIP_INDEX_URL: 'https://me:p%40ss@mirror.example/simple' });

  const authorization = `Basic ${Buffer.from('me:p@ss').toString('base64')}`;
  assert.deepEqual(pip, { url: 'https://mirror.example/simple/', authorization });
});

test("npm's configuration names a registry and its token, which may be a variable", () => {
  const npmrc =
    'registry="https://npm.example/all"\n//npm.example/all/:_authToken=$' + '{TOKEN}\n//other.example/:_authToken=x\n';
  using home = homeWith({ '.npmrc': npmrc });
  const { HOME } = home;

  const { npm } = modelOrigins(HUB, { HOME, TOKEN: 'secret' });
  const other = modelOrigins(HUB, { HOME, npm_config_registry: 'https://third.example/' }).npm;

  assert.deepEqual(npm, { url: 'https://npm.example/all/', authorization: 'Bearer secret' });
  assert.deepEqual(other, { url: 'https://third.example/', authorization: null });
});
