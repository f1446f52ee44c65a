import assert from 'node:assert/strict';
import test from 'node:test';
import type { Webhook } from '#sdk/api.ts';
import { changedFields } from './webhook-fields.ts';

const webhook = {
  id: 'wh_1',
  url: 'https://a.example/',
  description: null,
  max_per_second: 5,
  active: true,
  events: ['transcription.completed', 'webhook.test'],
  headers: ['X-Tenant'],
} as unknown as Webhook;
const { url, events, description, max_per_second } = webhook;
const same = { url, events, description, max_per_second };

test('what is as before is not sent', () => {
  assert.deepEqual(changedFields(webhook, same), {});
  assert.deepEqual(changedFields({ ...webhook, headers: [] }, { ...same, headers: null }), {});
});

test('each field that differs is sent', () => {
  const other = { events: ['webhook.test' as const], max_per_second: null };

  assert.deepEqual(changedFields(webhook, { ...same, ...other }), other);
  assert.deepEqual(changedFields(webhook, { ...same, headers: null }), { headers: null });
  assert.deepEqual(changedFields(webhook, { ...same, headers: { 'X-Tenant': 'a' } }), { headers: { 'X-Tenant': 'a' } });
});
