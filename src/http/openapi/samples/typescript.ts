import { type Argument, OPENAI_SAMPLES, type Sample } from './table.ts';
import { requestOf, type SampledOperation } from './wire.ts';

const LONGEST_INLINE = 70;
const LONGEST_LINE = 90;
const CLIENT = `import { Verbatim } from '@verbatim/sdk';

const client = new Verbatim(); // with VERBATIM_URL and VERBATIM_API_KEY
`;
const ADMIN = `import { VerbatimAdmin } from '@verbatim/sdk';

const admin = new VerbatimAdmin(); // with VERBATIM_URL and ADMIN_TOKEN
`;

/** The operation as a program for the TypeScript client. */
export function typescriptSample(operation: SampledOperation): string {
  const { id, method, auth, sample } = operation;
  if (id in OPENAI_SAMPLES) return openAi(OPENAI_SAMPLES[id]!);
  const head = auth === 'admin' ? ADMIN : CLIENT;
  const client = auth === 'admin' ? 'admin' : 'client';
  if (sample) return `${head}\n${statements(client, sample)}`;
  const { path } = requestOf(operation);
  if (auth === 'session') return inPage(method, path);
  return `${head}\nconst { text } = await ${client}.request('${method}', '${path}');\nconsole.log(text);`;
}

/** Sessions are of browsers: a page of the service itself. */
function inPage(method: string, path: string): string {
  const init = method === 'GET' ? '' : `, { method: '${method}', headers: { 'X-Session-Id': 'ses_…' } }`;
  const call = `('${path}'${init})`;
  return `const answer = await fetch${call};\nconsole.log(answer.status);`;
}

function statements(client: string, { call, args = [], params, result, each, shows }: Sample): string {
  const write = (longest: number) => {
    const given = [...args.map(argument), ...(params ? [literal(params, '', longest)] : [])];
    return `${client}.${call}(${given.join(', ')})`;
  };
  const inline = write(LONGEST_INLINE);
  const called = inline.length > LONGEST_LINE ? write(0) : inline;
  const name = result ?? each;
  const printed = `console.log(${name}${shows ? `.${shows}` : ''});`;
  if (each) return `for await (const ${each} of ${called}) ${printed}`;
  return result ? `const ${result} = await ${called};\n${printed}` : `await ${called};`;
}

function argument(arg: Argument): string {
  if (typeof arg === 'string') return literal(arg);
  if ('audio' in arg) return arg.audio === 'file' ? `{ path: 'call.mp3' }` : `{ url: 'https://example.com/call.mp3' }`;
  return literal(arg.value);
}

/** A value as JavaScript, on several lines where it is long. */
function literal(value: unknown, indent = '', longest = LONGEST_INLINE): string {
  if (typeof value === 'string') return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((each) => literal(each, indent)).join(', ')}]`;
  const inner = `${indent}  `;
  const members = Object.entries(value).map(
    ([name, each]) => `${/^[A-Za-z_]\w*$/.test(name) ? name : literal(name)}: ${literal(each, inner)}`,
  );
  const inline = `{ ${members.join(', ')} }`;
  if (inline.length <= longest) return inline;
  return `{\n${members.map((member) => `${inner}${member},\n`).join('')}${indent}}`;
}

function openAi(resource: string): string {
  return [
    "import fs from 'node:fs';",
    "import OpenAI from 'openai';",
    '',
    "const client = new OpenAI({ baseURL: 'http://127.0.0.1:8080/v1', apiKey: 'vb_…' });",
    '',
    `const { text } = await client.${resource}.create({ model: 'pro', file: fs.createReadStream('call.mp3') });`,
    'console.log(text);',
  ].join('\n');
}
