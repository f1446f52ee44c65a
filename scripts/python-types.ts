import { NOT_LIVE } from '../src/jobs/options.ts';

/** The parts of a JSON Schema that the API document uses. */
type Schema = {
  $ref?: string;
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  anyOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  patternProperties?: Record<string, Schema>;
  additionalProperties?: boolean | Schema;
  description?: string;
};

const HEADER = `"""
Types of the API, made from its OpenAPI document by \`node scripts/docs.ts\`; do not edit.

A type named after an endpoint has its query or JSON body: \`GetJobsQuery\` is the query of \`GET /v1/jobs\`. There a name that
Python reserves has an underscore behind it.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Union

if sys.version_info >= (3, 11):
    from typing import NotRequired
elif TYPE_CHECKING:
    from typing_extensions import NotRequired
`;

const SCALARS: Record<string, string> = {
  string: 'str',
  integer: 'int',
  number: 'float',
  boolean: 'bool',
  null: 'None',
  array: 'list[Any]',
  object: 'dict[str, Any]',
};

// Those that occur as names of fields.
const RESERVED = new Set(['from', 'async']);
const INPUTS = /(Query|Body|Params)$/;
const INDENT = '    ';

// Formats of transcripts that are no text.
const BINARY = ['docx', 'pdf'];
// Fields of a transcription that belong to synchronous requests, or that the client has in another form.
const NOT_OF_JOBS = [
  ...['async', 'response_format', 'metadata', 'max_line_length', 'max_lines', 'min_duration', 'max_duration'],
  ...['max_chars_per_second', 'min_gap'],
];

// Fields of a live session that the client has in another form, or that are refused.
const NOT_OF_SESSIONS: readonly string[] = ['metadata', ...NOT_LIVE];

/**
 * The Python module with a type for each schema, by name. Nested objects become types of their own.
 * @param events  names of the payloads of events
 */
export function writePythonTypes(schemas: Record<string, object>, events: string[]): string {
  const module = new PythonModule();
  const all = { ...schemas, ...typesForArguments(schemas as Schemas, events) };
  for (const [name, schema] of Object.entries(all)) module.add(name, schema as Schema);
  return `${[HEADER.trimEnd(), ...module.definitions].join('\n\n\n')}\n`;
}

type Schemas = Record<string, Schema>;

/** Types that the API document does not name. */
function typesForArguments(schemas: Schemas, events: string[]): Schemas {
  const {
    Job,
    Webhook,
    GetJobsIdTranscriptQuery: transcript,
    TranscribeByUrl: transcribe,
    PostLiveBody: live,
  } = schemas;
  const { format, version, ...captions } = transcript!.properties!;
  const params = Object.entries(transcribe!.properties!).filter(([name]) => !NOT_OF_JOBS.includes(name));
  const liveParams = Object.entries(live!.properties!).filter(([name]) => !NOT_OF_SESSIONS.includes(name));
  return {
    Plan: Job!.properties!['plan']!,
    JobStatus: Job!.properties!['status']!,
    EventType: Webhook!.properties!['events']!.items!,
    TranscriptFormat: { enum: format!.enum!.filter((name) => !BINARY.includes(String(name))) },
    TranscriptFileFormat: { enum: BINARY },
    TranscriptVersion: version!,
    TranscribeParams: {
      description: 'What a job is asked for, in the names of the API.',
      properties: Object.fromEntries(params),
    },
    LiveParams: {
      description: 'What a live session is asked for, in the names of the API.',
      properties: Object.fromEntries(liveParams),
    },
    TranscriptParams: { properties: { ...captions, version: version! } },
    AnyEvent: { description: 'What a receiver is sent.', anyOf: events.map((name) => ({ $ref: `/${name}` })) },
  };
}

class PythonModule {
  readonly definitions: string[] = [];

  /** Adds the definition of a named schema, behind those of its parts. */
  add(name: string, schema: Schema): void {
    if (isTypedObject(schema)) this.#addObject(name, schema);
    else this.definitions.push(`${comment(schema.description)}${name} = ${this.#alias(schema, name)}`);
  }

