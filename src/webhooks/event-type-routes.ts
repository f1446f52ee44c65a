import { plainSchema } from '../http/openapi/plain-schema.ts';
import { defineRoute, type Route } from '../http/route.ts';
import { component, Type } from '../http/schema.ts';
import { eventTypeSchema } from './endpoints/view.ts';
import { eventPayloads } from './event-payloads.ts';

const objectOf = (description: string) =>
  Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true, description });

const listSchema = Type.Object(
  {
    data: Type.Array(
      Type.Object({
        type: eventTypeSchema,
        description: Type.String({ description: 'When it is emitted.' }),
        schema: objectOf('JSON Schema of the body.'),
        example: objectOf('A body.'),
      }),
    ),
  },
  component('EventTypeList'),
);

/** GET /v1/event-types. */
export function eventTypeRoutes(): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/v1/event-types',
      auth: 'key',
      scope: 'any',
      summary: 'Every type of event: when it is emitted, the JSON Schema of its body, and an example',
      tag: 'Events',
      schema: { answers: { 200: listSchema } },
      handle: async () => ({ status: 200, body: { data: eventPayloads.map(showEventType) } }),
    }),
  ];
}

function showEventType({ type, when, schema, example }: (typeof eventPayloads)[number]) {
  return { type, description: when, schema: plainSchema(schema, null) as Record<string, unknown>, example };
}
