import assert from 'node:assert/strict';
import test from 'node:test';
import { ApiError } from '../http/api-error.ts';
import { liveOptionFields, NOT_LIVE } from '../jobs/options.ts';
import { type LiveBody, liveBody, readLiveRequest } from './live-request.ts';

const read = (body: LiveBody) => readLiveRequest({ body, bodyText: JSON.stringify(body) }, 'pro');

test('an option that live sessions do not have is refused by its name, unless it is false', () => {
  for (const name of NOT_LIVE) {
    assert.throws(
      () => read({ [name]: 2 }),
      (cause) => cause instanceof ApiError && cause.param === name,
    );
    assert.deepEqual(read({ [name]: false }).request.options, {});
  }
});

test('a live session has a title and tags', () => {
  const { title, tags } = read({ title: ' Stand-up ', tags: ['daily', 'daily'] }).request;

  assert.deepEqual({ title, tags }, { title: 'Stand-up', tags: ['daily'] });
  assert.throws(
    () => read({ title: 'a\0' }),
    (cause) => cause instanceof ApiError && cause.param === 'title',
  );
});

test('every option of jobs is either taken by live sessions or refused', () => {
  const body = Object.keys(liveBody.properties);

  assert.deepEqual(
    [...Object.keys(liveOptionFields), ...NOT_LIVE].filter((name) => !body.includes(name)),
    [],
  );
  const { request } = read({ prompt: 'a talk', keywords: ['Kennedy'], delete_after_seconds: 60 });
  assert.deepEqual(request.options, { prompt: 'a talk', keywords: ['Kennedy'], delete_after_seconds: 60 });
});
