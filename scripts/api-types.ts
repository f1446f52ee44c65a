import { compile } from 'json-schema-to-typescript';

import type { ApiDocument } from './api-document.ts';

const HEADER = '// Made from the API document by `node scripts/docs.ts`; do not edit.\n';

/** The TypeScript types of all components of an OpenAPI document, for clients. */
export async function writeApiTypes(document: ApiDocument): Promise<string> {
  const definitions = JSON.parse(
    JSON.stringify(document.components.schemas).replaceAll('#/components/schemas/', '#/definitions/'),
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
