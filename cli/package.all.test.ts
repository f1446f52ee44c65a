import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { after, test } from 'node:test';
import { buildCli } from '../scripts/build-cli.ts';
import { temporaryFolder } from '../test/fixtures/service.ts';

const MAX_BYTES = 1_000_000;
const folder = temporaryFolder();
after(() => fs.rmSync(folder, { recursive: true }));

// No registry: what is not in the package is not there.
const env = {
  ...process.env,
  npm_config_registry: 'http://127.0.0.1:9',
  npm_config_cache: path.join(folder, 'cache'),
  npm_config_offline: 'true',
  npm_config_audit: 'false',
  npm_config_fund: 'false',
  npm_config_update_notifier: 'false',
};
const npm = (args: string[], cwd: string) => execFileSync('npm', args, { cwd, env, encoding: 'utf8', stdio: 'pipe' });

const built = path.join(folder, 'built');
const project = path.join(folder, 'project');
await buildCli(built);
fs.mkdirSync(project);
fs.writeFileSync(path.join(project, 'package.json'), '{ "private": true }');
const packed = npm(['pack', '--silent', built], folder).trim();
npm(['install', '--ignore-scripts', path.join(folder, packed)], project);
const program = path.join(project, 'node_modules/.bin/verbatim');
const run = (args: string[], more: Record<string, string> = {}) =>
  spawnSync(process.execPath, [program, ...args], {
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], XDG_CONFIG_HOME: folder, ...more },
  });

test('the package is small, without dependencies and without other files', () => {
  const { dependencies } = JSON.parse(fs.readFileSync(path.join(built, 'package.json'), 'utf8'));
  const licences = fs.readFileSync(path.join(built, 'THIRD-PARTY-LICENSES'), 'utf8');
  const files = fs.readdirSync(built).sort();
  const sizes = fs
    .readdirSync(built, { recursive: true })
    .map((file) => fs.statSync(path.join(built, String(file))).size);

  assert.equal(dependencies, undefined);
  assert.deepEqual(files, [
    'LICENSE',
    'README.md',
    'THIRD-PARTY-LICENSES',
    'chunks',
    'cli.js',
    'health.js',
    'package.json',
    'verbatim.js',
  ]);
  assert.match(licences, /^commander\n\n.*MIT/ms);
  assert.ok(sizes.reduce((sum, size) => sum + size) < MAX_BYTES);
  assert.deepEqual(
    fs.readdirSync(path.join(project, 'node_modules')).filter((name) => !name.startsWith('.')),
    ['@verbatim'],
  );
});

test('the installed program shows the commands that it has, and runs them', () => {
  const help = run(['--help']);
  const version = run(['--version']);
  const notSignedIn = run(['jobs', 'list']);
  const unreachable = run(['balance'], { VERBATIM_URL: 'http://127.0.0.1:65535', VERBATIM_API_KEY: 'vb_x' });

  assert.deepEqual([help.status, help.stderr], [0, '']);
  assert.match(help.stdout, /^Usage: verbatim .*^ {2}transcribe /ms);
  assert.doesNotMatch(help.stdout, /^ {2}serve /m);
  assert.match(version.stdout, /^\d+\.\d+\.\d+\n$/);
  assert.equal(notSignedIn.status, 4);
  assert.deepEqual([unreachable.status, unreachable.stdout], [1, '']);
  assert.match(unreachable.stderr, /^verbatim: No complete answer came from/);
});

test('health of the installed program asks the service at HOST and PORT', async () => {
  const paths: string[] = [];
  const server = http.createServer((request, response) => {
    paths.push(request.url!);
    response.writeHead(request.url === '/healthz' ? 200 : 503).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const PORT = String((server.address() as AddressInfo).port);
  const { spawn } = await import('node:child_process');
  const health = async (args: string[], env: Record<string, string>) => {
    const child = spawn(process.execPath, [program, 'health', ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    let text = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (text += chunk));
    const code = await new Promise((resolve) => child.once('close', resolve));
    return { code, text };
  };

  assert.deepEqual(await health([], { PORT, HOST: '0.0.0.0' }), { code: 0, text: '' });
  assert.deepEqual(await health(['--ready'], { PORT }), {
    code: 1,
    text: `verbatim: 127.0.0.1:${PORT} answered 503\n`,
  });
  assert.equal((await health(['--now'], { PORT })).code, 2);
  assert.deepEqual(paths, ['/healthz', '/readyz']);
  server.close();
  server.closeAllConnections();
  const gone = await health([], { PORT });
  assert.deepEqual(gone, { code: 1, text: `verbatim: 127.0.0.1:${PORT} does not answer: ECONNREFUSED\n` });
});
