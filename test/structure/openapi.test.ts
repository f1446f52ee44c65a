import assert from 'node:assert/strict';
import test from 'node:test';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { apiDocument } from '../../scripts/api-document.ts';
import { writeApiTypes } from '../../scripts/api-types.ts';
import { describeApi } from '../../src/http/openapi/openapi.ts';
import { defineRoute } from '../../src/http/route.ts';
import { component, Type } from '../../src/http/schema.ts';
import { jobSchema } from '../../src/jobs/schemas.ts';

type Operation = {
  operationId: string;
  responses: Record<string, { content?: object; links?: Record<string, { operationId: string }> }>;
};

const document = await apiDocument();
const paths = document['paths'] as Record<string, Record<string, Operation>>;
const operations = Object.values(paths).flatMap((methods) => Object.values(methods));

test('the API document passes a linter of OpenAPI', async () => {
  const config = await createConfig({ extends: ['recommended'] });

  const problems = await lintFromString({ source: JSON.stringify(document), absoluteRef: '/openapi.json', config });

  assert.deepEqual(
    problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} at ${location[0]?.pointer}`),
    [],
  );
});

test('every operation describes its successful answers and its errors', () => {
  const undescribed = operations.filter(({ responses }) => {
    const successes = Object.entries(responses).filter(([status]) => status.startsWith('2'));
    const isDescribed = successes.every(([status, { content }]) => status === '204' || content !== undefined);
    return successes.length === 0 || !isDescribed || !responses['500'];
  });

  assert.deepEqual(
    undescribed.map(({ operationId }) => operationId),
    [],
  );
});

test('every link leads to an operation that there is', () => {
  const ids = new Set(operations.map(({ operationId }) => operationId));
  const links = operations.flatMap(({ responses }) =>
    Object.values(responses).flatMap(({ links = {} }) => Object.values(links).map((link) => link.operationId)),
  );

  assert.ok(links.length > 10);
  assert.deepEqual(
    links.filter((id) => !ids.has(id)),
    [],
  );
});

test("a field that a schema gains appears in the document and in the clients' types", async () => {
  const wider = Type.Object(
    { ...jobSchema.properties, speakers: Type.Array(Type.String({ description: 'Who speaks.' })) },
    component('Job'),
  );
  const route = defineRoute({
    method: 'GET',
    path: '/v1/jobs/:id',
    auth: 'none',
    summary: 'Read a job',
    tag: 'Test',
    schema: { answers: { 200: wider } },
    handle: async () => {
      throw new Error('described, never called');
    },
  });

  const wide = describeApi([route], { version: '1' }) as Awaited<ReturnType<typeof apiDocument>>;
  const types = await writeApiTypes(wide);

  assert.ok('speakers' in (wide.components.schemas['Job'] as { properties: object }).properties);
  assert.match(types, /speakers: string\[\];/);
});
