import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { openTestDatabase } from '../../test/fixtures/database/test-database.ts';
import { adminRoutes } from '../accounts/api/admin-routes.ts';
import { auditRoutes } from '../audit/routes.ts';
import { buildServer, closeServer } from '../http/server/server.ts';
import { openLog } from '../platform/log.ts';
import { CommandError, runCommand } from './main.ts';

const TOKEN = 'admin-token-of-the-test';

async function openEnvironment() {
  const db = await openTestDatabase();
  const app = buildServer({
    routes: [
      ...adminRoutes({ db, callers: { forgetAll: () => undefined }, rates: { lite: 1, pro: 2 } }),
      ...auditRoutes({ db }),
    ],
    auth: { findCaller: async () => null, adminToken: TOKEN },
    limits: { admit: async () => null },
    log: openLog('silent'),
    metrics: { requestEnded: () => undefined, rateRefused: () => undefined },
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
  return {
    url,
    run: (line: string) => runCommand(line.split(' '), { VERBATIM_URL: url, ADMIN_TOKEN: TOKEN }),
    async [Symbol.asyncDispose]() {
      await closeServer(app, 0);
      await db[Symbol.asyncDispose]();
    },
  };
}

test('accounts and keys are made, listed, credited and revoked', async () => {
  await using fixture = await openEnvironment();

  const account = JSON.parse(await fixture.run('accounts create Ada --plan pro --credits 10 --json'));
  const limits = '--scopes jobs:read,jobs:write --expires-at 2099-01-01T00:00:00Z';
  const key = JSON.parse(await fixture.run(`keys create ${account.id} --name laptop ${limits} --json`));
  const credit = await fixture.run(`accounts credit ${account.id} -2.5 --note refund`);
  const shown = await fixture.run(`accounts show ${account.id}`);
  const keys = await fixture.run(`keys list ${account.id}`);
  const revoked = await fixture.run(`keys revoke ${key.id}`);

  assert.match(key.key, /^vb_/);
  assert.deepEqual([key.scopes, key.expires_at], [['jobs:read', 'jobs:write'], '2099-01-01T00:00:00.000Z']);
  assert.match(keys, /jobs:read,jobs:write {2}made \S+ {2}expires 2099-01-01T00:00:00.000Z {2}never used {2}laptop\n$/);
  assert.match(credit, /^led_\S+ {2}-2.5 credits\n$/);
  assert.equal(shown, `${account.id}  pro  7.5 credits  Ada\n`);
  assert.ok(keys.startsWith(`${key.id}  ${key.prefix}…`) && !keys.includes(key.key));
  assert.equal(revoked, `${key.id} is revoked\n`);
  assert.equal(await fixture.run(`keys list ${account.id}`), 'no keys\n');
  const audit = (await fixture.run(`audit list --account ${account.id}`)).split('\n');
  assert.ok(audit.some((line) => line.includes(`operator  127.0.0.1  key.deleted  ${key.id}  {}`)));
});

test('a list goes through all pages', async () => {
  await using fixture = await openEnvironment();
  await Promise.all(Array.from({ length: 101 }, (_, i) => fixture.run(`accounts create a${i}`)));

  const lines = (await fixture.run('accounts list')).trim().split('\n');

  assert.equal(new Set(lines).size, 101);
});

test('the token comes from the data directory when none is given', async () => {
  await using fixture = await openEnvironment();
  const dataDir = mkdtempSync(path.join(os.tmpdir(), 'verbatim-cli-'));
  writeFileSync(path.join(dataDir, 'admin-token'), `${TOKEN}\n`);

  const text = await runCommand(['accounts', 'list'], { VERBATIM_URL: fixture.url, DATA_DIR: dataDir });

  rmSync(dataDir, { recursive: true });
  assert.equal(text, 'no accounts yet\n');
});

const mistakes: [string, RegExp][] = [
  ['accounts fly', /There is no command "accounts fly".*usage:/s],
  ['accounts create', /takes 1 words/],
  ['accounts create Ada --credits many', /--credits must be a number/],
  ['accounts create Ada --note x', /has no option --note/],
  ['accounts create Ada --colour red', /colour/],
  ['accounts create Ada --plan gold', /plan must be one of "lite", "pro"/],
  ['accounts show acct_x', /There is no such account/],
];

for (const [line, message] of mistakes) {
  test(`"${line}" is told what is wrong`, async () => {
    await using fixture = await openEnvironment();

    await assert.rejects(fixture.run(line), (error) => error instanceof CommandError && message.test(error.message));
  });
}

test('a wrong token and a service that is not there are named', async () => {
  await using fixture = await openEnvironment();

  const wrongToken = runCommand(['accounts', 'list'], { VERBATIM_URL: fixture.url, ADMIN_TOKEN: 'x'.repeat(20) });
  await assert.rejects(wrongToken, /Is ADMIN_TOKEN/);
  const nobody = runCommand(['accounts', 'list'], { VERBATIM_URL: 'http://127.0.0.1:1', ADMIN_TOKEN: TOKEN });
  await assert.rejects(nobody, /Nothing answers at http:\/\/127.0.0.1:1/);
});
