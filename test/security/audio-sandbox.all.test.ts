import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { findSandbox } from '../../src/audio/sandbox/sandbox.ts';
import { TONE_MODEL } from '../fixtures/audio/test-audio.ts';
import { openService, temporaryFolder } from '../fixtures/service.ts';
import { TEST_TOOLS } from '../fixtures/tools.ts';

const ENGINES = { ENGINE_LITE: `sherpa-onnx:${TONE_MODEL}`, ENGINE_PRO: `sherpa-onnx:${TONE_MODEL}` };
const { missing, reason } = await findSandbox(TEST_TOOLS);
const skip = missing.length > 0 && `not all protections work here: ${reason}`;
// Then decoders cannot run as a user of their own.
const isRootClosed = (statSync('/').mode & 0o001) === 0 && 'other users cannot enter the root folder here';

/** As on a machine that forbids namespaces: both programs that make them fail. */
function toolsWithoutNamespaces(): string {
  const folder = temporaryFolder();
  mkdirSync(path.join(folder, 'bin'));
  for (const name of ['bwrap', 'unshare']) {
    const file = path.join(folder, 'bin', name);
    writeFileSync(file, '#!/bin/sh\necho "No permissions to create a namespace" >&2\nexit 1\n');
    chmodSync(file, 0o755);
  }
  return folder;
}

async function protections(baseUrl: string, adminToken: string): Promise<Record<string, string>> {
  const answer = await fetch(`${baseUrl}/metrics`, { headers: { authorization: `Bearer ${adminToken}` } });
  const lines = (await answer.text()).matchAll(/^verbatim_sandbox_protection\{protection="(\w+)"\} (\d)$/gm);
  return Object.fromEntries([...lines].map(([, name, value]) => [name, value]));
}

test('where all protections hold, the service says so and may be told to require them', { skip }, async () => {
  await using service = await openService({ ...ENGINES, AUDIO_SANDBOX: 'require' });

  const shown = await protections(service.baseUrl, service.adminToken);

  assert.deepEqual(new Set(Object.values(shown)), new Set(['1']));
  assert.equal(Object.keys(shown).length, 7);
  assert.match(service.logText(), /"sandbox":"bubblewrap".*decoders of audio run with all protections/);
});

test('where namespaces are forbidden, the service starts and names the missing protections', {
  skip: isRootClosed,
}, async () => {
  await using service = await openService({ ...ENGINES, VERBATIM_TOOLS: toolsWithoutNamespaces() });

  const shown = await protections(service.baseUrl, service.adminToken);

  assert.deepEqual([shown['files'], shown['network'], shown['processes'], shown['capabilities']], ['0', '0', '0', '1']);
  assert.match(service.logText(), /"missing":\["files","network","processes".*No permissions to create a namespace/);
});

test('where namespaces are forbidden, a service that requires all protections does not start', async () => {
  const starting = openService({ ...ENGINES, AUDIO_SANDBOX: 'require', VERBATIM_TOOLS: toolsWithoutNamespaces() });

  await assert.rejects(starting, /missing: files, network, .* Install bubblewrap .* or set AUDIO_SANDBOX=best-effort/);
});
