import assert from 'node:assert/strict';
import { cpSync, readFileSync, renameSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { openService, temporaryFolder } from '../fixtures/service.ts';
import { SPEECH_MODEL, withSpeechModel } from '../fixtures/speech-model.ts';
import { until } from '../fixtures/until.ts';

const SPEECH = readFileSync(new URL('../../assets/speech/librivox-0880.wav', import.meta.url));
const UNNAMED = { ENGINE_LITE: '', ENGINE_PRO: '' };

test(
  'a service takes jobs before it has a model, says so, and transcribes them when one is there',
  withSpeechModel,
  async () => {
    const noModel = (reasons: string[]) => reasons.every((reason) => reason.startsWith('No model yet'));
    await using service = await openService({ ...UNNAMED, MODEL_DOWNLOAD: 'off' }, temporaryFolder(), noModel);
    const { key } = await service.account();
    const form = new FormData();
    form.append('async', 'true');
    form.append('file', new Blob([Uint8Array.from(SPEECH)]), 'speech.wav');
    const request = { method: 'POST', headers: { 'x-api-key': key }, body: form };

    const accepted = await fetch(`${service.baseUrl}/v1/transcribe`, request);
    const job = (await accepted.json()) as { id: string; status: string };
    const whileWaiting = (await (await fetch(`${service.baseUrl}/readyz`)).json()) as { reasons: string[] };
    // As a pull does: the folder has its name when it is complete.
    const models = path.join(service.dataDir, 'models');
    cpSync(SPEECH_MODEL, path.join(models, '.partial/moonshine-tiny'), { recursive: true });
    renameSync(path.join(models, '.partial/moonshine-tiny'), path.join(models, 'moonshine-tiny'));
    const ended = await until('the job to end', async () => {
      const answer = await fetch(`${service.baseUrl}/v1/jobs/${job.id}?wait=5`, { headers: { 'x-api-key': key } });
      const shown = (await answer.json()) as { status: string; text: string; model: string };
      return shown.status === 'completed' ? shown : null;
    });

    assert.deepEqual([accepted.status, job.status], [202, 'queued']);
    assert.match(whileWaiting.reasons.join(), /^No model yet/);
    assert.match(ended.text, /^He was not an ill.*young man/);
    assert.equal(ended.model, 'moonshine-tiny');
  },
);

test('a new data directory has the first model of the machine from the cache', withSpeechModel, async () => {
  const cache = { XDG_CACHE_HOME: path.resolve(SPEECH_MODEL, '../../..'), HF_ENDPOINT: 'http://127.0.0.1:1' };
  await using service = await openService({ ...UNNAMED, ...cache, MODEL_DOWNLOAD: 'on' });
  const { key } = await service.account();
  const models = await fetch(`${service.baseUrl}/v1/models/pro`, { headers: { 'x-api-key': key } });

  assert.equal(((await models.json()) as { engine: string }).engine, 'moonshine-tiny');
});
