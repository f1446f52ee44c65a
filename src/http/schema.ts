import type { Static, TNull, TSchema, TUnion } from 'typebox';
import { Type } from './schema-builders.ts';

export { Type } from './schema-builders.ts';
export type { Static, TSchema };

/** The keyword under which a schema names itself as a component of the OpenAPI document. */
export const COMPONENT = 'x-component';

/**
 * The keyword for constraints that only the OpenAPI document has: the form that clients should send, where the
 * validation accepts others too.
 */
export const DOCUMENTED = 'x-documented';

/**
 * Options that make a schema a component of the OpenAPI document, to which the document refers by name.
 * @param example  a whole value, checked against the schema by a test
 */
export function component(name: string, example?: unknown, description?: string): Record<string, unknown> {
  return {
    [COMPONENT]: name,
    ...(description && { description }),
    ...(example !== undefined && { examples: [example] }),
  };
}

/** The schema, or null. */
export function nullable<Schema extends TSchema>(schema: Schema, description?: string): TUnion<[Schema, TNull]> {
  return Type.Union([schema, Type.Null()], { ...(description && { description }) });
}

/** One of several strings. */
export function oneOf<const Words extends readonly string[]>(words: Words, options: Record<string, unknown> = {}) {
  return Type.Unsafe<Words[number]>({ type: 'string', enum: [...words], ...options });
}

/** A time in an answer: ISO 8601, UTC, milliseconds. */
export const timeSchema = Type.String({
  format: 'date-time',
  pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z$',
  examples: ['2026-11-21T09:30:00.000Z'],
});

/**
 * An id: a prefix and 26 sortable characters.
 * @param prefix  such as `job`, without the underscore
 */
export function idSchema(prefix: string, example: string, options: Record<string, unknown> = {}) {
  return Type.String({ pattern: `^${prefix}_[0-9a-z]{26}$`, examples: [example], ...options });
}

/** A page of a list, newest first. */
export function pageSchema<Item extends TSchema>(name: string, item: Item) {
  return Type.Object(
    {
      data: Type.Array(item),
      has_more: Type.Boolean(),
      next_cursor: nullable(Type.String(), 'Pass it on as `cursor` for the next page; null on the last one.'),
    },
    component(name),
  );
}

/** JSON text that is sent unchanged (`RawJson`), described by the schema of its value. */
export function rawJson<Value>(schema: TSchema | Record<string, unknown>) {
  return Type.Unsafe<Value>(schema as TSchema);
}
