import type { AnswerSchema, Route } from '../route.ts';
import type { TSchema } from '../schema.ts';
import { strictSchema } from '../server/request-values.ts';
import { describeErrors, REQUEST_ID } from './errors.ts';
import { type JsonObject, plainSchema } from './plain-schema.ts';
import { samplesOf } from './samples/render.ts';

const STATUS_TEXT: Record<number, string> = {
  200: 'Done',
  201: 'Created',
  202: 'Accepted',
  204: 'Done; no content',
};

const FORM_ENCODING: JsonObject = {
  file: { contentType: 'audio/*, video/*, application/octet-stream' },
  metadata: { contentType: 'application/json' },
  audio_url_headers: { contentType: 'application/json' },
};
const RATE_HEADERS = {
  'RateLimit-Limit': { description: 'Requests in 60 seconds.', schema: { type: 'integer' } },
  'RateLimit-Remaining': { description: 'How many of them are left.', schema: { type: 'integer' } },
  'RateLimit-Reset': { description: 'Seconds until one more is admitted.', schema: { type: 'integer' } },
};

/** The OpenAPI operation of a route. @param components  gets the schemas that are referred to */
export function describeOperation(route: Route, components: JsonObject): JsonObject {
  const { method, path, schema, summary, description, tag } = route;
  const id = operationId(method, path);
  return {
    operationId: id,
    summary,
    description: [description, accessText(route)].filter(Boolean).join(' '),
    tags: [tag],
    security: securityOf(route),
    parameters: [
      ...pathParameters(path, schema.params, components),
      ...queryParameters(schema.query, components),
      ...idempotencyParameters(route),
    ],
    ...(schema.body && { requestBody: describeBody(route, schema.body, components) }),
    responses: { ...describeAnswers(route, components), ...describeErrors(route, components) },
    'x-codeSamples': samplesOf(id, route),
  };
}

/** Security of the operation; with an API key also the scope that the key needs. */
function securityOf({ auth, scope }: Route): JsonObject[] {
  if (auth === 'none') return [];
  if (auth === 'admin') return [{ AdminToken: [] }, { Session: [] }];
  if (auth === 'session') return [{ Session: [] }];
  const alternatives = scope === undefined || scope === 'any' ? [[]] : [scope].flat().map((one) => [one]);
  return alternatives.flatMap((scopes) => [{ ApiKey: scopes }, { Bearer: scopes }]);
}

function accessText({ auth, scope }: Route): string {
  if (auth === 'none') return 'Needs no key.';
  if (auth === 'admin') return "Needs the operator's token, or the session of a user who is an operator.";
  if (auth === 'session') return 'Needs the cookie of a session; what changes something also needs `X-Session-Id`.';
  if (scope === 'any') return 'Any API key of the account will do.';
  return `The API key needs the scope ${[scope]
    .flat()
    .map((one) => `\`${one}\``)
    .join(' or ')}.`;
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
    schema: plainSchema(properties[name!] ?? { type: 'string' }, components),
  }));
}

function queryParameters(schema: TSchema | undefined, components: JsonObject): JsonObject[] {
  const { properties, required = [] } = strictSchema(schema) as ReturnType<typeof strictSchema> & {
    required?: string[];
  };
  return Object.entries(properties).map(([name, property]) => ({
    name,
    in: 'query',
    // A parameter with a default may be left out, although handlers always get a value.
    required: required.includes(name) && !('default' in property),
    // As name[key]=value.
    ...((property as { type?: string }).type === 'object' && { style: 'deepObject', explode: true }),
    schema: plainSchema(property, components),
  }));
}

/** An Idempotency-Key belongs to an account or to the operator, so routes without authentication take none. */
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
  const contentType = route.upload ? 'multipart/form-data' : 'application/json';
  const { required, media } = describeMedia(schema, components);
  const { jsonBody } = route.schema;
  return {
    required: required || route.upload === true,
    content: {
      [contentType]: { ...(route.upload && { encoding: encodingOf(strictSchema(schema).properties) }), ...media },
      ...(jsonBody && { 'application/json': describeMedia(jsonBody, components).media }),
    },
  };
}

function describeMedia(schema: TSchema, components: JsonObject): { required: boolean; media: JsonObject } {
  const strict = strictSchema(schema) as unknown as JsonObject;
  const properties = strict['properties'] as Record<string, object>;
  // As with query parameters, a field with a default may be left out.
  const required = ((strict['required'] as string[] | undefined) ?? []).filter(
    (name) => !('default' in properties[name]!),
  );
  const { required: _all, ...rest } = strict;
  return {
    required: required.length > 0 || 'minProperties' in strict,
    media: { schema: plainSchema({ ...rest, ...(required.length > 0 && { required }) }, components) },
  };
}

/** Content types of the parts of a form that are not plain text. */
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
  return Object.fromEntries(
    Object.entries(media).map(([type, each]) => [type, { schema: plainSchema(each, components) }]),
  );
}

function answerHeaders(route: Route, status: number): JsonObject {
  return {
    'X-Request-Id': REQUEST_ID,
    ...((route.auth === 'key' || route.auth === 'session') && RATE_HEADERS),
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
