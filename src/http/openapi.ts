import type { TSchema } from 'typebox';
import { ERROR_STATUS } from '../errors.ts';
import { strictSchema } from './read.ts';
import type { Route } from './route.ts';
import { Type } from './schema.ts';

type JsonObject = Record<string, unknown>;

const STATUS_TEXT: Record<number, string> = {
  200: 'Done',
  201: 'Created',
  202: 'Accepted',
  204: 'Done; no content',
};

const SECURITY = {
  key: [{ ApiKey: [] }, { Bearer: [] }],
  admin: [{ AdminToken: [] }],
  none: [],
};

const errorSchema = Type.Object(
  {
    error: Type.Object({
      message: Type.String({ description: 'A sentence that says what to do.' }),
      code: Type.Integer({ description: 'Equal to the HTTP status.' }),
      type: Type.String({ enum: Object.keys(ERROR_STATUS) }),
      param: Type.Optional(Type.String({ description: 'The field at fault, when one is.' })),
    }),
    retry_after: Type.Optional(Type.Integer({ description: 'With 429: seconds after which one request will pass.' })),
    needed_credits: Type.Optional(Type.Number({ description: 'With 402: what the audio costs.' })),
    available_credits: Type.Optional(Type.Number({ description: 'With 402: what can be spent.' })),
    request_id: Type.String(),
  },
  { description: 'Every error of every endpoint.' },
);

/** The OpenAPI 3.1 document of the routes, from the schemas that validate their requests. */
export function describeApi(routes: Route[], info: { version: string }): JsonObject {
  const paths: Record<string, JsonObject> = {};
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: describeOperation(route) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Verbatim',
      version: info.version,
      description: 'Transcription with durable jobs and signed webhooks.',
    },
    servers: [{ url: '/' }],
    paths,
    components: {
      schemas: { Error: plain(errorSchema) },
      securitySchemes: {
        ApiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
        Bearer: { type: 'http', scheme: 'bearer', description: 'The same API key, for clients of other speech APIs.' },
        AdminToken: { type: 'http', scheme: 'bearer', description: "The operator's token." },
      },
    },
  };
}

function describeOperation(route: Route): JsonObject {
  const { method, path, schema, summary, tag, auth } = route;
  return {
    operationId: operationId(method, path),
    summary,
    tags: [tag],
    security: SECURITY[auth],
    parameters: [...pathParameters(path, schema.params), ...queryParameters(schema.query), ...onceParameters(method)],
    ...(schema.body && { requestBody: describeBody(route, schema.body) }),
    responses: describeAnswers(schema.answers ?? {}),
  };
}

function operationId(method: string, path: string): string {
  const words = path.split(/[^A-Za-z0-9]+/).filter((word) => word !== '' && word !== 'v1');
  return [method.toLowerCase(), ...words].join('_');
}

function pathParameters(path: string, schema: TSchema | undefined): JsonObject[] {
  const properties = strictSchema(schema).properties;
  return [...path.matchAll(/:(\w+)/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: plain(properties[name!] ?? { type: 'string' }),
  }));
}

function queryParameters(schema: TSchema | undefined): JsonObject[] {
  const { properties, required = [] } = strictSchema(schema) as ReturnType<typeof strictSchema> & {
    required?: string[];
  };
  return Object.entries(properties).map(([name, property]) => ({
    name,
    in: 'query',
    // What has a default may be left out, although handlers always find it there.
    required: required.includes(name) && !('default' in property),
    schema: plain(property),
  }));
}

function onceParameters(method: Route['method']): JsonObject[] {
  if (method !== 'POST') return [];
  const description =
    'Sent again with the same body within 24 hours, the request is answered as the first time, with Idempotent-Replayed: true.';
  const schema = { type: 'string', minLength: 1, maxLength: 255 };
  return [{ name: 'Idempotency-Key', in: 'header', required: false, description, schema }];
}

function describeBody(route: Route, schema: TSchema): JsonObject {
  const strict = strictSchema(schema) as unknown as JsonObject;
  const contentType = route.upload ? 'multipart/form-data' : 'application/json';
  return {
    required: ((strict['required'] as unknown[] | undefined) ?? []).length > 0,
    content: { [contentType]: { schema: plain(strict) } },
  };
}

function describeAnswers(answers: Record<number, TSchema>): JsonObject {
  const described: JsonObject = {};
  for (const [status, schema] of Object.entries(answers)) {
    described[status] = {
      description: STATUS_TEXT[Number(status)] ?? 'Answer',
      content: { 'application/json': { schema: plain(schema) } },
    };
  }
  if (Object.keys(answers).length === 0) described['204'] = { description: STATUS_TEXT[204] };
  described['default'] = {
    description: 'Error',
    content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
  };
  return described;
}

/** Plain JSON of a schema: the library's own marks stay behind. */
function plain(schema: unknown): unknown {
  return JSON.parse(JSON.stringify(schema, (key, value) => (key.startsWith('~') ? undefined : value)));
}
