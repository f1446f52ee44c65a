import type { ErrorType } from '../api-error.ts';
import { ERROR_MEANING, ERROR_STATUS } from '../api-error.ts';
import type { AnswerSchema, Route } from '../route.ts';
import type { TSchema } from '../schema.ts';
import { COMPONENT, component, DOCUMENTED, Type } from '../schema.ts';
import { strictSchema } from '../server/request-values.ts';

type JsonObject = Record<string, unknown>;

const STATUS_TEXT: Record<number, string> = {
  200: 'Done',
  201: 'Created',
  202: 'Accepted',
  204: 'Done; no content',
};

/** Who may call: of a key also the scope that it needs. */
function securityOf({ auth, scope }: Route): JsonObject[] {
  if (auth === 'none') return [];
  if (auth === 'admin') return [{ AdminToken: [] }];
  const scopes = scope === undefined || scope === 'any' ? [] : [scope];
  return [{ ApiKey: scopes }, { Bearer: scopes }];
}

const TAGS: Record<string, string> = {
  Transcription: 'Audio in, text out: at once, or as a job.',
  Balance: 'What the account can spend.',
  Webhooks: 'Where events are delivered.',
  Deliveries: 'The log of delivery attempts, and sending again.',
  Events: 'What was emitted.',
  Accounts: 'For operators: accounts and their credits.',
  Keys: 'API keys.',
  Secrets: 'For operators: how stored secrets are encrypted.',
  Audit: 'For operators: who changed what.',
  Service: 'Health, metrics and this document.',
};

/** The one body of every error. */
export const errorSchema = Type.Object(
  {
    error: Type.Object({
      message: Type.String({ description: 'A sentence that says what to do.' }),
      code: Type.Integer({ description: 'Equal to the HTTP status.' }),
      type: Type.String({ enum: Object.keys(ERROR_STATUS), description: 'A stable word to program against.' }),
      param: Type.Optional(Type.String({ description: 'The field at fault, when one is.' })),
    }),
    retry_after: Type.Optional(Type.Integer({ description: 'With 429: seconds after which one request will pass.' })),
    required_scope: Type.Optional(Type.String({ description: 'With 403 missing_scope: what the key lacks.' })),
    needed_credits: Type.Optional(Type.Number({ description: 'With 402: what the audio costs.' })),
    available_credits: Type.Optional(Type.Number({ description: 'With 402: what can be spent.' })),
    job_id: Type.Optional(Type.String({ description: 'The job, where the failed request made one.' })),
    request_id: Type.String(),
  },
  component('ErrorBody', {
    error: { message: 'url must be a https URL.', code: 400, type: 'invalid_request', param: 'url' },
    request_id: 'req_01kamz2f3q8r5t7v9wxyzabcde',
  }),
);

const FORM_ENCODING: JsonObject = {
  file: { contentType: 'audio/*, video/*, application/octet-stream' },
  metadata: { contentType: 'application/json' },
};
const REQUEST_ID = { description: 'Names the request in the log.', schema: { type: 'string' } };
const RETRY_AFTER = { description: 'Seconds to wait.', schema: { type: 'integer', minimum: 1 } };
const RATE_HEADERS = {
  'RateLimit-Limit': { description: 'Requests in 60 seconds.', schema: { type: 'integer' } },
  'RateLimit-Remaining': { description: 'How many of them are left.', schema: { type: 'integer' } },
  'RateLimit-Reset': { description: 'Seconds until one more is admitted.', schema: { type: 'integer' } },
};

/** What is sent to webhooks: the type of the event, when it is emitted, and the schema of the body. */
export type EventPayload = { type: string; when: string; schema: TSchema };

/**
 * The OpenAPI 3.1 document of the routes, from the schemas that validate their requests and type their answers.
 * Schemas that name themselves (`component`) stand under `components` once.
 */
export function describeApi(
  routes: Route[],
  { version, events = [] }: { version: string; events?: EventPayload[] },
): JsonObject {
  const components: Record<string, unknown> = {};
  const paths: Record<string, JsonObject> = {};
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: describeOperation(route, components) };
  }
  const used = new Set(routes.map(({ tag }) => tag));
  return {
    openapi: '3.1.0',
    info: {
      title: 'Verbatim',
      version,
      description: 'Transcription with durable jobs and signed webhooks.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    tags: [...used].map((name) => ({ name, ...(TAGS[name] && { description: TAGS[name] }) })),
    paths,
    ...(events.length > 0 && { webhooks: describeEvents(events, components) }),
    components: {
      schemas: components,
      securitySchemes: {
        ApiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
        Bearer: { type: 'http', scheme: 'bearer', description: 'The same API key, for clients of other speech APIs.' },
        AdminToken: { type: 'http', scheme: 'bearer', description: "The operator's token." },
      },
    },
  };
}

