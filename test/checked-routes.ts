import assert from 'node:assert/strict';
import { Compile } from 'typebox/schema';
import type { Answer, Route } from '../src/http/route.ts';
import type { TSchema } from '../src/http/schema.ts';
import { writeJson } from '../src/platform/json.ts';

/** The routes, each of whose answers must be described by its schema: its status, and all fields of its body. */
export function checkedRoutes(routes: Route[]): Route[] {
  return routes.map((route) => ({
    ...route,
    async handle(call) {
      const answer = await route.handle(call);
      assertDescribed(route, answer);
      return answer;
    },
  }));
}

const checks = new WeakMap<object, { Check(value: unknown): boolean; Errors(value: unknown): unknown }>();

function assertDescribed({ method, path, schema }: Route, answer: Answer): void {
  const place = `${method} ${path} ${answer.status}`;
  const described = schema.answers[answer.status];
  assert.notEqual(described, undefined, `${place} is not described`);
  if (described === null || described === undefined) {
    assert.equal(answer.body, undefined, place);
    return;
  }
  const isJson = answer.contentType === undefined || answer.contentType.startsWith('application/json');
  const given = 'media' in described ? (described.media as Record<string, TSchema>)['application/json'] : described;
  if (!isJson || answer.stream || !given) return;
  const text = typeof answer.body === 'string' ? answer.body : writeJson(answer.body);
  let check = checks.get(given);
  if (!check) {
    check = Compile(closed(given) as TSchema);
    checks.set(given, check);
  }
  // Metadata may hold numbers that a double cannot.
  const value = JSON.parse(text, (_, each) => (each === Number.POSITIVE_INFINITY ? 0 : each)) as unknown;
  if (!check.Check(value))
    assert.fail(`${place} is not as described: ${JSON.stringify(check.Errors(value))} in ${text}`);
}

/** The schema with no fixture for members that it does not name. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== 'object' || schema === null) return schema;
  const members = Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, closed(value)]));
  return 'properties' in members ? { additionalProperties: false, ...members } : members;
}
