import { COMPONENT, DOCUMENTED } from '../schema.ts';

export type JsonObject = Record<string, unknown>;

/**
 * The JSON Schema of a TypeBox schema, without the marks of the library. A schema that names itself (`component`)
 * becomes a reference.
 * @param components  gets the schemas that are referred to; null to write them in place of the references
 */
export function plainSchema(schema: unknown, components: JsonObject | null): unknown {
  if (Array.isArray(schema)) return schema.map((item) => plainSchema(item, components));
  if (typeof schema !== 'object' || schema === null) return schema;
  const name = (schema as JsonObject)[COMPONENT] as string | undefined;
  const { [COMPONENT]: _name, [DOCUMENTED]: documented, errorMessage: _message, ...rest } = schema as JsonObject;
  const members = Object.entries({ ...rest, ...(documented as object) }).filter(([key]) => !key.startsWith('~'));
  const written = Object.fromEntries(members.map(([key, value]) => [key, plainSchema(value, components)]));
  if (name === undefined || components === null) return written;
  components[name] ??= written;
  return { $ref: `#/components/schemas/${name}` };
}
