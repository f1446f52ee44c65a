import { RawJson, writeJson } from '../platform/json.ts';
import type { Answer } from './route.ts';
import { oneOf, type TSchema, Type } from './schema.ts';

const FORMATS = ['json', 'csv'] as const;

/** The query field of lists that are answered as CSV too. */
export const csvField = {
  format: Type.Optional(
    oneOf(FORMATS, { description: 'csv: as with `Accept: text/csv`, which this field goes before. Default: json.' }),
  ),
};

/** The answer of such a list: JSON with the schema, or CSV. */
export function jsonOrCsv(json: TSchema): { media: Record<string, TSchema> } {
  const description =
    'RFC 4180, with a line of names: a field of an object is `audio.format`, lists and metadata are JSON. The header ' +
    'X-Next-Cursor has the cursor of the next page. Text that a spreadsheet would take for a formula begins with an apostrophe.';
  return { media: { 'application/json': json, 'text/csv': Type.String({ description }) } };
}

type Wish = { format: (typeof FORMATS)[number] | undefined; accept: string | null };
/** @property row  the schema of a row, of which the columns are made */
type Rows = { name: string; row: TSchema; body: { data: object[]; next_cursor?: string | null } };

/** The rows in the format that the client has asked for. @param accept  the header of the request */
export function jsonOrCsvAnswer({ format, accept }: Wish, { name, row, body }: Rows): Answer & { status: 200 } {
  if ((format ?? preferredFormat(accept ?? '')) === 'json') return { status: 200, body };
  const { next_cursor: cursor = null } = body;
  return {
    status: 200,
    body: writeCsv(row, body.data),
    contentType: 'text/csv; charset=utf-8',
    headers: {
      'content-disposition': `attachment; filename="${name}.csv"`,
      ...(cursor !== null && { 'x-next-cursor': cursor }),
    },
  };
}

function preferredFormat(accept: string): (typeof FORMATS)[number] {
  const quality = (type: string) => {
    const range = accept.split(',').find((each) => each.split(';', 1)[0]!.trim().toLowerCase() === type);
    return range === undefined ? 0 : Number(/;\s*q=([\d.]+)/i.exec(range)?.[1] ?? 1);
  };
  return quality('text/csv') > quality('application/json') ? 'csv' : 'json';
}

/** Lines of CSV (RFC 4180): the names of the columns, then the rows. @param schema  of a row */
function writeCsv(schema: TSchema, rows: object[]): string {
  const columns = columnsOf(schema);
  const lines = rows.map((row) => columns.map((path) => cellOf(path.reduce(fieldOf, row))).join(','));
  return [columns.map((path) => path.join('.')).join(','), ...lines, ''].join('\r\n');
}

/** The paths of the fields; those of an object stand for it. */
function columnsOf(schema: TSchema, path: string[] = []): string[][] {
  const { anyOf, properties } = schema as { anyOf?: TSchema[]; properties?: Record<string, TSchema> };
  // Of a value or null, the value.
  if (anyOf?.length === 2 && (anyOf[1] as { type?: string }).type === 'null') return columnsOf(anyOf[0]!, path);
  if (properties === undefined) return [path];
  return Object.entries(properties).flatMap(([name, field]) => columnsOf(field, [...path, name]));
}

function fieldOf(value: unknown, name: string): unknown {
  return (value as Record<string, unknown> | null | undefined)?.[name];
}

// Spreadsheets run what begins so; file names, notes and texts are written by strangers.
const FORMULA = /^[=+\-@\t\r\n\uff0b\uff0d\uff1d\uff20]/;

function cellOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'string') return quoted(FORMULA.test(value) ? `'${value}` : value);
  if (value instanceof RawJson) return quoted(value.text.trim());
  return typeof value === 'object' ? quoted(writeJson(value)) : String(value);
}

/** An empty text is quoted, so that it differs from null. */
function quoted(text: string): string {
  return text === '' || /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
