import { DOCUMENTED, Type } from '../../http/schema.ts';
import { cleanLabel } from '../../rules/label.ts';
import { type RequestFields, refusal } from '../request-fields.ts';

const MAX_TITLE_CHARS = 200;
const MAX_TAG_CHARS = 64;
const MAX_TAGS = 10;
const UTF8_BYTES_PER_CHAR = 4;
// What every check passes: generated requests have no control characters.
const PLAIN = { pattern: '^[A-Za-z0-9]([A-Za-z0-9 ._-]*[A-Za-z0-9])?$' };

/** A name of one's own, and tags, of a job. */
export type JobNames = { title: string | null; tags: string[] };

export const titleSchema = Type.String({
  minLength: 1,
  maxLength: MAX_TITLE_CHARS,
  description:
    'A name of your own for the job: one line. Lists are searched by it, and documents and downloads have it.',
  examples: ['Interview with Anna'],
  [DOCUMENTED]: PLAIN,
});

const tagText = { minLength: 1, maxLength: MAX_TAG_CHARS, [DOCUMENTED]: PLAIN };

const tagsSchema = Type.Array(Type.String(tagText), {
  maxItems: MAX_TAGS,
  description: 'Words of your own, by which jobs are listed: `GET /v1/jobs?tag=`. Duplicates are folded.',
  examples: [['interview', 'Anna']],
});

/** The query parameter that filters a list. */
export const tagParameter = Type.String({ ...tagText, description: 'Jobs with this tag.', examples: ['interview'] });

/** The fields of a form or of a JSON body. */
export const nameFields = { title: Type.Optional(titleSchema), tags: Type.Optional(tagsSchema) };

/** The maximum size of each field, in bytes of UTF-8. */
export const NAME_FIELD_BYTES = {
  title: MAX_TITLE_CHARS * UTF8_BYTES_PER_CHAR,
  tags: MAX_TAG_CHARS * UTF8_BYTES_PER_CHAR,
} as const;

/** The fields that may be repeated. */
export const REPEATED_NAMES: readonly string[] = ['tags'];

/** @throws ApiError  400 */
export function readNames({ fields, lists }: RequestFields): JobNames {
  const title = fields.get('title');
  return { title: title === undefined ? null : readTitle(title), tags: readTags(lists.get('tags') ?? []) };
}

/** Without white space around it. @throws ApiError  400 */
export function readTitle(text: string): string {
  return readLabel(text, { param: 'title', entry: 'title', maxChars: MAX_TITLE_CHARS });
}

/** Each once, without white space around it. @throws ApiError  400 */
export function readTags(texts: readonly string[]): string[] {
  if (texts.length > MAX_TAGS) throw refusal('tags', `Send at most ${MAX_TAGS} tags.`);
  return [...new Set(texts.map((text, index) => readTag(text, { param: 'tags', entry: `tags[${index}]` })))];
}

/** @param place  the field that is at fault, and how the message names it @throws ApiError  400 */
export function readTag(text: string, place: { param: string; entry: string }): string {
  return readLabel(text, { ...place, maxChars: MAX_TAG_CHARS });
}

function readLabel(
  text: string,
  { param, entry, maxChars }: { param: string; entry: string; maxChars: number },
): string {
  const label = text.trim();
  if (label === '') throw refusal(param, `${entry} must not be empty.`);
  if ([...text].length > maxChars) throw refusal(param, `${entry} may have at most ${maxChars} characters.`);
  // Also where the text has half of a pair, U+0000, or the end of a line.
  if (cleanLabel(label, maxChars) !== label) {
    throw refusal(param, `${entry} must be one line without control characters and marks of writing direction.`);
  }
  return label;
}
