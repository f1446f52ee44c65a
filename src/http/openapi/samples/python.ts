import { type Argument, OPENAI_SAMPLES, type Sample } from './table.ts';
import { queryOf, requestOf, type SampledOperation } from './wire.ts';

const LONGEST_LINE = 88;
const KEYWORDS = ['from'];
const CREDENTIALS: Readonly<Record<SampledOperation['auth'], readonly string[]>> = {
  // Only POST /v1/session takes a key and has no method of the client.
  key: ['headers={"X-API-Key": os.environ["VERBATIM_API_KEY"]}'],
  admin: [`headers={"Authorization": f"Bearer {os.environ['ADMIN_TOKEN']}"}`],
  session: [
    'cookies={"verbatim_session": os.environ["SESSION"]}',
    'headers={"X-Session-Id": os.environ["SESSION_ID"], "Origin": os.environ["VERBATIM_URL"]}',
  ],
  none: [],
};
const CLIENT = `from verbatim_sdk import Verbatim

client = Verbatim()  # with VERBATIM_URL and VERBATIM_API_KEY
`;

/** The operation as a program for the Python client; for operators with httpx, on which that client is built. */
export function pythonSample(operation: SampledOperation): string {
  const { id, auth, sample } = operation;
  if (id in OPENAI_SAMPLES) return openAi(OPENAI_SAMPLES[id]!);
  return sample && auth === 'key' ? `${CLIENT}\n${statements(sample)}` : withHttpx(operation);
}

function statements({ call, args = [], params = {}, result, each, shows, isContextInPython }: Sample): string {
  const named = Object.entries(params);
  const keywords = named.some(([name]) => KEYWORDS.includes(name))
    ? [`**${literal(params)}`]
    : named.map(([name, value]) => `${name}=${literal(value)}`);
  const called = callOf(`client.${snakeCase(call)}`, [...args.map(argument), ...keywords]);
  const printed = `print(${result ?? each}${shows ? `["${shows}"]` : ''})`;
  if (isContextInPython) return `with ${called} as ${result}:\n    print(${result}.${shows})`;
  if (each) return `for ${each} in ${called}:\n    ${printed}`;
  return result ? `${result} = ${called}\n${printed}` : called;
}

function argument(arg: Argument): string {
  if (typeof arg === 'string') return literal(arg);
  if ('audio' in arg) return arg.audio === 'file' ? '"call.mp3"' : 'audio_url="https://example.com/call.mp3"';
  return arg.isKeyword ? `${arg.name}=${literal(arg.value)}` : literal(arg.value);
}

function callOf(name: string, args: string[]): string {
  const inline = `${name}(${args.join(', ')})`;
  if (inline.length <= LONGEST_LINE) return inline;
  return `${name}(\n${args.map((arg) => `    ${arg},\n`).join('')})`;
}

/** A value as Python. */
function literal(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (value === null) return 'None';
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`;
  if (typeof value !== 'object') return JSON.stringify(value);
  const members = Object.entries(value).map(([name, each]) => `${JSON.stringify(name)}: ${literal(each)}`);
  return `{${members.join(', ')}}`;
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function withHttpx(operation: SampledOperation): string {
  const { method, auth, path: template } = operation;
  const { path, fields } = requestOf(operation);
  const isQuery = method === 'GET';
  const json = isQuery || Object.keys(fields).length === 0 ? [] : [`json=${literal(fields)}`];
  const address = literal(path + (isQuery ? queryOf(fields) : ''));
  const client = callOf('httpx.Client', ['base_url=os.environ["VERBATIM_URL"]', ...CREDENTIALS[auth]]);
  const called = callOf(`client.${method.toLowerCase()}`, [address, ...json]);
  const isText = method === 'DELETE' || template === '/metrics' || template.includes('audio');
  const shown = isText ? 'answer.status_code' : 'answer.json()';
  return `import os

import httpx

client = ${client}

answer = ${called}
answer.raise_for_status()
print(${shown})`;
}

function openAi(resource: string): string {
  return `import os

from openai import OpenAI

client = OpenAI(
    base_url=f"{os.environ['VERBATIM_URL']}/v1",
    api_key=os.environ["VERBATIM_API_KEY"],
)

with open("call.mp3", "rb") as audio:
    answer = client.${resource}.create(model="pro", file=audio)
print(answer.text)`;
}
