import type { Reader } from './values.ts';

/** A setting: how it is named, read and described. */
export type Setting<Value> = {
  env: string;
  fallback: string | null;
  meaning: string;
  read: Reader<Value>;
  /** The default as the documentation shows it, where it is not a constant. */
  fallbackInWords: string | null;
};

/** A row of the table of settings. @param fallback  the default's text; null: the setting may be absent */
export function setting<Value>(
  env: string,
  fallback: string | null,
  meaning: string,
  reader: Reader<Value>,
  fallbackInWords: string | null = null,
): Setting<Value> {
  return { env, fallback, meaning, read: reader, fallbackInWords };
}
