import type { Type as TypeBox } from 'typebox';

type Schema = Record<string, unknown>;

// As in the library, not enumerable: it is no part of the JSON Schema.
const OPTIONAL = '~optional';

/**
 * The builders of TypeBox that the service uses, with the library's types: each returns a JSON Schema as a plain
 * object. The library itself loads 373 modules, a quarter of the processor time of the start of the `http` process, and
 * 3 MB. A test compares the schemas with those of the library.
 */
export const Type = {
  String: ofType('string'),
  Integer: ofType('integer'),
  Number: ofType('number'),
  Boolean: ofType('boolean'),
  Null: ofType('null'),
  Unknown: (options?: Schema) => ({ ...options }),
  Unsafe: (schema: Schema) => ({ ...schema }),
  Literal: (value: string | number | boolean, options?: Schema) => ({ type: typeof value, const: value, ...options }),
  Union: (anyOf: Schema[], options?: Schema) => ({ anyOf, ...options }),
  Array: (items: Schema, options?: Schema) => ({ type: 'array', items, ...options }),
  Optional: (schema: Schema) => Object.defineProperty({ ...schema }, OPTIONAL, { value: true }),
  Object(properties: Record<string, Schema>, options?: Schema) {
    const required = Object.keys(properties).filter((name) => !(OPTIONAL in properties[name]!));
    return { type: 'object', ...(required.length > 0 && { required }), properties, ...options };
  },
  /** @param key  a string without a pattern */
  Record: (_key: Schema, value: Schema, options?: Schema) => ({
    type: 'object',
    patternProperties: { '^.*$': value },
    ...options,
  }),
} as unknown as Pick<typeof TypeBox, BuilderName>;

type BuilderName =
  | 'String'
  | 'Integer'
  | 'Number'
  | 'Boolean'
  | 'Null'
  | 'Unknown'
  | 'Unsafe'
  | 'Literal'
  | 'Union'
  | 'Array'
  | 'Optional'
  | 'Object'
  | 'Record';

function ofType(type: string) {
  return (options?: Schema) => ({ type, ...options });
}
