import type { TSchema, Type as TypeBox } from 'typebox';

type Builders =
  | ('String' | 'Number' | 'Integer' | 'Boolean' | 'Null' | 'Literal')
  | ('Array' | 'Object' | 'Union' | 'Optional' | 'Unsafe');
type Options = Record<string, unknown>;

const optional = new WeakSet<object>();

/**
 * JSON Schemas with the static types that TypeBox gives them. The values are made here: TypeBox's own functions come as
 * 373 modules, a fifth of a second of each start.
 */
export const Type = {
  String: (options?: Options) => ({ type: 'string', ...options }),
  Number: (options?: Options) => ({ type: 'number', ...options }),
  Integer: (options?: Options) => ({ type: 'integer', ...options }),
  Boolean: (options?: Options) => ({ type: 'boolean', ...options }),
  Null: (options?: Options) => ({ type: 'null', ...options }),
  Literal: (value: unknown, options?: Options) => ({ type: typeof value, const: value, ...options }),
  Array: (items: TSchema, options?: Options) => ({ type: 'array', items, ...options }),
  Union: (anyOf: TSchema[], options?: Options) => ({ anyOf, ...options }),
  Unsafe: (schema: TSchema) => schema,
  Object(properties: Record<string, TSchema>, options?: Options) {
    const required = Object.keys(properties).filter((name) => !optional.has(properties[name]!));
    return { type: 'object', ...(required.length > 0 && { required }), properties, ...options };
  },
  /** A copy: the same schema may be required elsewhere. */
  Optional(schema: TSchema) {
    const copy = { ...schema };
    optional.add(copy);
    return copy;
  },
} as unknown as Pick<typeof TypeBox, Builders>;
