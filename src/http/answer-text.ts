import { writeJson } from '../platform/json.ts';
import type { Answer } from './route.ts';

export const JSON_TYPE = 'application/json; charset=utf-8';

/** The body of an answer as text, and its content type; null for an answer without a body. */
export function renderAnswer({ body, contentType }: Answer): { body: string; contentType: string } | null {
  if (body === undefined) return null;
  const isText = typeof body === 'string' && contentType !== undefined;
  return { body: isText ? body : writeJson(body), contentType: contentType ?? JSON_TYPE };
}
