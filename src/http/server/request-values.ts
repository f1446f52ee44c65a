import type { TSchema } from 'typebox';
import { ApiError } from '../api-error.ts';
import { MAX_PARAM_LENGTH } from './validation-errors.ts';

type ObjectSchema = { type: 'object'; properties: Record<string, { type?: string }>; additionalProperties: unknown };

/** The schema with `additionalProperties: false`, unless it sets the keyword itself; without a schema that of `{}`. */
export function strictSchema(schema: TSchema | undefined): ObjectSchema {
  return { additionalProperties: false, type: 'object', properties: {}, ...schema } as ObjectSchema;
}

/**
 * A query with its numbers (decimal digits, where the type is `number` as in JSON) and booleans (`true`, `false`)
 * converted. All other values stay strings, and repeated parameters stay arrays: the schema refuses them.
 * @throws ApiError  400 for U+0000, which PostgreSQL cannot store
 */
export function readQuery(query: Record<string, unknown>, schema: ObjectSchema): Record<string, unknown> {
  const values = Object.entries(nestEntries(query, schema)).map(([name, value]) => {
    if (String(value).includes('\0')) {
      throw new ApiError('invalid_request', `${name} contains the character U+0000; leave it out.`, { param: name });
    }
    return [name, readValue(value, typeOf(name, schema))];
  });
  return Object.fromEntries(values);
}

/** The query with `name[key]=value` as entries of an object, where the schema has an object of this name. */
function nestEntries(query: Record<string, unknown>, schema: ObjectSchema): Record<string, unknown> {
  const nested = new Map<string, [string, unknown][]>();
  const plain = Object.entries(query).filter(([name, value]) => {
    const [, outer, key] = /^([a-z_]+)\[(.+)\]$/s.exec(name) ?? [];
    if (outer === undefined || typeOf(outer, schema) !== 'object') return true;
    nested.set(outer, [...(nested.get(outer) ?? []), [key!, value]]);
    return false;
  });
  const objects = [...nested].map(([name, entries]) => [name, Object.fromEntries(entries)] as const);
  return Object.fromEntries([...plain, ...objects]);
}

function typeOf(name: string, schema: ObjectSchema): string | undefined {
  return Object.hasOwn(schema.properties, name) ? schema.properties[name]!.type : undefined;
}

function readValue(value: unknown, type: string | undefined): unknown {
  if (typeof value !== 'string') return value;
  if (type === 'integer' && /^-?\d{1,15}$/.test(value)) return Number(value);
  if (type === 'number' && /^-?\d{1,15}(\.\d{1,30})?(e[+-]?\d{1,3})?$/i.test(value)) return finiteOr(value);
  if (type === 'boolean' && (value === 'true' || value === 'false')) return value === 'true';
  return value;
}

function finiteOr(value: string): number | string {
  const number = Number(value);
  return Number.isFinite(number) ? number : value;
}

/** @throws ApiError  400 for a query that is not percent-encoded UTF-8 */
export function checkQueryEncoding(url: string): void {
  const begin = url.indexOf('?');
  try {
    if (begin >= 0) decodeURIComponent(url.slice(begin + 1));
  } catch (cause) {
    throw new ApiError('invalid_request', 'The query is not valid percent-encoding; encode it as UTF-8.', { cause });
  }
}

/** @throws ApiError  404 for control characters, which must not reach the database */
export function checkParams(params: Record<string, string>): void {
  if (Object.values(params).some((value) => /[\u0000-\u001f\u007f]/.test(value))) {
    throw new ApiError('not_found', 'There is nothing at this path.');
  }
}

/**
 * The body to validate. No body counts as an empty object, so that the validation names a missing field. A route
 * without a body accepts an empty object too.
 * @throws ApiError  400
 */
export function readBodyOrNothing(body: unknown, takesBody: boolean): unknown {
  if (takesBody) return body === undefined ? {} : body;
  if (body === undefined) return undefined;
  const isObject = typeof body === 'object' && body !== null && !Array.isArray(body);
  const [field] = isObject ? Object.keys(body) : [];
  if (isObject && field === undefined) return undefined;
  throw new ApiError('invalid_request', 'This request takes no body; leave it out.', {
    ...(field !== undefined && { param: field.slice(0, MAX_PARAM_LENGTH) }),
  });
}
