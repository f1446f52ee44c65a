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
  /** The partitions of the log of attempts: their names and bounds as SQL. */
  partitions: { name: string; parent: string; bound: string }[];
  /** `files`: the audio is in the backup. `listed`: it is in a bucket, and the backup has its keys only. `none`. */
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
