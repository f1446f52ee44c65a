import { compile } from 'json-schema-to-typescript';

import type { ApiDocument } from './api-document.ts';

const HEADER = '// Made from the API document by `node scripts/docs.ts`; do not edit.\n';

/** The TypeScript types of all components and requests of an OpenAPI document, for clients. */
export async function writeApiTypes(document: ApiDocument): Promise<string> {
  const schemas = { ...document.components.schemas, ...requestSchemas(document) };
  const definitions = JSON.parse(
    JSON.stringify(schemas).replaceAll('#/components/schemas/', '#/definitions/'),
    (_name, schema: unknown) => (takesAny(schema) ? { ...(schema as object), tsType: 'unknown' } : schema),
  ) as Record<string, object>;
  const root = { title: 'Unused', type: 'object', properties: {}, additionalProperties: false, definitions };
  const text = await compile(root as Parameters<typeof compile>[0], 'Unused', {
    unreachableDefinitions: true,
    additionalProperties: false,
    ignoreMinAndMaxItems: true,
    bannerComment: '',
    style: { singleQuote: true, printWidth: 120, semi: true },
  });
  const withoutRoot = text.replace(/export interface Unused \{\s*\}\n/, '');
  // The library adds a comment with the name of the definition to each type.
  const plain = withoutRoot
    .replace(/\/\*\*\n \* This interface was referenced by[\s\S]*?\*\/\n/g, '')
    .replace(/\n \*\n \* This interface was referenced by[\s\S]*?(?=\n \*\/)/g, '');
  return `${HEADER}\n${plain.trimStart()}`;
}

/** Whether a schema is only described, which the library takes for an object. */
function takesAny(schema: unknown): boolean {
  if (typeof schema !== 'object' || schema === null) return false;
  const { description, examples, ...rest } = schema as Record<string, unknown>;
  return typeof description === 'string' && Object.keys(rest).length === 0;
}

type Parameter = { name: string; in: string; required?: boolean; schema: object };
type Operation = {
  operationId: string;
  parameters?: Parameter[];
  responses: Record<string, { content?: Record<string, object> }>;
  requestBody?: { content: Record<string, { schema: { $ref?: string } }> };
};

/**
 * The schemas of query parameters and JSON bodies, by the name of their type:
 * `GetJobsQuery` is the query of the operation `get_jobs`.
 */
export function requestSchemas({ paths }: ApiDocument): Record<string, object> {
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods)) as Operation[];
  return Object.fromEntries(
    operations.flatMap(({ operationId, parameters = [], requestBody, responses }) => {
      const name = operationId.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
      // The clients have methods of their own for CSV.
      const isTable = responses['200']?.content?.['text/csv'] !== undefined;
      const query = parameters.filter(({ in: place, name }) => place === 'query' && !(isTable && name === 'format'));
      const body = requestBody?.content['application/json']?.schema;
      return [
        ...(query.length > 0 ? [[`${name}Query`, querySchema(query)] as const] : []),
        ...(body && body.$ref === undefined ? [[`${name}Body`, body] as const] : []),
      ];
    }),
  );
}

function querySchema(parameters: Parameter[]): object {
  return {
    type: 'object',
    properties: Object.fromEntries(parameters.map(({ name, schema }) => [name, schema])),
    required: parameters.filter(({ required }) => required).map(({ name }) => name),
    additionalProperties: false,
  };
}
