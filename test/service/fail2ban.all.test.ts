import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { ROOT } from '../../src/platform/installation.ts';
import { openService } from '../fixtures/service.ts';
import { until } from '../fixtures/until.ts';

test('the filter for fail2ban in SECURITY.md matches the log of failed sign-ins and wrong tokens, and no other line', async () => {
  await using service = await openService();
  const { key } = await service.account();
  const post = (route: string, headers: object, body: object) =>
    fetch(service.baseUrl + route, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
  const security = readFileSync(path.join(ROOT, 'SECURITY.md'), 'utf8');
  const failregex = /^failregex = (.+)$/m.exec(security)![1]!;
  const filter = new RegExp(failregex.replace('<HOST>', '(?<host>[0-9a-f.:]+)'));

  await post('/v1/sign-in', {}, { email: 'nobody@example.com', password: 'wrong' });
  await post('/admin/v1/accounts', { authorization: 'Bearer wrong' }, {});
  await post('/v1/session', { 'x-api-key': key }, {});
  const lines = () => service.logText().split('\n');
  await until('the lines', async () => lines().filter((line) => filter.test(line)).length === 2);
  await until('the session', async () => lines().some((line) => line.includes('"event":"session.created"')));

  const matched = lines().flatMap((line) => filter.exec(line)?.groups?.['host'] ?? []);
  assert.deepEqual(matched, ['127.0.0.1', '127.0.0.1']);
});