function describeEvents(events: EventPayload[], components: JsonObject): JsonObject {
  const entries = events.map(({ type, when, schema }) => [
    type,
    {
      post: {
        operationId: `event_${type.replaceAll('.', '_')}`,
        summary: when,
        tags: ['Webhooks'],
        security: [],
        requestBody: { required: true, content: { 'application/json': { schema: plain(schema, components) } } },
        responses: {
          '2XX': { description: 'Received. Anything else is a failure, and is tried again.' },
          default: { description: 'A failure.' },
        },
      },
    },
  ]);
  return Object.fromEntries(entries);
}

function describeOperation(route: Route, components: JsonObject): JsonObject {
  const { method, path, schema, summary, description, tag } = route;
  const text = [description, scopeText(route)].filter(Boolean).join(' ');
  return {
    operationId: operationId(method, path),
    summary,
    ...(text !== '' && { description: text }),
    tags: [tag],
    security: securityOf(route),
    parameters: [
      ...pathParameters(path, schema.params, components),
      ...queryParameters(schema.query, components),
      ...idempotencyParameters(route),
    ],
    ...(schema.body && { requestBody: describeBody(route, schema.body, components) }),
    responses: { ...describeAnswers(route, components), ...describeErrors(route, components) },
  };
}

function scopeText({ scope }: Route): string | null {
  return scope === undefined || scope === 'any' ? null : `The API key needs the scope \`${scope}\`.`;
}

function operationId(method: string, path: string): string {
  const words = path.split(/[^A-Za-z0-9]+/).filter((word) => word !== '' && word !== 'v1');
  return [method.toLowerCase(), ...words].join('_');
}

function pathParameters(path: string, schema: TSchema | undefined, components: JsonObject): JsonObject[] {
  const properties = strictSchema(schema).properties;
  return [...path.matchAll(/:(\w+)/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: plain(properties[name!] ?? { type: 'string' }, components),
  }));
}

function queryParameters(schema: TSchema | undefined, components: JsonObject): JsonObject[] {
  const { properties, required = [] } = strictSchema(schema) as ReturnType<typeof strictSchema> & {
    required?: string[];
  };
  return Object.entries(properties).map(([name, property]) => ({
    name,
    in: 'query',
    // What has a default may be left out, although handlers always find it there.
    required: required.includes(name) && !('default' in property),
    schema: plain(property, components),
  }));
}

/** Only routes with a key or the operator's token have an account to which an Idempotency-Key can belong. */
function idempotencyParameters({ method, auth }: Route): JsonObject[] {
  if (method !== 'POST' || auth === 'none') return [];
  const description =
    'Sent again with the same body within 24 hours, the request is answered as the first time, with Idempotent-Replayed: true.';
  const schema = {
    type: 'string',
    minLength: 1,
    maxLength: 255,
    pattern: '^[\\x21-\\x7e]([\\x20-\\x7e]*[\\x21-\\x7e])?$',
  };
  return [{ name: 'Idempotency-Key', in: 'header', required: false, description, schema }];
}

function describeBody(route: Route, schema: TSchema, components: JsonObject): JsonObject {
  const strict = strictSchema(schema) as unknown as JsonObject;
  const contentType = route.upload ? 'multipart/form-data' : 'application/json';
  const properties = strict['properties'] as Record<string, object>;
  // Like query parameters: what has a default may be left out.
  const required = ((strict['required'] as string[] | undefined) ?? []).filter(
    (name) => !('default' in properties[name]!),
  );
  const { required: _all, ...rest } = strict;
  return {
    required: required.length > 0 || 'minProperties' in strict,
    content: {
      [contentType]: {
        ...(route.upload && { encoding: encodingOf(properties) }),
        schema: plain({ ...rest, ...(required.length > 0 && { required }) }, components),
      },
    },
  };
}

/** How the parts of a form are encoded, for those that are no plain text. */
function encodingOf(properties: Record<string, object>): JsonObject {
  return Object.fromEntries(Object.entries(FORM_ENCODING).filter(([name]) => Object.hasOwn(properties, name)));
}

