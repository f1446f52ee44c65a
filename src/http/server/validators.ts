import { createRequire } from 'node:module';
import type { FastifyServerOptions } from 'fastify';

type Factories = NonNullable<NonNullable<FastifyServerOptions['schemaController']>['compilersFactory']>;
type Validate = { (value: unknown): boolean; errors?: unknown };
type RouteSchema = { schema?: { properties?: object; additionalProperties?: unknown } };
type Compile = (routeSchema: RouteSchema) => Validate;

const require = createRequire(import.meta.url);

/**
 * Fastify's default validators (Ajv), each compiled at the first request that needs it. Loading Ajv and compiling the
 * schemas of all routes at the start takes 175 ms of 875 ms of processor time (20 %) and 5 MB.
 */
export const lazyValidators = {
  buildValidator(externalSchemas: unknown, options: unknown): Compile {
    let compile: Compile | undefined;
    return (routeSchema) => {
      let validator: Validate | undefined;
      const validate: Validate = (value) => {
        // As each request of /healthz and /readyz is: Ajv is not loaded for these.
        if (allowsNothing(routeSchema) && isEmptyObject(value)) return true;
        compile ??= require('@fastify/ajv-compiler')()(externalSchemas, options) as Compile;
        validator ??= compile(routeSchema);
        const isValid = validator(value);
        validate.errors = validator.errors;
        return isValid;
      };
      return validate;
    };
  },
  // Answers are sent as `writeJson` writes them.
  buildSerializer() {
    throw new Error('no route has a schema for its answers');
  },
} as unknown as Factories;

function allowsNothing({ schema }: RouteSchema): boolean {
  return schema?.additionalProperties === false && Object.keys(schema.properties ?? {}).length === 0;
}

function isEmptyObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length === 0;
}
