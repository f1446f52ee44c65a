import { createRequire } from 'node:module';
import type { FastifyServerOptions } from 'fastify';

type Factories = NonNullable<NonNullable<FastifyServerOptions['schemaController']>['compilersFactory']>;
type Validate = { (value: unknown): boolean; errors?: unknown };
type Compile = (routeSchema: unknown) => Validate;

// What Fastify would load itself, in the version that it comes with.
const require = createRequire(import.meta.resolve('fastify'));

/**
 * Fastify's own validators (Ajv), each compiled when the first request asks for it: to load Ajv and compile the schemas
 * of all routes would be a fifth of the http process's start.
 */
export const lazyValidators = {
  buildValidator(externalSchemas: unknown, options: unknown): Compile {
    let compile: Compile | undefined;
    return (routeSchema) => {
      let validator: Validate | undefined;
      const validate: Validate = (value) => {
        compile ??= loadAjv()(externalSchemas, options);
        validator ??= compile(routeSchema);
        const isValid = validator(value);
        validate.errors = validator.errors;
        return isValid;
      };
      return validate;
    };
  },
  // Answers have no schemas: they go out as writeJson wrote them.
  buildSerializer() {
    throw new Error('no route has a schema for its answers');
  },
} as unknown as Factories;

function loadAjv(): (externalSchemas: unknown, options: unknown) => Compile {
  return require('@fastify/ajv-compiler')();
}
