import assert from 'node:assert/strict';
import test from 'node:test';
import { TONE_MODEL } from './fixtures/audio.ts';
import { descendantsOf } from './processes.ts';
import { openService } from './service.ts';
import { until } from './until.ts';

test('an engine process that is killed comes back, is counted, and leaves the service ready', async () => {
  const engine = `sherpa-onnx:${TONE_MODEL}`;
  await using service = await openService({ ENGINE_LITE: engine, ENGINE_PRO: engine, TRANSCRIBE_CONCURRENCY: '1' });
  const engines = () =>
    descendantsOf(service.pid).filter(({ arguments: args }) => args.some((arg) => arg.endsWith('sherpa-child.ts')));
  const [victim] = engines();

  process.kill(victim!.pid, 'SIGKILL');
  const successor = await until('another engine process', () => engines().find(({ pid }) => pid !== victim!.pid));

  assert.notEqual(successor.pid, victim!.pid);
  const metrics = await (await fetch(`${service.baseUrl}/metrics`)).text();
  assert.match(metrics, /^verbatim_engine_restarts_total\{engine="tone"\} 1$/m);
  assert.equal((await fetch(`${service.baseUrl}/readyz`)).status, 200);
});