function describeAnswers(route: Route, components: JsonObject): JsonObject {
  const described: JsonObject = {};
  for (const [key, schema] of Object.entries(route.schema.answers)) {
    const status = Number(key);
    const content = contentOf(schema, components);
    const links = describeLinks(route.links);
    described[key] = {
      description: STATUS_TEXT[status] ?? 'Answer',
      headers: answerHeaders(route, status),
      ...(content && { content }),
      ...(links && { links }),
    };
  }
  return described;
}

function contentOf(schema: AnswerSchema, components: JsonObject): JsonObject | null {
  if (schema === null) return null;
  const media = 'media' in schema ? (schema.media as Record<string, TSchema>) : { 'application/json': schema };
  return Object.fromEntries(Object.entries(media).map(([type, each]) => [type, { schema: plain(each, components) }]));
}

function answerHeaders(route: Route, status: number): JsonObject {
  return {
    'X-Request-Id': REQUEST_ID,
    ...(route.auth === 'key' && RATE_HEADERS),
    ...(route.upload && { Location: { description: 'Where the job is read.', schema: { type: 'string' } } }),
    ...(route.method === 'POST' &&
      route.auth !== 'none' &&
      status < 300 && {
        'Idempotent-Replayed': {
          description: 'true: the answer to an earlier request with the same Idempotency-Key.',
          schema: { type: 'string', enum: ['true'] },
        },
      }),
  };
}

function describeLinks(links: Route['links']): JsonObject | null {
  if (!links) return null;
  const entries = Object.entries(links);
  return Object.fromEntries(entries.map(([id, parameters]) => [id, { operationId: id, parameters }]));
}

/** Every error that the route can answer, by status. */
function describeErrors(route: Route, components: JsonObject): JsonObject {
  const described: JsonObject = {};
  const types = errorTypesOf(route);
  for (const status of new Set(types.map((type) => ERROR_STATUS[type]))) {
    const same = types.filter((type) => ERROR_STATUS[type] === status);
    described[status] = {
      description: same.map((type) => `\`${type}\`: ${ERROR_MEANING[type]}.`).join(' '),
      headers: { 'X-Request-Id': REQUEST_ID, ...([429, 503].includes(status) && { 'Retry-After': RETRY_AFTER }) },
      content: { 'application/json': { schema: plain(errorSchema, components) } },
    };
  }
  if (takesBody(route)) {
    described['408'] = {
      description: '`invalid_request`: the body did not arrive in time.',
      headers: { 'X-Request-Id': REQUEST_ID },
      content: { 'application/json': { schema: plain(errorSchema, components) } },
    };
  }
  return described;
}

function takesBody({ method, schema, upload }: Route): boolean {
  return upload === true || schema.body !== undefined || method === 'POST';
}

/** What requests of the route's kind can be refused for, in the order of the statuses. */
function errorTypesOf(route: Route): ErrorType[] {
  const { method, path, auth, errors = [] } = route;
  const types = new Set<ErrorType>(['invalid_request', 'internal', 'unavailable', ...errors]);
  if (auth !== 'none') types.add('unauthenticated');
  if (auth !== 'none') types.add('rate_limited');
  if (auth === 'key') types.add('missing_scope');
  if (path.includes(':')) types.add('not_found');
  if (method === 'POST' && auth !== 'none') types.add('conflict');
  if (takesBody(route)) types.add('too_large').add('unsupported_media_type');
  return (Object.keys(ERROR_STATUS) as ErrorType[]).filter((type) => types.has(type));
}

/** Plain JSON of a schema: the library's own marks stay behind, and components are referred to. */
function plain(schema: unknown, components: JsonObject): unknown {
  if (Array.isArray(schema)) return schema.map((item) => plain(item, components));
  if (typeof schema !== 'object' || schema === null) return schema;
  const name = (schema as JsonObject)[COMPONENT] as string | undefined;
  const { [COMPONENT]: _name, [DOCUMENTED]: documented, errorMessage: _message, ...rest } = schema as JsonObject;
  const members = Object.entries({ ...rest, ...(documented as object) }).filter(([key]) => !key.startsWith('~'));
  const written = Object.fromEntries(members.map(([key, value]) => [key, plain(value, components)]));
  if (name === undefined) return written;
  components[name] ??= written;
  return { $ref: `#/components/schemas/${name}` };
}
