import type { Route } from '../../route.ts';
import type { Sample } from './table.ts';

/** An operation, as far as its samples depend on it. */
export type SampledOperation = {
  id: string;
  method: Route['method'];
  path: string;
  auth: Route['auth'];
  isUpload: boolean;
  isStream: boolean;
  /** Null: the clients have no method for it. */
  sample: Sample | null;
};

/** The request of a sample: the path with its ids, and what goes into the query or the body, by name. */
export function requestOf({ path, sample }: SampledOperation): { path: string; fields: Record<string, unknown> } {
  const { args = [], params = {} } = sample ?? {};
  const ids = args.filter((arg) => typeof arg === 'string');
  const named = args.flatMap((arg) => (typeof arg === 'object' && 'name' in arg ? [[arg.name, arg.value]] : []));
  return {
    path: path.replace(/:(\w+)/g, (_, name: string) => ids.shift() ?? name.toUpperCase()),
    fields: { ...Object.fromEntries(named), ...params },
  };
}

/** `?name=value`, with lists separated by commas; empty without fields. */
export function queryOf(fields: Record<string, unknown>): string {
  const entries = Object.entries(fields).map(([name, value]): [string, string] => [name, String(value)]);
  return entries.length === 0 ? '' : `?${new URLSearchParams(entries)}`;
}
