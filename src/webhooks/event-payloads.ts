import type { TSchema } from '../http/schema.ts';
import { component, idSchema, Type, timeSchema } from '../http/schema.ts';
import { jobInEventSchema } from '../jobs/schemas.ts';
import { webhookSchema } from './endpoints/view.ts';
import type { EventType } from './events/event-types.ts';
import { EVENT_CATALOGUE, EVENT_TYPES } from './events/event-types.ts';

const SUBJECTS = { job: jobInEventSchema, webhook: webhookSchema };

/** What is sent for each type of event, for the API document: its name, when it is emitted, and the schema of the body. */
export const eventPayloads: { type: EventType; when: string; schema: TSchema }[] = EVENT_TYPES.map((type) => {
  const { schemaName, when, subject } = EVENT_CATALOGUE[type];
  const schema = Type.Object(
    {
      id: idSchema('evt', 'evt_01kamz2f3q8r5t7v9wxyzabcde'),
      type: Type.Literal(type),
      created_at: timeSchema,
      ...(subject === 'job' && {
        metadata: Type.Optional(Type.Unknown({ description: 'As the request carried it; absent without it.' })),
      }),
      data: Type.Object({ [subject]: SUBJECTS[subject] }),
    },
    component(schemaName, undefined, when),
  );
  return { type, when, schema };
});
