import { withQuery } from './format.ts';

/** A request to show as code. */
export type CodeRequest = {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  path: string;
  query?: Record<string, string>;
  /** JSON. */
  body?: unknown;
  /** Form fields; a value that starts with @ is a file. */
  form?: readonly (readonly [name: string, value: string])[];
  /** The operator's token in place of a key. */
  asOperator?: boolean;
  /** The method of the SDK, such as `client.jobs.list`; absent: it has none. */
  sdk?: string;
  /** Arguments of the SDK's method in place of the query or the body, as code. */
  sdkArguments?: string;
};

/** A command for a POSIX shell. The key is read from a variable. @param origin  of the service */
export function curlOf({ method, path, query = {}, body, form, asOperator }: CodeRequest, origin: string): string {
  const parts = [
    `curl ${method === 'GET' || form || (method === 'POST' && body !== undefined) ? '' : `-X ${method} `}${quote(origin + withQuery(path, query))}`,
    asOperator ? '-H "Authorization: Bearer $ADMIN_TOKEN"' : '-H "X-API-Key: $VERBATIM_API_KEY"',
    ...(body === undefined ? [] : ["-H 'Content-Type: application/json'", `-d ${quote(JSON.stringify(body))}`]),
    ...(form ?? []).map(([name, value]) => `-F ${quote(`${name}=${value}`)}`),
  ];
  return parts.join(' \\\n  ');
}

/** TypeScript with the SDK; null for a request without a method of the SDK. @param origin  of the service */
export function sdkOf({ method, query = {}, body, sdk, sdkArguments }: CodeRequest, origin: string): string | null {
  if (!sdk) return null;
  const given = Object.entries(query).filter(([name, value]) => name !== 'cursor' && value !== '');
  const fields = method === 'GET' ? (given.length > 0 ? Object.fromEntries(given) : undefined) : body;
  const text = sdkArguments ?? (fields === undefined ? '' : literalOf(fields));
  const call = `${sdk}(${text})`;
  const lines = [
    "import { Verbatim } from '@verbatim/sdk';",
    '',
    `const client = new Verbatim({ baseUrl: '${origin}', apiKey: process.env.VERBATIM_API_KEY });`,
    ...(sdk.endsWith('.list')
      ? [`for await (const item of ${call}) {`, '  console.log(item);', '}']
      : [`const answer = await ${call};`]),
  ];
  return lines.join('\n');
}

/** One word of a POSIX shell, whatever the text is. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function literalOf(value: unknown): string {
  return JSON.stringify(value, null, 2)
    .replace(/^(\s*)"([a-z_]\w*)":/gm, '$1$2:')
    .replace(/\n\s*/g, ' ');
}
