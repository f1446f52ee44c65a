import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EVENT_CATALOGUE, EVENT_TYPES } from '../../src/webhooks/events/event-types.ts';
import { readSources } from './sources.ts';

const KNOWN = [...EVENT_TYPES];

// Before the modules that read the table are loaded.
Object.assign(EVENT_CATALOGUE, {
  'job.archived': { schemaName: 'JobArchived', when: 'A job was archived.', subject: 'job', receivers: ['account'] },
});
EVENT_TYPES.push('job.archived' as never);
const { makeDocuments } = await import('../../scripts/docs.ts');
const { apiDocument } = await import('../../scripts/api-document.ts');

test('a type that is added to the table is in the API document, the SDK, the console and the docs', async () => {
  const { webhooks, components } = (await apiDocument()) as unknown as {
    webhooks: Record<string, unknown>;
    components: { schemas: { Webhook: { properties: { events: { items: { enum: string[] } } } } } };
  };
  const documents = await makeDocuments();

  assert.ok('job.archived' in webhooks);
  assert.deepEqual(components.schemas.Webhook.properties.events.items.enum, [...KNOWN, 'job.archived']);
  assert.match(documents['sdk/src/api.ts']!, /^export type AnyEvent = .*\bJobArchived\b.*;$/m);
  assert.match(documents['console/event-types.ts']!, /'job\.archived'/);
  assert.match(documents['docs/event-types.md']!, /^\| `job\.archived` +\| A job was archived\./m);
});

test('no other source lists the types', () => {
  const sources = readSources(['src', 'sdk/src', 'console', 'scripts'], '.ts').filter(({ isTest }) => !isTest);
  const listing = sources.filter(({ text }) => KNOWN.every((type) => text.includes(`'${type}'`)));

  assert.deepEqual(
    listing.map(({ file }) => file),
    // The first two are made from the table.
    ['console/event-types.ts', 'sdk/src/api.ts', 'src/webhooks/events/event-types.ts'],
  );
});
