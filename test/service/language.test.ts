import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { openService } from '../fixtures/service.ts';
import { SPEECH_MODEL, withSpeechModel } from '../fixtures/speech-model.ts';

const SAMPLE = readFileSync(new URL('../../assets/speech/librivox-0880.wav', import.meta.url));

test(
  'a service on an English model of the catalogue refuses other languages by name, in both of its endpoints',
  withSpeechModel,
  async () => {
    const engine = `sherpa-onnx:${SPEECH_MODEL}`;
    await using service = await openService({ ENGINE_LITE: engine, ENGINE_PRO: engine });
    const { key } = await service.account();
    const send = async (route: string, language: string) => {
      const form = new FormData();
      form.append('language', language);
      form.append('file', new Blob([Uint8Array.from(SAMPLE)]), 'speech.wav');
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
  },
);
