import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import test, { after } from 'node:test';
import { longSpeech } from '../fixtures/audio/long-speech.ts';
import { openTestFolder, stereoWav, TONE_MODEL } from '../fixtures/audio/test-audio.ts';
import { readEvents } from '../fixtures/event-stream.ts';
import { randomFrom } from '../fixtures/random.ts';
import { openService, type TestService } from '../fixtures/service.ts';

const TONE_ENGINES = { ENGINE_LITE: `sherpa-onnx:${TONE_MODEL}`, ENGINE_PRO: `sherpa-onnx:${TONE_MODEL}` };
const SAMPLE_RATE = 16_000;
// Offset of the low 32 bits of the number of samples in a FLAC file (STREAMINFO, RFC 9639).
const FLAC_SAMPLES_AT = 22;

/** A FLAC file whose header claims another length than the audio has. */
async function flacWithWrongLength(lengths: { seconds: number; claimedSeconds: number }): Promise<Buffer> {
  await using folder = await openTestFolder();
  const file = await readFile(await folder.encode('a.flac', longSpeech(lengths.seconds, randomFrom(31)).pcm));
  file.writeUInt32BE(lengths.claimedSeconds * SAMPLE_RATE, FLAC_SAMPLES_AT);
  return file;
}

function clientOf(service: TestService, key: string) {
  const headers = { 'x-api-key': key };
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  const call = async (method: string, route: string, body?: FormData): Promise<any> =>
    await (await fetch(service.baseUrl + route, { method, headers, ...(body && { body }) })).json();
  return {
    job: (id: string) => call('GET', `/v1/jobs/${id}`),
    balance: () => call('GET', '/v1/balance'),
    cancel: (id: string) => call('POST', `/v1/jobs/${id}/cancel`),
    async submit(file: Buffer): Promise<string> {
      const form = new FormData();
      form.append('async', 'true');
      form.append('file', new Blob([new Uint8Array(file)]), 'a');
      return (await call('POST', '/v1/transcribe', form)).id;
    },
    /** The ends of the segments, as they are shown, until the job ends. */
    async *segmentEnds(id: string): AsyncGenerator<number> {
      const { body } = await fetch(`${service.baseUrl}/v1/jobs/${id}/events`, { headers });
      for await (const { event, data } of readEvents(body!)) if (event === 'segment') yield data.end;
    },
  };
}

const service = await openService(TONE_ENGINES);
after(() => service[Symbol.asyncDispose]());

test('text that was read from a job that is then canceled is paid for', async () => {
  const client = clientOf(service, (await service.account({ plan: 'lite', credits: 100 })).key);
  const id = await client.submit(stereoWav(longSpeech(1_800, randomFrom(5)).pcm));
  let readSeconds = 0;
  for await (const end of client.segmentEnds(id)) {
    readSeconds = end;
    if (end > 40) break;
  }

  const canceled = await client.cancel(id);

  const balance = await client.balance();
  assert.equal(canceled.status, 'canceled');
  assert.ok(canceled.cost >= readSeconds / 60 && canceled.cost < 30, `${canceled.cost} for ${readSeconds} s`);
  assert.deepEqual([balance.held, balance.amount], [0, Number((100 - canceled.cost).toFixed(6))]);
  assert.equal((await client.job(id)).cost, canceled.cost);
});

test('audio that is longer than its header claims is transcribed as far as the balance goes, and that is charged', async () => {
  const client = clientOf(service, (await service.account({ plan: 'lite', credits: 0.6 })).key);

  const id = await client.submit(await flacWithWrongLength({ seconds: 300, claimedSeconds: 31 }));
  const [readSeconds = 0] = (await Array.fromAsync(client.segmentEnds(id))).slice(-1);

  const [job, balance] = [await client.job(id), await client.balance()];
  assert.deepEqual([job.status, job.error.type, job.text], ['failed', 'insufficient_balance', null]);
  assert.ok(readSeconds <= 36, `${readSeconds} s were shown`);
  assert.ok(job.cost >= readSeconds / 60 && job.cost > 0.3 && job.cost <= 0.6, `${job.cost} for ${readSeconds} s`);
  assert.deepEqual([balance.held, balance.amount], [0, Number((0.6 - job.cost).toFixed(6))]);
});
