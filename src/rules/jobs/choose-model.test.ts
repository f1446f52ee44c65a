import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Choosable, chooseModel, modelsInUse } from './choose-model.ts';

const MODELS = {
  'parakeet-v2': { languages: ['en'] },
  'parakeet-v3': { languages: ['en', 'de', 'fr'] },
  turbo: { languages: ['en', 'de', 'fr', 'ja', 'jw'] },
  moonshine: { languages: ['en'] },
  'whisper-base': { languages: ['en', 'de', 'fr', 'ja', 'jw'], features: ['translate'] },
  own: { languages: null },
};
type Name = keyof typeof MODELS;

/** Installed models, best first; the request's language; the model that serves it. */
const CASES: [installed: Name[], language: string | null, expected: Name][] = [
  [['moonshine'], 'en', 'moonshine'],
  [['moonshine'], null, 'moonshine'],
  [['moonshine'], 'de', 'moonshine'],
  [['moonshine', 'whisper-base'], 'en', 'moonshine'],
  [['moonshine', 'whisper-base'], 'en-GB', 'moonshine'],
  [['moonshine', 'whisper-base'], 'de', 'whisper-base'],
  [['moonshine', 'whisper-base'], 'jv', 'whisper-base'],
  [['moonshine', 'whisper-base'], 'xx', 'whisper-base'],
  [['moonshine', 'whisper-base'], null, 'whisper-base'],
  [['parakeet-v2', 'parakeet-v3', 'whisper-base'], 'en', 'parakeet-v2'],
  [['parakeet-v2', 'parakeet-v3', 'whisper-base'], 'de', 'parakeet-v3'],
  [['parakeet-v2', 'parakeet-v3', 'whisper-base'], 'ja', 'whisper-base'],
  [['parakeet-v2', 'parakeet-v3', 'whisper-base'], null, 'parakeet-v3'],
  [['turbo', 'moonshine'], 'en', 'turbo'],
  [['moonshine', 'own'], null, 'moonshine'],
  [['moonshine', 'own'], 'en', 'moonshine'],
  [['moonshine', 'own'], 'de', 'own'],
  [['whisper-base', 'own'], 'de', 'whisper-base'],
];

for (const [installed, language, expected] of CASES) {
  test(`of ${installed.join(', ')}, ${expected} serves ${language ?? 'a request without a language'}`, () => {
    assert.equal(chooseModel(modelsNamed(installed), { language }), MODELS[expected]);
  });
}

test('a translation takes a model that translates, where there is one', () => {
  const request = { language: 'en', translateTo: 'en' };
  assert.equal(chooseModel(modelsNamed(['moonshine', 'whisper-base']), request), MODELS['whisper-base']);
  assert.equal(chooseModel(modelsNamed(['moonshine']), request), MODELS.moonshine);
});

const IN_USE: [installed: Name[], expected: Name[]][] = [
  [['parakeet-v2', 'moonshine'], ['parakeet-v2']],
  [
    ['moonshine', 'whisper-base'],
    ['moonshine', 'whisper-base'],
  ],
  [['turbo', 'moonshine', 'whisper-base'], ['turbo']],
  [
    ['parakeet-v2', 'parakeet-v3', 'whisper-base'],
    ['parakeet-v2', 'parakeet-v3', 'whisper-base'],
  ],
  [['moonshine', 'own'], ['moonshine']],
  [['own'], ['own']],
];

for (const [installed, expected] of IN_USE) {
  test(`of ${installed.join(', ')}, ${expected.join(' and ')} are loaded`, () => {
    assert.deepEqual(
      modelsInUse(modelsNamed(installed)),
      expected.map((name) => MODELS[name]),
    );
  });
}

function modelsNamed(names: readonly Name[]): Choosable[] {
  return names.map((name) => MODELS[name]);
}
