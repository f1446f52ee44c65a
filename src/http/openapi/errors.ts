import { docsOf, ERROR_MEANING, ERROR_STATUS, type ErrorType } from '../api-error.ts';
import type { Route } from '../route.ts';
import { component, Type } from '../schema.ts';
import { type JsonObject, plainSchema } from './plain-schema.ts';

/** The body of every error. */
const errorSchema = Type.Object(
  {
    error: Type.Object({
      message: Type.String({ description: 'A sentence that says what to do.' }),
      code: Type.Integer({ description: 'Equal to the HTTP status.' }),
      type: Type.String({ enum: Object.keys(ERROR_STATUS), description: 'Stable; program against it.' }),
      param: Type.Optional(Type.String({ description: 'The field at fault, when one is.' })),
      docs: Type.String({
        format: 'uri-reference',
        description: 'The page that explains the error: a path of this service.',
      }),
    }),
    retry_after: Type.Optional(Type.Integer({ description: 'With 429: seconds after which one request will pass.' })),
    required_scope: Type.Optional(Type.String({ description: 'With 403 missing_scope: what the key lacks.' })),
    needed_credits: Type.Optional(
      Type.Number({ description: 'With 402: what the audio costs; 0.000001 while its length is not known.' }),
    ),
    available_credits: Type.Optional(Type.Number({ description: 'With 402: what can be spent.' })),
    reason: Type.Optional(Type.String({ description: 'With audio_fetch_failed: as in the error of the job.' })),
    http_status: Type.Optional(Type.Integer({ description: 'With audio_fetch_failed: what the server answered.' })),
    job_id: Type.Optional(Type.String({ description: 'The job, where the failed request made one.' })),
    request_id: Type.String(),
  },
  component('ErrorBody', {
    error: {
      message: 'url must be a https URL.',
      code: 400,
      type: 'invalid_request',
      param: 'url',
      docs: docsOf('invalid_request'),
    },
    request_id: 'req_01kamz2f3q8r5t7v9wxyzabcde',
  }),
);

/** The header of every answer. */
export const REQUEST_ID = { description: 'Names the request in the log.', schema: { type: 'string' } };
const RETRY_AFTER = { description: 'Seconds to wait.', schema: { type: 'integer', minimum: 1 } };

/** Every error that the route can answer, by status. */
export function describeErrors(route: Route, components: JsonObject): JsonObject {
  const described: JsonObject = {};
  const types = errorTypesOf(route);
  for (const status of new Set(types.map((type) => ERROR_STATUS[type]))) {
    const same = types.filter((type) => ERROR_STATUS[type] === status);
    const description = same.map((type) => `\`${type}\`: ${ERROR_MEANING[type]}.`).join(' ');
    const headers = [429, 503].includes(status) ? { 'Retry-After': RETRY_AFTER } : {};
    described[status] = errorAnswer(description, headers, components);
  }
  if (takesBody(route)) {
    described['408'] = errorAnswer('`invalid_request`: the body did not arrive in time.', {}, components);
  }
  return described;
}

function errorAnswer(description: string, headers: JsonObject, components: JsonObject): JsonObject {
  return {
    description,
    headers: { 'X-Request-Id': REQUEST_ID, ...headers },
    content: { 'application/json': { schema: plainSchema(errorSchema, components) } },
  };
}

function takesBody({ method, schema, upload }: Route): boolean {
  return upload === true || schema.body !== undefined || method === 'POST';
}

/** The errors that the route can answer, in the order of `ERROR_STATUS`. */
function errorTypesOf(route: Route): ErrorType[] {
  const { method, path, auth, errors = [] } = route;
  const types = new Set<ErrorType>(['invalid_request', 'internal', 'unavailable', ...errors]);
  if (auth !== 'none') types.add('unauthenticated').add('rate_limited');
  if ((auth === 'key' || auth === 'session') && !route.isForSuspended) types.add('suspended');
  if (auth === 'key') types.add('missing_scope');
  if (path.includes(':')) types.add('not_found');
  if (method === 'POST' && auth !== 'none') types.add('conflict');
  if (takesBody(route)) types.add('too_large').add('unsupported_media_type');
  return (Object.keys(ERROR_STATUS) as ErrorType[]).filter((type) => types.has(type));
}
