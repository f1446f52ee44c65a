import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { adminRoutes } from '../../../src/accounts/api/admin-routes.ts';
import { findNamesOfActors } from '../../../src/accounts/keys/key-store.ts';
import { adminInvitationRoute } from '../../../src/accounts/people/api/invitation-routes.ts';
import { auditRoutes } from '../../../src/audit/routes.ts';
import { buildServer, closeServer } from '../../../src/http/server/server.ts';
import { openLog } from '../../../src/platform/log.ts';
import { runVerbatim } from '../../../test/fixtures/cli.ts';
import { openTestDatabase } from '../../../test/fixtures/database/test-database.ts';
import { runtimeOn } from '../../../test/fixtures/runtime.ts';

const TOKEN = 'admin-token-of-the-test';

async function openEnvironment() {
  const db = await openTestDatabase();
  const runtime = runtimeOn(db, { callers: { forgetAll: () => undefined }, secretsKeysBase64: '' });
  const app = buildServer({
    routes: [...adminRoutes(runtime), adminInvitationRoute(runtime), ...auditRoutes(runtime, findNamesOfActors)],
    auth: { findCaller: async () => null, adminToken: TOKEN },
    limits: { admit: async () => null },
    log: openLog('silent'),
    metrics: { requestEnded: () => undefined, rateRefused: () => undefined },
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
  const run = (line: string, env = {}) => runVerbatim(line, { env: { VERBATIM_URL: url, ADMIN_TOKEN: TOKEN, ...env } });
  return {
    url,
    run,
    /** Standard output of a command that succeeds. */
    async outputOf(line: string): Promise<string> {
      const { code, stdout, stderr } = await run(line);
      assert.equal(code, 0, stderr);
      return stdout;
    },
    async [Symbol.asyncDispose]() {
      await closeServer(app, 0);
      await db[Symbol.asyncDispose]();
    },
  };
}

test('an invitation is printed as a whole link', async () => {
  await using fixture = await openEnvironment();
  const { id } = JSON.parse(await fixture.outputOf('accounts create Ada --json'));

  const link = await fixture.outputOf(`accounts invite ${id} --role member --email ada@example.com`);
  const [entry] = JSON.parse(await fixture.outputOf('audit list --limit 1 --json')).data;

  assert.ok(link.startsWith(`${fixture.url}/#invitation=`), link);
  assert.deepEqual([entry.action, entry.details], ['invitation.created', { role: 'member' }]);
});

test('accounts and keys are made, listed, credited and revoked', async () => {
  await using fixture = await openEnvironment();
  const { outputOf } = fixture;

  const account = JSON.parse(await outputOf('accounts create Ada --plan pro --credits 10 --json'));
  const limits = '--scopes jobs:read,jobs:write --expires-at 2099-01-01T00:00:00Z';
  const key = JSON.parse(await outputOf(`keys create ${account.id} --name laptop ${limits} --json`));
  const credit = await outputOf(`accounts credit ${account.id} -2.5 --note refund`);
  const shown = await outputOf(`accounts show ${account.id}`);
  const keys = await outputOf(`keys list ${account.id}`);
  const revoked = await fixture.run(`keys revoke ${key.id} --operator`);
  const none = await fixture.run(`keys list ${account.id}`);

  assert.match(key.key, /^vb_/);
  assert.deepEqual([key.scopes, key.expires_at], [['jobs:read', 'jobs:write'], '2099-01-01T00:00:00.000Z']);
  assert.match(keys, /jobs:read,jobs:write {2}\S+ {2}2099-01-01T00:00:00.000Z {2}never {6}- {8}laptop\n$/);
  assert.match(credit, /^led_\S+ {2}-2.5 credits, the balance is 7.5\n$/);
  assert.match(shown, new RegExp(`^account +${account.id}\nname +Ada\nplan +pro\ncredits +7.5\n`));
  assert.match(keys, /^key +prefix +scopes +created +expires +last used +made by +name\n/);
  assert.ok(keys.split('\n')[1]!.startsWith(`${key.id}  ${key.prefix}…`) && !keys.includes(key.key));
  assert.deepEqual(revoked, { code: 0, stdout: '', stderr: `${key.id} is revoked\n` });
  assert.deepEqual(none, { code: 0, stdout: '', stderr: 'No keys.\n' });
  const audit = (await outputOf(`audit list --account ${account.id}`)).split('\n');
  assert.ok(audit.some((line) => /operator +127\.0\.0\.1 +key\.deleted/.test(line) && line.includes(key.id)));
});

test('an account gets another name and plan', async () => {
  await using fixture = await openEnvironment();
  const account = JSON.parse(await fixture.outputOf('accounts create Ada --plan lite --json'));

  const renamed = await fixture.outputOf(`accounts update ${account.id} --name Grace`);
  const changed = JSON.parse(await fixture.outputOf(`accounts update ${account.id} --plan pro --json`));

  assert.match(renamed, /^name +Grace\nplan +lite$/m);
  assert.deepEqual([changed.name, changed.plan], ['Grace', 'pro']);
});

test('a list goes through all pages', async () => {
  await using fixture = await openEnvironment();
  await Promise.all(Array.from({ length: 101 }, (_, i) => fixture.outputOf(`accounts create a${i}`)));

  const [head, ...lines] = (await fixture.outputOf('accounts list --all')).trim().split('\n');

  assert.match(head!, /^account +plan +credits +held +created +name$/);
  assert.deepEqual([lines.length, new Set(lines).size], [101, 101]);
});

test('the token comes from the data directory when none is given', async () => {
  await using fixture = await openEnvironment();
  const dataDir = mkdtempSync(path.join(os.tmpdir(), 'verbatim-cli-'));
  writeFileSync(path.join(dataDir, 'admin-token'), `${TOKEN}\n`);

  const { code, stderr } = await fixture.run('accounts list', { ADMIN_TOKEN: '', DATA_DIR: dataDir });
  const without = await fixture.run('accounts list', { ADMIN_TOKEN: '', DATA_DIR: path.join(dataDir, 'none') });

  rmSync(dataDir, { recursive: true });
  assert.deepEqual([code, stderr], [0, 'No accounts.\n']);
  assert.equal(without.code, 4);
  assert.match(without.stderr, /No operator's token .*: set ADMIN_TOKEN/);
});

for (const [line, code, message] of [
  ['accounts fly', 2, /unknown command 'fly'/],
  ['accounts create', 2, /missing required argument 'name'/],
  ['accounts create Ada --credits many', 2, /It must be a number/],
  ['accounts create Ada --note x', 2, /unknown option '--note'/],
  ['accounts create Ada --plan gold', 2, /Allowed choices are lite, pro/],
  ['accounts update acct_x', 2, /Give --name, --plan or both/],
  ['accounts show acct_x', 5, /There is no such account/],
] as const) {
  test(`"${line}" ends with ${code} and what is wrong`, async () => {
    await using fixture = await openEnvironment();

    const { code: found, stderr } = await fixture.run(line);

    assert.equal(found, code);
    assert.match(stderr, message);
  });
}

test('a wrong token and a service that is not there are named', async () => {
  await using fixture = await openEnvironment();

  const wrongToken = await fixture.run('accounts list', { ADMIN_TOKEN: 'x'.repeat(20) });
  const nobody = await fixture.run('accounts list', { VERBATIM_URL: 'http://127.0.0.1:65535' });

  assert.equal(wrongToken.code, 4);
  assert.match(wrongToken.stderr, /token of operators \(ADMIN_TOKEN, DATA_DIR\) is of this service/);
  assert.equal(nobody.code, 1);
  assert.match(nobody.stderr, /No complete answer came from http:\/\/127.0.0.1:65535 \(ECONNREFUSED\)/);
});
