type Schema = {
  type?: string;
  const?: unknown;
  enum?: unknown[];
  anyOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  description?: string;
  default?: unknown;
};
type Content = Record<string, { schema: Schema }>;
type Operation = {
  summary: string;
  description?: string;
  tags: string[];
  security: object[];
  parameters: { name: string; in: string; required: boolean; schema: Schema }[];
  requestBody?: { content: Content };
  responses: Record<string, { description: string; content?: Content }>;
};

const STYLE = `
  :root { color-scheme: light dark; --line: color-mix(in srgb, currentColor 18%, transparent); }
  body { font: 16px/1.55 system-ui, sans-serif; max-width: 56rem; margin: 0 auto; padding: 2rem 1rem 6rem; }
  h1 { margin-bottom: 0; } h2 { margin-top: 3rem; }
  details { border: 1px solid var(--line); border-radius: .5rem; margin: .5rem 0; padding: .5rem .9rem; }
  summary { cursor: pointer; } summary span { opacity: .7; margin-left: .6rem; }
  code, pre { font: .875em/1.5 ui-monospace, monospace; } b.method { display: inline-block; min-width: 4.2rem; }
  table { border-collapse: collapse; width: 100%; } td, th { text-align: left; vertical-align: top; padding: .3rem .6rem .3rem 0; border-top: 1px solid var(--line); }
`;

/** The API reference as one page of HTML, without scripts or outside assets. @param document  as `describeApi` makes it */
export function writeDocsPage(document: Record<string, unknown>): string {
  const info = document['info'] as { title: string; version: string; description: string };
  const operations = operationsOf(document['paths'] as Record<string, Record<string, Operation>>);
  const tags = [...new Set(operations.map(({ operation }) => operation.tags[0]!))];
  const sections = tags.map((tag) => {
    const rows = operations.filter(({ operation }) => operation.tags[0] === tag).map(writeOperation);
    return `<h2>${escapeHtml(tag)}</h2>${rows.join('')}`;
  });
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escapeHtml(info.title)} API</title><style>${STYLE}</style></head>
<body><h1>${escapeHtml(info.title)} API</h1>
<p>${escapeHtml(info.description)} Version ${escapeHtml(info.version)}. <a href="/openapi.json">OpenAPI 3.1</a></p>
<p>Send your key as <code>X-API-Key</code>. Every error is
<code>{"error": {"message", "code", "type", "param"?}, "request_id"}</code>.</p>
${sections.join('\n')}
</body></html>
`;
}

function operationsOf(paths: Record<string, Record<string, Operation>>) {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  );
}

function writeOperation({ path, method, operation }: ReturnType<typeof operationsOf>[number]): string {
  const parameters = operation.parameters.map((parameter) =>
    writeRow(`${parameter.name}`, `${parameter.in}${parameter.required ? ', required' : ''}`, parameter.schema),
  );
  const body = Object.entries(operation.requestBody?.content ?? {}).map(([type, { schema }]) =>
    writeFields(type, schema),
  );
  const answers = Object.entries(operation.responses).map(([status, { description, content }]) => {
    const schema = Object.values(content ?? {})[0]?.schema;
    return status === 'default' ? '' : writeFields(`${status} ${description}`, schema ?? {});
  });
  const description = operation.description === undefined ? '' : `<p>${escapeHtml(operation.description)}</p>`;
  return `<details><summary><b class="method">${method}</b><code>${escapeHtml(path)}</code><span>${escapeHtml(operation.summary)}</span></summary>
${description}${parameters.length > 0 ? `<h4>Parameters</h4><table>${parameters.join('')}</table>` : ''}${body.join('')}${answers.join('')}</details>`;
}

function writeFields(title: string, schema: Schema): string {
  const fields = Object.entries(schema.properties ?? {});
  const rows = fields.map(([name, field]) => writeRow(name, schema.required?.includes(name) ? 'required' : '', field));
  return `<h4>${escapeHtml(title)}</h4>${rows.length > 0 ? `<table>${rows.join('')}</table>` : ''}`;
}

function writeRow(name: string, mark: string, schema: Schema): string {
  const fallback = schema.default === undefined ? '' : ` Default: ${JSON.stringify(schema.default)}.`;
  return `<tr><th><code>${escapeHtml(name)}</code></th><td><code>${escapeHtml(typeOf(schema))}</code> ${escapeHtml(mark)}</td>
<td>${escapeHtml(`${schema.description ?? ''}${fallback}`)}</td></tr>`;
}

function typeOf(schema: Schema): string {
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  if (schema.anyOf) return schema.anyOf.map(typeOf).join(' | ');
  if (schema.items) return `${typeOf(schema.items)}[]`;
  return schema.type ?? 'any';
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (mark) => `&#${mark.charCodeAt(0)};`);
}
