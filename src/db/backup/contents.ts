/** The kind of file that this release writes; a release refuses a later one. */
export const FORMAT = 1;

/** First in a backup: all that has to be known before its rows are loaded. */
export type Header = {
  format: number;
  /** The release that wrote it. */
  release: string;
  /** When the snapshot was taken; by the database's clock. */
  taken_at: string;
  migrations: { version: number; name: string; sha256: string; release: string | null }[];
  tables: { name: string; columns: string[] }[];
  /** The partitions of the log of attempts: their names and bounds as SQL. A restore makes the bounds of the names. */
  partitions: { name: string; parent: string; bound: string }[];
  /** `files`: the audio is in the backup. `listed`: it is in a bucket, and the backup has its keys only. */
  audio: 'files' | 'listed' | 'none';
};

/** Last in a backup: what must be in it. */
export type Manifest = {
  rows: Record<string, number>;
  /** Keys of audio that jobs named and the storage did not have any more. */
  missing_audio: string[];
  /** Keys of audio in a bucket. */
  listed_audio: string[];
  /** Every other file in the backup, in its order. */
  files: { name: string; bytes: number; sha256: string }[];
};

/** The names of the files of a backup. */
export const NAMES = {
  header: 'header.json',
  manifest: 'manifest.json',
  key: 'secrets-key',
  audio: 'audio/',
  rows: 'rows/',
};

/** The file is not a backup, is damaged, or cannot be restored here; the message says what to do. */
export class BackupError extends Error {}

/** Whether a text is the key of audio; it becomes the name of a file. */
export function isAudioKey(text: string): boolean {
  return /^[\w-]{1,100}$/.test(text);
}

/**
 * The header of a backup: what it names becomes part of statements.
 * @throws BackupError  unless it has the form that this release writes
 */
export function readHeader(text: string): Header {
  const given = parse(text, NAMES.header);
  const { format, release } = Object(given) as Record<string, unknown>;
  if (Number.isInteger(format) && (format as number) > FORMAT) {
    const by = RELEASE(release) === null ? `release ${release}` : 'a later release';
    throw new BackupError(`The backup was written by ${by}. Restore it with that release or a later one.`);
  }
  return checked(HEADER, given, NAMES.header) as Header;
}

/** @throws BackupError  unless it has the form that this release writes */
export function readManifest(text: string): Manifest {
  return checked(MANIFEST, parse(text, NAMES.manifest), NAMES.manifest) as Manifest;
}

function parse(text: string, file: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new BackupError(`The backup is damaged: its ${file} is no JSON. Take another backup.`, { cause });
  }
}

function checked(form: Form, given: unknown, file: string): unknown {
  const place = form(given);
  if (place === null) return given;
  throw new BackupError(
    `The backup is not as "verbatim backup" writes it: ${file}${place} has another form. Take another backup.`,
  );
}

/** Where a value has another form, such as `/tables/3/name`; null where it has this one. */
type Form = (value: unknown) => string | null;

const MAX_LISTED = 100_000;
const MAX_COLUMNS = 1_600;

const is =
  (test: (value: unknown) => boolean): Form =>
  (value) =>
    test(value) ? null : '';
const text = (pattern: RegExp) => is((value) => typeof value === 'string' && pattern.test(value));
const whole = (min: number, max: number) =>
  is((value) => Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max);

function list(form: Form, max = Number.POSITIVE_INFINITY): Form {
  return (value) => {
    if (!Array.isArray(value) || value.length > max) return '';
    return value.map((item, at) => inside(at, form(item))).find((place) => place !== null) ?? null;
  };
}

function object(forms: Record<string, Form>): Form {
  return (value) => {
    if (typeof value !== 'object' || value === null) return '';
    const fields = Object.entries(forms);
    const places = fields.map(([name, form]) => inside(name, form((value as Record<string, unknown>)[name])));
    return places.find((place) => place !== null) ?? null;
  };
}

function inside(name: string | number, place: string | null): string | null {
  return place === null ? null : `/${name}${place}`;
}

const NAME = text(/^[a-z_][a-z0-9_]{0,62}$/);
const RELEASE = text(/^[\w.+-]{1,64}$/);
const SHA256 = text(/^[0-9a-f]{64}$/);
const ANY_TEXT = text(/^/);
const COUNT = whole(0, Number.MAX_SAFE_INTEGER);

const HEADER = object({
  format: whole(1, FORMAT),
  release: RELEASE,
  taken_at: text(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
  migrations: list(
    object({
      version: whole(1, 9_999),
      name: text(/^\d{4}_[a-z0-9_]{1,100}\.sql$/),
      sha256: SHA256,
      release: (value) => (value === null ? null : RELEASE(value)),
    }),
    9_999,
  ),
  tables: list(object({ name: NAME, columns: list(NAME, MAX_COLUMNS) }), MAX_LISTED),
  partitions: list(object({ name: NAME, parent: NAME, bound: text(/^.{0,1000}$/s) }), MAX_LISTED),
  audio: text(/^(files|listed|none)$/),
});

const MANIFEST = object({
  rows: (value) => object({})(value) ?? list(COUNT)(Object.values(value as object)),
  missing_audio: list(ANY_TEXT),
  listed_audio: list(ANY_TEXT),
  files: list(object({ name: ANY_TEXT, bytes: COUNT, sha256: SHA256 })),
});