  #addObject(name: string, schema: Schema): void {
    const isInput = INPUTS.test(name);
    const fields = Object.entries(schema.properties ?? {}).map(([key, field]) => ({
      key: isInput && RESERVED.has(key) ? `${key}_` : key,
      type: this.#type(field, name + pascal(key)),
      isRequired: schema.required?.includes(key) ?? false,
      description: field.description,
    }));
    const typed = fields.map((field) => ({
      ...field,
      type: field.isRequired ? field.type : `NotRequired[${field.type}]`,
    }));
    const isClass = fields.every(({ key }) => !RESERVED.has(key));
    this.definitions.push(isClass ? classText(name, schema, typed) : callText(name, schema, typed));
  }

  /** An expression that is evaluated when the module is imported: names that may come later are quoted. */
  #alias(schema: Schema, name: string): string {
    if (schema.anyOf)
      return `Union[${schema.anyOf.map((each, index) => `"${this.#type(each, `${name}${index + 1}`)}"`).join(', ')}]`;
    return this.#type(schema, name);
  }

  #type(schema: Schema, name: string): string {
    if (schema.$ref) return schema.$ref.replace(/^.*\//, '');
    if (schema.const !== undefined) return `Literal[${literal(schema.const)}]`;
    if (isBoolean(schema)) return 'bool';
    if (schema.enum) return `Literal[${schema.enum.map(literal).join(', ')}]`;
    if (schema.anyOf) return this.#union(schema.anyOf, name);
    if (Array.isArray(schema.type)) return schema.type.map((type) => SCALARS[type]!).join(' | ');
    if (isTypedObject(schema)) {
      this.#addObject(name, schema);
      return name;
    }
    const values = Object.values(schema.patternProperties ?? {})[0] ?? objectOf(schema.additionalProperties);
    if (values) return `dict[str, ${this.#type(values, `${name}Value`)}]`;
    if (schema.items) return `list[${this.#type(schema.items, `${name}Item`)}]`;
    return schema.type === undefined ? 'Any' : SCALARS[schema.type]!;
  }

  #union(members: Schema[], name: string): string {
    const types = members.map((member, index) => this.#type(member, index === 0 ? name : `${name}${index + 1}`));
    return [...new Set(types)].join(' | ');
  }
}

type Field = { key: string; type: string; description: string | undefined; isRequired: boolean };

function classText(name: string, schema: Schema, fields: Field[]): string {
  const lines = [`class ${name}(TypedDict):`];
  if (schema.description) lines.push(...docstring(schema.description), '');
  if (fields.length === 0 && !schema.description) lines.push(`${INDENT}pass`);
  for (const { key, type, description } of fields) {
    lines.push(`${INDENT}${key}: ${type}`);
    if (description) lines.push(...docstring(description));
  }
  return lines.join('\n').trimEnd();
}

/** The form for fields whose names Python reserves. */
function callText(name: string, schema: Schema, fields: Field[]): string {
  const members = fields.map(({ key, type }) => `${INDENT}${INDENT}"${key}": "${type.replaceAll('"', "'")}",`);
  return [
    `${comment(schema.description)}${name} = TypedDict(`,
    `${INDENT}"${name}",`,
    `${INDENT}{`,
    ...members,
    `${INDENT}},`,
    ')',
  ].join('\n');
}

function docstring(text: string): string[] {
  return [`${INDENT}"""${text.replaceAll('\\', '\\\\').replace(/"$/, '" ')}"""`];
}

function comment(text: string | undefined): string {
  return text ? `# ${text}\n` : '';
}

function isTypedObject(schema: Schema): boolean {
  return schema.properties !== undefined && Object.keys(schema.properties).length > 0;
}

/** A boolean in a query or form. */
function isBoolean({ enum: words }: Schema): boolean {
  return words?.[0] === 'true' && words[1] === 'false';
}

function objectOf(schema: boolean | Schema | undefined): Schema | null {
  return typeof schema === 'object' ? schema : null;
}

function literal(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  return value === null ? 'None' : JSON.stringify(value);
}

function pascal(name: string): string {
  return name.replace(/(?:^|[_.])([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
