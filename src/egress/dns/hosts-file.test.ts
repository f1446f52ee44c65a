import assert from 'node:assert/strict';
import { rmSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { mock, test } from 'node:test';
import { temporaryFolder } from '../../../test/fixtures/service.ts';
import { openHostsFile } from './hosts-file.ts';

test('a name in a hosts file has all its addresses, in any letter case; comments and incomplete lines are ignored', async (t) => {
  const folder = temporaryFolder();
  t.after(() => rmSync(folder, { recursive: true }));
  const file = path.join(folder, 'hosts');
  writeFileSync(
    file,
    '127.0.0.1\tlocalhost # here\n::1 localhost ip6-localhost\n#10.0.0.1 off\n\n10.0.0.5  Hooks.Corp.Example. hooks\r\n10.0.0.6\n',
  );

  const hosts = openHostsFile(file);

  assert.deepEqual(await hosts.addressesOf('localhost'), ['127.0.0.1', '::1']);
  assert.deepEqual(await hosts.addressesOf('ip6-localhost'), ['::1']);
  assert.deepEqual(await hosts.addressesOf('hooks.corp.example'), ['10.0.0.5']);
  assert.deepEqual(await hosts.addressesOf('hooks'), ['10.0.0.5']);
  assert.deepEqual(await hosts.addressesOf('off'), []);
});

test('a changed hosts file is read again, and a deleted one has no names', async (t) => {
  const folder = temporaryFolder();
  t.after(() => rmSync(folder, { recursive: true }));
  const file = path.join(folder, 'hosts');
  let nowMs = 0;
  const now = mock.method(performance, 'now', () => nowMs);
  t.after(() => now.mock.restore());
  const hosts = openHostsFile(file);
  const addresses = async () => {
    nowMs += 1_000;
    return await hosts.addressesOf('hooks.example');
  };

  const before = await addresses();
  writeFileSync(file, '10.0.0.5 hooks.example\n');
  const first = await addresses();
  const again = await addresses();
  writeFileSync(file, '10.0.0.6 hooks.example\n');
  utimesSync(file, 1, 1);
  const changed = await addresses();
  rmSync(file);

  assert.deepEqual([before, first, again, changed], [[], ['10.0.0.5'], ['10.0.0.5'], ['10.0.0.6']]);
  assert.deepEqual(await addresses(), []);
});
