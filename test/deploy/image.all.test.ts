import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { filesOfImage } from '../../scripts/release/image-context.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
const DOCKERFILE = fs.readFileSync(path.join(ROOT, 'Dockerfile'), 'utf8');
const run = promisify(execFile);

test('the service runs from the files that the image has, and writes to none of their folders', async () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'verbatim-test-'));
  const [copy, data] = [path.join(folder, 'verbatim'), path.join(folder, 'data')];
  const files = filesOfImage();
  for (const file of files) fs.cpSync(path.join(ROOT, file), path.join(copy, file));
  linkPackages(path.join(copy, 'node_modules'));

  // As the Dockerfile does: bundles the service, starts it, opens its pages, and stops it.
  const env = { ...process.env, DATA_DIR: data, VERBATIM_INSTALL: 'off' };
  await run(process.execPath, [path.join(copy, 'bin/verbatim'), 'prepare', 'image'], { cwd: copy, env });
  const before = listing(copy);
  await run(process.execPath, ['scripts/start-once.ts'], { cwd: copy, env });

  assert.deepEqual(listing(copy), before);
  assert.ok(files.includes('bin/verbatim') && files.includes('docs/jobs.md'));
  assert.deepEqual(
    files.filter((file) => /\.test\.ts$|^(test|bench|sdk\/python)\//.test(file) && !file.endsWith('/README.md')),
    [],
  );
  fs.rmSync(folder, { recursive: true });
});

test('the image has /admin and /metrics on a port of their own', () => {
  const base = DOCKERFILE.split(/^FROM /m).find((stage) => / AS base\n/.test(stage))!;
  const settings = Object.fromEntries(
    [...base.matchAll(/^(?:ENV )? *([A-Z_]+)=(\S+)/gm)].map((match) => [match[1], match[2]]),
  );

  assert.deepEqual([settings['HOST'], settings['ADMIN_HOST'], settings['ADMIN_PORT']], ['0.0.0.0', '0.0.0.0', '9090']);
  assert.match(base, /^EXPOSE 8080 9090$/m);
  // Compose publishes that port to this machine only.
  assert.match(fs.readFileSync(path.join(ROOT, 'compose.yaml'), 'utf8'), /"127\.0\.0\.1:9090:9090"/);
});

test('each base image is named by its digest, and each image of the Dockerfile runs as user 10001', () => {
  const bases = [...DOCKERFILE.matchAll(/^ARG \w+=(\S+:\S+)/gm)].map((match) => match[1]!);
  const stages = DOCKERFILE.split(/^FROM /m).slice(1);
  const images = stages.filter((stage) => /^\S+ AS (full|slim)\n/.test(stage));

  assert.equal(bases.length, 2);
  for (const base of bases) assert.match(base, /^[a-z]+:[\w.-]+@sha256:[0-9a-f]{64}$/);
  assert.equal(images.length, 2);
  for (const image of images) assert.match(image, /^USER 10001:10001\s*$/m);
});

test('the bill of materials of an image lists the npm packages that are in it', async () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'verbatim-test-'));
  const [, settings = ''] = /^ENV (npm_config_sbom_[\s\S]*?)\n(?! )/m.exec(DOCKERFILE) ?? [];
  const [, command = ''] = /^RUN (.*npm sbom.*)$/m.exec(DOCKERFILE) ?? [];
  const manifest = {
    name: 'verbatim',
    version: '1.0.0',
    dependencies: { typebox: '*' },
    // As in the slim image, and as in every image.
    optionalDependencies: { 'sherpa-onnx-node': '*' },
    devDependencies: { typescript: '*' },
  };
  fs.writeFileSync(path.join(folder, 'package.json'), JSON.stringify(manifest));
  fs.cpSync(
    path.join(ROOT, 'node_modules/typebox/package.json'),
    path.join(folder, 'node_modules/typebox/package.json'),
  );
  const env = { ...process.env, ...Object.fromEntries(settings.split(/[\s\\]+/).map((one) => one.split('='))) };

  await run('sh', ['-c', command], { cwd: folder, env });

  const bill = JSON.parse(fs.readFileSync(path.join(folder, 'sbom.cdx.json'), 'utf8'));
  const names = (bill.components as { name: string }[]).map(({ name }) => name);
  assert.deepEqual([bill.bomFormat, bill.metadata.component.type, names], ['CycloneDX', 'application', ['typebox']]);
  assert.equal(DOCKERFILE.match(/npm sbom > sbom\.cdx\.json/g)?.length, 2);
  fs.rmSync(folder, { recursive: true });
});

/** The packages of this checkout, without what is cached beside them. */
function linkPackages(folder: string): void {
  fs.mkdirSync(folder);
  for (const name of fs.readdirSync(path.join(ROOT, 'node_modules'))) {
    if (name !== '.cache') fs.symlinkSync(path.join(ROOT, 'node_modules', name), path.join(folder, name));
  }
}

function listing(folder: string): string[] {
  const names = fs.readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return names.sort().map((name) => `${name} ${fs.lstatSync(path.join(folder, name)).mtimeMs}`);
}
