import { ApiError } from '../api-error.ts';
import { MAX_PARAM_LENGTH } from './request-values.ts';

/** The fields of an Ajv error (verbose) that are used. */
export type SchemaError = {
  keyword: string;
  instancePath: string;
  params: Record<string, unknown>;
  message?: string;
  schema?: unknown;
  parentSchema?: Record<string, unknown>;
};

const BRANCH_KEYWORDS = ['type', 'const', 'anyOf'];

/**
 * The 400 for a value that its schema refuses. `param` is the field, and the message says what is allowed.
 * @param place  `body`, `querystring` or `params`, as Fastify calls them
 */
export function describeInvalid(errors: SchemaError[], place: string): ApiError {
  // Ajv lists the errors of a union's branches before that of the union. A branch of the right type that exceeds a bound
  // explains more than the union, which is last.
  const error = errors.find(({ keyword }) => !BRANCH_KEYWORDS.includes(keyword)) ?? errors.at(-1)!;
  if (place === 'params') return new ApiError('not_found', 'There is nothing at this path.');
  const param = fieldAtFault(error);
  if (error.keyword === 'minProperties') return nothingToChange(error);
  // A field may have the empty name.
  const isOfBody = param === '' && error.keyword !== 'additionalProperties';
  if (isOfBody) return new ApiError('invalid_request', 'The body must be a JSON object.');
  return new ApiError('invalid_request', sentence(error, param, place), { param });
}

function nothingToChange({ parentSchema }: SchemaError): ApiError {
  const fields = Object.keys((parentSchema?.['properties'] as object | undefined) ?? {});
  return new ApiError('invalid_request', `Give at least one of ${fields.join(', ')}: there is nothing to change.`);
}

/** The field's path without list positions: `events` for `events[1]`. */
function fieldAtFault(error: SchemaError): string {
  const path = error.instancePath.split('/').filter((part) => part !== '' && !/^\d+$/.test(part));
  const inner = error.params['additionalProperty'] ?? error.params['missingProperty'];
  return [...path, ...(inner === undefined ? [] : [String(inner)])].join('.').slice(0, MAX_PARAM_LENGTH);
}

function sentence(error: SchemaError, param: string, place: string): string {
  const where = place === 'querystring' ? 'query parameter' : 'field';
  if (error.keyword === 'additionalProperties')
    return `There is no ${where} ${JSON.stringify(param)} here; leave it out.`;
  if (error.keyword === 'required') return `${param} is missing; it is required.`;
  const subject = /\/\d+$/.test(error.instancePath) ? `Each of ${param}` : param;
  return `${subject} ${rule(error)}.`;
}

function rule({ keyword, params, schema, parentSchema, message }: SchemaError): string {
  const limit = String(params['limit']);
  switch (keyword) {
    case 'type':
      return `must be ${article(params['type'])}`;
    case 'enum':
      return `must be one of ${listed(params['allowedValues'] as unknown[])}`;
    case 'const':
      return `must be ${JSON.stringify(params['allowedValue'])}`;
    case 'anyOf':
      return `must be ${(schema as Record<string, unknown>[]).map(alternative).join(' or ')}`;
    case 'minLength':
      return limit === '1' ? 'must not be empty' : `must have at least ${limit} characters`;
    case 'maxLength':
      return `must have at most ${limit} characters`;
    case 'minItems':
      return `must name at least ${limit}`;
    case 'maxProperties':
      return `must have at most ${limit} entries`;
    case 'maxItems':
      return `must name at most ${limit}`;
    case 'minimum':
      return `must be at least ${limit}`;
    case 'maximum':
      return `must be at most ${limit}`;
    case 'pattern':
      return String(parentSchema?.['errorMessage'] ?? 'has characters that are not allowed');
    default:
      return message ?? 'is not valid';
  }
}

function alternative(schema: Record<string, unknown>): string {
  return 'const' in schema ? JSON.stringify(schema['const']) : article(schema['type']);
}

function article(type: unknown): string {
  const names = [type]
    .flat()
    .map((name) => (name === 'null' ? 'null' : /^[aio]/.test(String(name)) ? `an ${name}` : `a ${name}`));
  return names.join(' or ');
}

function listed(values: unknown[]): string {
  return values.map((value) => JSON.stringify(value)).join(', ');
}
