import { Ajv, AjvJsonSchemaValidator } from '@modelcontextprotocol/server/validators/ajv';

/** An error of Ajv, as far as it is used. */
type SchemaError = { instancePath: string; keyword: string; message?: string; params: Record<string, unknown> };

/** Validates the arguments of tools. A message names each argument at fault: Ajv's own leaves out the unknown ones. */
export function argumentValidator(): AjvJsonSchemaValidator {
  const ajv = new Ajv({ strict: false, allErrors: true });
  return new AjvJsonSchemaValidator({
    compile: (schema) => ajv.compile(schema as object),
    getSchema: (id) => ajv.getSchema(id),
    errorsText: (errors: SchemaError[]) => errors.map(messageOf).join('; '),
  });
}

function messageOf({ instancePath, keyword, message, params }: SchemaError): string {
  const name = instancePath.slice(1).replaceAll('/', '.') || 'the arguments';
  if (keyword === 'additionalProperties') return `there is no argument ${JSON.stringify(params['additionalProperty'])}`;
  if (keyword === 'required') return `${params['missingProperty']} is missing`;
  if (keyword === 'enum') return `${name} must be one of ${(params['allowedValues'] as string[]).join(', ')}`;
  return `${name} ${message}`;
}
