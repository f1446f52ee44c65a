import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { openService } from '../fixtures/service.ts';

const SAMPLE = readFileSync(new URL('../../examples/sample.wav', import.meta.url));

test('a service on pocketsphinx refuses other languages than English by name, in both of its endpoints', async () => {
  await using service = await openService({ ENGINE_LITE: 'pocketsphinx', ENGINE_PRO: 'pocketsphinx' });
  const { key } = await service.account();
  const send = async (route: string, language: string) => {
    const form = new FormData();
    form.append('language', language);
    form.append('file', new Blob([Uint8Array.from(SAMPLE)]), 'sample.wav');
    const headers = { 'x-api-key': key };
    const answer = await fetch(service.baseUrl + route, { method: 'POST', headers, body: form });
    return { status: answer.status, json: (await answer.json()) as { error?: { type: string; param: string } } };
  };

  const german = [await send('/v1/transcribe', 'de'), await send('/v1/audio/transcriptions', 'de')];
  const english = await send('/v1/transcribe', 'en-GB');

  for (const { status, json } of german) {
    assert.deepEqual([status, json.error?.type, json.error?.param], [400, 'invalid_request', 'language']);
  }
  assert.equal(english.status, 200);
});
