import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { TONE_MODEL } from '../../../test/fixtures/audio/test-audio.ts';
import { toneSpeech } from '../../../test/fixtures/audio/tone/speech.ts';
import { originsOf } from '../../../test/fixtures/model.ts';
import { startHub } from '../../../test/fixtures/servers/hub.ts';
import { TEST_TOOLS } from '../../../test/fixtures/tools.ts';
import { openWorkingEngine } from '../../engines/registry/open.ts';
import { openLog } from '../../platform/log.ts';
import { pullModel } from './pull.ts';

test('a model pulled over an unreliable connection is the engine of the next start', async () => {
  const modelsDir = await mkdtemp(path.join(os.tmpdir(), 'verbatim-models-'));
  const files = await Promise.all(
    ['tone.onnx', 'tokens.txt'].map(async (name) => ({
      path: name,
      bytes: await readFile(path.join(TONE_MODEL, name)),
      isLarge: name.endsWith('.onnx'),
    })),
  );
  await using hub = await startHub(files);
  hub.misbehave('tone.onnx', { kind: 'cut', afterBytes: 4000 });

  await pullModel('tone-zipformer', { modelsDir, origins: originsOf(hub.url), catalogue: [catalogued(hub, files)] });
  const settings = {
    modelsDir,
    slots: 1,
    threadsPerSlot: 1,
    apiKey: null,
    tools: TEST_TOOLS,
    log: openLog('silent'),
  };
  const opened = await openWorkingEngine(null, settings);
  await using engine = opened.engine;

  assert.deepEqual(opened.spec, { kind: 'sherpa-onnx', model: 'tone-zipformer' });
  const asked = { language: null, timeoutMs: 20_000, signal: new AbortController().signal };
  const { segments } = await engine.transcribe(toneSpeech('hello world'), asked);
  assert.equal(segments.map(({ text }) => text).join(' '), 'hello world');
  await rm(modelsDir, { recursive: true });
});

function catalogued(hub: { repository: string; revision: string }, files: { path: string; bytes: Buffer }[]) {
  return {
    name: 'tone-zipformer',
    title: 'Tones',
    family: 'parakeet-ctc' as const,
    sources: [{ kind: 'hub' as const, repository: hub.repository, revision: hub.revision }],
    files: files.map(({ path: name, bytes }) => ({
      path: name,
      sizeBytes: bytes.length,
      sha256: createHash('sha256').update(bytes).digest('hex'),
    })),
    licence: 'MIT',
    attribution: 'this project',
    languages: ['en'],
    wer: null,
    needsMemoryMb: 10,
    advice: 'tests',
  };
}
