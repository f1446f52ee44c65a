import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '../http/api-error.ts';
import { readOptions } from './options.ts';
import { speakerBounds } from './speaker-options.ts';

function read(fields: Record<string, string>) {
  return readOptions({ fields: new Map(Object.entries(fields)), lists: new Map() });
}

for (const { fields, options, bounds } of [
  { fields: {}, options: {}, bounds: null },
  { fields: { diarize: 'false' }, options: { diarize: false }, bounds: null },
  { fields: { diarize: 'true' }, options: { diarize: true }, bounds: { min: 1, max: 32 } },
  { fields: { diarize: '1', speakers: '3' }, options: { diarize: true, speakers: 3 }, bounds: { min: 3, max: 3 } },
  { fields: { diarize: '1', speakers: 'true' }, options: { diarize: true }, bounds: { min: 1, max: 32 } },
  { fields: { speakers: 'false' }, options: {}, bounds: null },
  {
    fields: { diarize: 'true', min_speakers: '32' },
    options: { diarize: true, min_speakers: 32 },
    bounds: { min: 32, max: 32 },
  },
  {
    fields: { diarize: 'true', min_speakers: '2', max_speakers: '2' },
    options: { diarize: true, min_speakers: 2, max_speakers: 2 },
    bounds: { min: 2, max: 2 },
  },
]) {
  test(`${JSON.stringify(fields)} asks for ${bounds ? `${bounds.min} to ${bounds.max} speakers` : 'no speakers'}`, () => {
    assert.deepEqual(read(fields as Record<string, string>), options);
    assert.deepEqual(speakerBounds(options), bounds);
  });
}

for (const [param, fields] of [
  ['diarize', { diarize: '' }],
  ['diarize', { diarize: 'yes' }],
  ['speakers', { speakers: '2' }],
  ['max_speakers', { max_speakers: '2', diarize: '0' }],
  ['speakers', { diarize: '1', speakers: '0' }],
  ['speakers', { diarize: '1', speakers: '33' }],
  ['speakers', { diarize: '1', speakers: '2.5' }],
  ['speakers', { diarize: '1', speakers: ' 2' }],
  ['min_speakers', { diarize: '1', min_speakers: 'true' }],
  ['speakers', { diarize: '1', speakers: '2', min_speakers: '1' }],
  ['speakers', { diarize: '1', speakers: '2', max_speakers: '2' }],
  ['min_speakers', { diarize: '1', min_speakers: '3', max_speakers: '2' }],
] as [string, Record<string, string>][]) {
  test(`${JSON.stringify(fields)} is refused for ${param}`, () => {
    assert.throws(
      () => read(fields),
      (error) =>
        error instanceof ApiError && error.status === 400 && error.param === param && error.message.includes(param),
    );
  });
}
