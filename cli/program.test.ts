import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { runVerbatim } from '../test/fixtures/cli.ts';
import { temporaryFolder } from '../test/fixtures/service.ts';

test('the help lists all commands in groups, and each command has a help of its own', async () => {
  const { code, stdout, stderr } = await runVerbatim('--help');
  const bare = await runVerbatim([]);

  assert.deepEqual([code, stderr], [0, '']);
  assert.deepEqual(bare, { code, stdout, stderr });
  const names = [...stdout.matchAll(/^ {2}([a-z]+) {2,}\S/gm)].map(([, name]) => name!);
  for (const name of ['transcribe', 'jobs', 'whoami', 'accounts', 'models', 'serve', 'bench']) {
    assert.ok(names.includes(name), name);
  }
  for (const name of names) {
    const help = await runVerbatim([name, '--help']);
    assert.deepEqual([help.code, help.stderr], [0, ''], name);
    assert.match(help.stdout, new RegExp(`^Usage: verbatim ${name}\\b`));
    assert.deepEqual(await runVerbatim(['help', name]), help);
  }
});

test('the version is that of the project', async () => {
  const { version } = JSON.parse(fs.readFileSync(path.join(import.meta.dirname, '../package.json'), 'utf8'));

  assert.deepEqual(await runVerbatim('--version'), { code: 0, stdout: `${version}\n`, stderr: '' });
});

for (const [line, message] of [
  ['toString', /unknown command 'toString'/],
  ['transcibe a.wav', /unknown command 'transcibe'\n\(Did you mean transcribe\?\)/],
  ['jobs fly', /unknown command 'fly'/],
  ['jobs get', /missing required argument 'job'/],
  ['jobs get a b', /too many arguments/],
  ['jobs list --colour red', /unknown option '--colour'\n\(Did you mean --color\?\)/],
  ['jobs list --limit many', /It must be a whole number/],
  ['jobs list --after soon', /It must be a time such as/],
  ['jobs list --color red', /Allowed choices are auto, always, never/],
  ['--url ftp://a whoami', /"ftp:\/\/a" is not the URL of a service/],
  ['--url http://key@a whoami', /is not the URL of a service/],
] as const) {
  test(`"${line}" is wrong use`, async () => {
    const { code, stdout, stderr } = await runVerbatim(line);

    assert.deepEqual([code, stdout], [2, '']);
    assert.match(stderr, message);
  });
}

for (const [line, page] of [
  ['jobs list', 'jobs'],
  ['jobs get job_1', 'jobs/job_1'],
  ['jobs follow job_1', 'jobs/job_1'],
  ['jobs transcript job_1', 'jobs/job_1'],
  ['live', 'live'],
  ['webhooks list', 'webhooks'],
  ['webhooks get wh_1', 'webhooks/wh_1'],
  ['webhooks deliveries wh_1', 'webhooks/wh_1'],
  ['webhooks delivery wh_1 dlv_1', 'webhooks/wh_1/deliveries/dlv_1'],
  ['events list', 'events'],
  ['events get evt_1', 'events/evt_1'],
  ['search one two', 'search?q=one%20two'],
  ['keys list', 'keys'],
  ['usage', 'usage'],
  ['balance', 'usage'],
  ['ledger', 'usage'],
  ['accounts list', 'operator/accounts'],
  ['accounts show acct_1', 'operator/accounts/acct_1'],
  ['keys list acct_1', 'operator/accounts/acct_1'],
  ['audit list', 'operator/audit'],
  ['settings', 'operator/settings'],
  ['models list', 'operator/models'],
] as const) {
  test(`"${line} --web" opens the page ${page} of the console, and asks the service nothing`, async () => {
    const env = { VERBATIM_URL: 'http://127.0.0.1:1', ADMIN_TOKEN: 'token', BROWSER: '/bin/true' };

    const opened = await runVerbatim(`${line} --web`, { env });
    const printed = await runVerbatim(`${line} --web --quiet`, { env });

    const address = `http://127.0.0.1:1/#/${page}`;
    assert.deepEqual(opened, { code: 0, stdout: '', stderr: `Opening ${address}\n` });
    assert.equal(printed.stdout, `${address}\n`);
  });
}

test('without a key the command says how to sign in', async () => {
  const { code, stderr } = await runVerbatim('whoami');

  assert.equal(code, 4);
  assert.match(stderr, /^verbatim: You are not signed in at http:\/\/127\.0\.0\.1:8080: run "verbatim init"/);
});

test('a service that does not answer is named', async () => {
  const env = { VERBATIM_URL: 'http://127.0.0.1:65535', VERBATIM_API_KEY: 'vb_x' };

  const { code, stderr } = await runVerbatim('whoami', { env });

  assert.equal(code, 1);
  assert.match(
    stderr,
    /^verbatim: No complete answer came from http:\/\/127\.0\.0\.1:65535 \(ECONNREFUSED\)\. Check that the service is running\.\n$/,
  );
});

const PROFILES = {
  current: 'home',
  profiles: {
    home: { url: 'http://home.example', api_key: 'vb_home' },
    work: { url: 'https://work.example/verbatim', api_key: 'vb_work' },
  },
};

function writeProfiles(mode: number): { env: Record<string, string>; file: string } & Disposable {
  const folder = temporaryFolder();
  const file = path.join(folder, 'verbatim', 'profiles.json');
  fs.mkdirSync(path.dirname(file));
  fs.writeFileSync(file, JSON.stringify(PROFILES), { mode });
  fs.chmodSync(file, mode);
  return {
    env: { XDG_CONFIG_HOME: folder },
    file,
    [Symbol.dispose]: () => fs.rmSync(folder, { recursive: true }),
  };
}

test('a file of profiles that others may read is refused with the command that mends it', async () => {
  using profiles = writeProfiles(0o644);

  const { code, stderr } = await runVerbatim('whoami', { env: profiles.env });

  assert.equal(code, 1);
  assert.equal(
    stderr,
    `verbatim: ${profiles.file} holds keys, but others may read it (mode 644): run chmod 600 ${profiles.file}\n`,
  );
});
