import { memberText } from '#sdk/client/metadata-text.ts';
import { ApiError } from '../../http/api-error.ts';
import { fingerprintOf } from '../../http/idempotency/idempotency.ts';
import type { IncomingUpload } from '../../http/route.ts';
import { parseJson, readBody } from '../../http/server/body.ts';
import { unknownField } from '../../http/server/validation-errors.ts';
import { listValues } from './list-values.ts';
import { fieldTooLarge, type Upload, type UploadLimits } from './upload.ts';

type FieldLimits = Pick<UploadLimits, 'fieldBytes' | 'listFields'> & {
  /** The fields whose values are strings only. */
  textFields: readonly string[];
};

type JsonLimits = FieldLimits & {
  /** The field that says where the audio is. */
  insteadOfFile: string;
  /** The field that may be an object or a list too: its text is kept as it was written. */
  exactField: string;
  /** Time for the body to arrive. */
  timeoutMs: number;
};

/** Whether a body is JSON in place of a form. */
export function isJsonForm({ contentType }: Pick<IncomingUpload, 'contentType'>): boolean {
  return /^application\/json\s*(;|$)/i.test(contentType);
}

/**
 * The fields of a JSON body, as a form without a file would have them.
 * @throws ApiError  that names the first field at fault
 * @throws BodyTimeoutError
 */
export async function readJsonForm(upload: IncomingUpload, limits: JsonLimits): Promise<Upload> {
  const bytes = await readBody(upload.open(), { ...limits, contentLength: upload.contentLength });
  const body = parseJson(bytes, { exactField: limits.exactField });
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new ApiError('invalid_request', `The body must be a JSON object with ${limits.insteadOfFile}.`);
  }
  const { exactField } = limits;
  const exact = (body as Record<string, unknown>)[exactField];
  const isText = typeof exact !== 'object' || exact === null;
  const given = isText ? body : { ...body, [exactField]: memberText(bytes.toString(), exactField) };
  const { fields, lists } = readJsonFields(given, limits);
  const form: Upload = { fields, lists, file: null, fingerprint: fingerprintOf(bytes) };
  if (!form.fields.has(limits.insteadOfFile)) {
    const message = `A JSON body needs ${limits.insteadOfFile}. Send a file as multipart/form-data.`;
    throw new ApiError('invalid_request', message, { param: limits.insteadOfFile });
  }
  return form;
}

type JsonFields = Pick<Upload, 'fields' | 'lists'>;

/**
 * The fields of an object as a form has them: numbers and booleans as text, lists of strings as repeated fields, other
 * lists and objects as JSON text. The fields in `textFields` take strings only.
 * @throws ApiError  that names the first field at fault
 */
export function readJsonFields(body: object, limits: FieldLimits): JsonFields {
  const form: JsonFields = { fields: new Map(), lists: new Map() };
  for (const [name, value] of Object.entries(body)) readField(name, value, form, limits);
  return form;
}

function readField(name: string, value: unknown, { fields, lists }: JsonFields, limits: FieldLimits): void {
  if (!Object.hasOwn(limits.fieldBytes, name)) throw unknownField(name, Object.keys(limits.fieldBytes));
  const values = limits.listFields?.includes(name) ? listOf(value) : [value];
  const isText = limits.textFields.includes(name);
  const texts = values.map((each) => textOf(name, each, isText));
  const maxBytes = limits.fieldBytes[name]!;
  if (texts.some((text) => Buffer.byteLength(text) > maxBytes)) throw fieldTooLarge(name, maxBytes);
  fields.set(name, texts.at(-1) ?? '');
  if (limits.listFields?.includes(name)) lists.set(name, texts);
}

/** A string is read as in a form: tools that fill in templates send a list as its text. */
function listOf(value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  return typeof value === 'string' ? listValues(value) : [value];
}

function textOf(name: string, value: unknown, isText: boolean): string {
  if (typeof value === 'string' && value.isWellFormed()) return value;
  if (!isText && (typeof value === 'number' || typeof value === 'boolean')) return String(value);
  if (!isText && typeof value === 'object' && value !== null) return JSON.stringify(value);
  const wanted = name === 'metadata' ? 'a JSON object, or a string that contains JSON' : 'a string';
  throw new ApiError('invalid_request', `${name} must be ${wanted}.`, { param: name });
}
