import { similarNames } from '../../rules/similar-names.ts';
import { ApiError } from '../api-error.ts';

/** The `param` of an error is cut to this length: clients choose the names of unknown fields. */
export const MAX_PARAM_LENGTH = 200;

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
 * The 400 for a value that its schema refuses. `param` is the field, without positions in lists: `events` for
 * `events[1]`. The message says which entry it is, and what is allowed.
 * @param place  `body`, `querystring` or `params`, as Fastify calls them
 */
export function describeInvalid(errors: SchemaError[], place: string): ApiError {
  // Ajv lists the errors of a union's branches before that of the union. A branch of the right type that exceeds a
  // bound explains more than the union, which is last.
  const error = errors.find(({ keyword }) => !BRANCH_KEYWORDS.includes(keyword)) ?? errors.at(-1)!;
  if (place === 'params') return new ApiError('not_found', 'There is nothing at this path.');
  if (error.keyword === 'minProperties' && error.instancePath === '') return nothingToChange(error);
  if (error.keyword === 'additionalProperties') return unknownFieldOf(error, place);
  const missing = error.params['missingProperty'];
  const path = [...stepsTo(error), ...(missing === undefined ? [] : [String(missing)])];
  if (path.length === 0) return new ApiError('invalid_request', 'The body must be a JSON object.');
  const says = missing === undefined ? rule(error) : 'is missing; it is required';
  const [entry, param] = [path, path.filter((step) => !isPosition(step))].map(joined) as [string, string];
  return new ApiError('invalid_request', `${entry} ${says}.`, { param });
}

function unknownFieldOf(error: SchemaError, place: string): ApiError {
  const known = Object.keys((error.parentSchema?.['properties'] as object | undefined) ?? {});
  const what = place === 'querystring' ? 'query parameter' : 'field';
  return unknownField(String(error.params['additionalProperty']), known, { inside: joined(stepsTo(error)), what });
}

/**
 * The error for a field that does not exist. It names those that may be meant.
 * @param known   the names of the fields at this place
 * @param inside  the object that holds the field, such as `segments[3]`; empty for the body itself
 */
export function unknownField(
  name: string,
  known: readonly string[],
  { inside = '', what = 'field' }: { inside?: string; what?: string } = {},
): ApiError {
  const path = inside === '' ? '' : `${inside}.`;
  const written = `${path}${name}`.slice(0, MAX_PARAM_LENGTH);
  const similar = similarNames(name, known);
  const advice = similar.length > 0 ? `. Did you mean ${alternatives(similar)}?` : '; leave it out.';
  return new ApiError('invalid_request', `There is no ${what} ${JSON.stringify(written)} here${advice}`, {
    param: written.replace(/\[\d+\]/g, ''),
  });
}

function alternatives(names: readonly string[]): string {
  return [names.slice(0, -1).join(', '), names.at(-1)].filter(Boolean).join(' or ');
}

function nothingToChange({ parentSchema }: SchemaError): ApiError {
  const fields = Object.keys((parentSchema?.['properties'] as object | undefined) ?? {});
  return new ApiError('invalid_request', `Give at least one of ${fields.join(', ')}: there is nothing to change.`);
}

/** The names and list positions that lead to the value. */
function stepsTo({ instancePath }: SchemaError): string[] {
  return instancePath.split('/').filter((step) => step !== '');
}

function isPosition(step: string): boolean {
  return /^\d+$/.test(step);
}

/** `segments[3].text`; cut, because clients choose the keys of some objects. */
function joined(path: string[]): string {
  const steps = path.map((step, i) => (isPosition(step) ? `[${step}]` : i === 0 ? step : `.${step}`));
  return steps.join('').slice(0, MAX_PARAM_LENGTH);
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
    case 'minProperties':
      return limit === '1' ? 'must not be empty' : `must have at least ${limit} entries`;
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
