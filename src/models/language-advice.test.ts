import assert from 'node:assert/strict';
import { test } from 'node:test';
import { languageAdvice } from './language-advice.ts';

test('the advice for a language names the setting too where a pulled model is not used by itself', () => {
  const adviceFor = (language: string, engine: string, isNamed: boolean) =>
    languageAdvice(language, { engine, setting: 'ENGINE_PRO', isNamed, command: 'verbatim' });
  const pull = 'The operator of the service can add it: verbatim models pull whisper-base';

  assert.equal(adviceFor('de', 'moonshine-tiny', false), pull);
  assert.equal(adviceFor('nb-NO', 'put-there-by-hand', false), pull);
  assert.equal(adviceFor('de', 'parakeet-110m', false), `${pull}, and ENGINE_PRO=sherpa-onnx:whisper-base`);
  assert.equal(adviceFor('de', 'moonshine-tiny', true), `${pull}, and ENGINE_PRO=sherpa-onnx:whisper-base`);
  assert.equal(adviceFor('tlh', 'moonshine-tiny', false), null);
});
