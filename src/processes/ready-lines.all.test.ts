import assert from 'node:assert/strict';
import test from 'node:test';
import { openService } from '../../test/fixtures/service.ts';
import { until } from '../../test/fixtures/until.ts';
import { readConfig } from '../config/settings.ts';
import { readyLines } from './ready-lines.ts';

const TOKEN = 'a-token-of-the-operator-with-32-characters';

test('a start shows the console, the engine with a better one, the database, where the token lies, and how to stop', () => {
  const config = readConfig({ DATA_DIR: '/data', VERBATIM_COMMAND: 'bin/verbatim' });

  const about = { http: 'http://127.0.0.1:8080/', transcriber: 'moonshine-tiny' };
  const programs = { bin: '/usr/lib/postgresql/18/bin', version: '18.7', packageFolder: null };

  const lines = readyLines(config, about, programs).split('\n');

  assert.match(lines[0]!, /^Verbatim \d+\.\d+\.\d+ is ready\.$/);
  assert.deepEqual(lines.slice(1), [
    '  console      http://127.0.0.1:8080/',
    '  engine       moonshine-tiny',
    '  database     PostgreSQL 18.7, embedded (/usr/lib/postgresql/18/bin)',
    '  admin token  /data/admin-token',
    '  Ctrl-C stops the service.',
    '',
  ]);
});

test('the token of the settings is not shown, and a node without console and engine says so', () => {
  const text = readyLines(readConfig({ ADMIN_TOKEN: TOKEN }), {});

  assert.match(
    text,
    /console {6}none on this node\n {2}engine {7}none on this node\n {2}database {5}as set in DATABASE_URL\n.*as set in ADMIN_TOKEN/,
  );
  assert.ok(!text.includes(TOKEN));
});

test('a service that writes text shows these lines once it is ready, and its log as text', async () => {
  await using service = await openService({ LOG_FORMAT: 'text' });

  await until('the lines', () => service.logText().includes('Ctrl-C stops the service.'));

  const first = /^ {2}console {6}(.*)#setup=[\w-]{43} \(makes the first user\)$/m.exec(service.logText());
  assert.equal(first?.[1], `${service.baseUrl}/`);
  assert.match(service.logText(), /^\d\d:\d\d:\d\d info {2}http listening address=127\.0\.0\.1 /m);
  assert.doesNotMatch(service.logText(), /^\{/m);
});
