type Schema = { type?: string | string[]; enum?: unknown[]; description?: string; $ref?: string };
type Operation = {
  summary: string;
  description?: string;
  tags: string[];
  parameters: { name: string; in: string; required: boolean; description?: string; schema: Schema }[];
  requestBody?: {
    content: Record<string, { schema: Schema & { properties?: Record<string, Schema>; required?: string[] } }>;
  };
  responses: Record<string, { description: string; content?: Record<string, { schema?: Schema }> }>;
  'x-codeSamples': { label: string; source: string }[];
};

const FENCES: Record<string, string> = { curl: 'sh', TypeScript: 'ts', Python: 'python' };

/** The reference of the API as Markdown: the endpoints by tag, with parameters, fields, answers and examples. */
export function writeReference(document: Record<string, unknown>): string {
  const { tags, paths } = document as {
    tags: { name: string; description?: string }[];
    paths: Record<string, Record<string, Operation>>;
  };
  const endpoints = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ title: `${method.toUpperCase()} ${path}`, operation })),
  );
  const sections = tags.flatMap(({ name, description = '' }) => [
    `## ${name}\n\n${description}`.trim(),
    ...endpoints.filter(({ operation }) => operation.tags[0] === name).map(writeEndpoint),
  ]);
  return `${['# Verbatim API', 'Schemas by name are in [/openapi.json](/openapi.json).', ...sections].join('\n\n')}\n`;
}

function writeEndpoint({ title, operation }: { title: string; operation: Operation }): string {
  const { summary, description, parameters, requestBody, responses } = operation;
  const bodies = Object.entries(requestBody?.content ?? {}).map(([type, { schema }]) => writeBody(type, schema));
  const answers = Object.entries(responses)
    .filter(([status]) => Number(status) < 400)
    .map(
      ([status, answer]) =>
        `- ${status}: ${
          Object.entries(answer.content ?? {})
            .map(nameContent)
            .join(', ') || 'no body'
        }`,
    );
  return [
    `### ${title}`,
    `${summary}.`,
    description,
    parameters.length > 0 && parameters.map(writeParameter).join('\n'),
    ...bodies,
    `Answers:\n\n${answers.join('\n')}`,
    ...operation['x-codeSamples'].map(({ label, source }) => `\`\`\`${FENCES[label] ?? ''}\n${source}\n\`\`\``),
  ]
    .filter(Boolean)
    .join('\n\n');
}

function writeParameter({ name, in: place, required, description, schema }: Operation['parameters'][number]): string {
  return `- \`${name}\` (${place}${required ? ', required' : ''}): ${describe({ description, ...schema })}`;
}

function writeBody(
  type: string,
  { properties, required = [], ...schema }: Schema & { properties?: Record<string, Schema>; required?: string[] },
): string {
  if (!properties) return `Body, \`${type}\`: ${describe(schema)}`;
  const lines = Object.entries(properties).map(
    ([name, field]) => `- \`${name}\`${required.includes(name) ? ' (required)' : ''}: ${describe(field)}`,
  );
  return `Body, \`${type}\`:\n\n${lines.join('\n')}`;
}

function nameContent([type, { schema = {} }]: [string, { schema?: Schema }]): string {
  return schema.$ref ? `\`${type}\` ${nameOf(schema.$ref)}` : `\`${type}\``;
}

function describe({ type, enum: values, description, $ref }: Schema): string {
  const kind = $ref
    ? nameOf($ref)
    : values
      ? values.map((value) => `\`${value}\``).join(', ')
      : [type ?? 'any'].flat().join(' or ');
  return description ? `${kind}. ${description}` : kind;
}

function nameOf(reference: string): string {
  return reference.split('/').at(-1)!;
}
