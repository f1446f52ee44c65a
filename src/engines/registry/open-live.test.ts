import assert from 'node:assert/strict';
import os from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { openTestFolder, STREAMING_TONE_MODEL, TONE_MODEL } from '../../../test/fixtures/audio/test-audio.ts';
import { childProcesses } from '../../../test/fixtures/processes/children.ts';
import { systemClock } from '../../platform/clock.ts';
import { openLog } from '../../platform/log.ts';
import { openEngine } from './open.ts';
import { openLiveEngine } from './open-live.ts';

const OPTIONS = {
  slots: 1,
  threadsPerSlot: 1,
  apiKey: null,
  tools: { folder: null },
  log: openLog('silent'),
  clock: systemClock,
  stepSeconds: null,
};

test('processes of live engines go before those of jobs, and not before the service', async () => {
  await using folder = await openTestFolder();
  const options = { ...OPTIONS, modelsDir: path.join(folder.path, 'models') };
  const niceness: number[] = [];
  for (const open of [
    () => openLiveEngine({ kind: 'sherpa-onnx', model: STREAMING_TONE_MODEL }, options),
    () => openLiveEngine({ kind: 'sherpa-onnx', model: TONE_MODEL }, options),
    () => openEngine({ kind: 'sherpa-onnx', model: TONE_MODEL }, options),
  ]) {
    await using engine = await open();
    await engine.warmUp();
    niceness.push(...childProcesses().map((pid) => os.getPriority(pid) - os.getPriority()));
  }

  const [streaming, agreeing, jobs] = niceness as [number, number, number];
  assert.equal(niceness.length, 3);
  assert.ok(0 <= streaming && streaming <= agreeing && agreeing < jobs, niceness.join());
});
