import assert from 'node:assert/strict';
import { test } from 'node:test';
import { languageAdvice } from './language-advice.ts';

test('the advice for a language names the setting too where a pulled model is not used by itself', () => {
  const adviceFor = (language: string, isNamed: boolean) =>
    languageAdvice(language, { setting: 'ENGINE_PRO', isNamed, command: 'verbatim' });
  const pull = 'The operator of the service can add it: verbatim models pull whisper-base';

  assert.equal(adviceFor('de', false), pull);
  assert.equal(adviceFor('nb-NO', false), pull);
  assert.equal(adviceFor('de', true), `${pull}, and ENGINE_PRO=sherpa-onnx:whisper-base`);
  assert.equal(adviceFor('tlh', false), null);
});
