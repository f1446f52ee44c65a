import { component, idSchema, type TSchema, Type, timeSchema } from '../http/schema.ts';
import { JOB_EXAMPLE, jobInEventSchema } from '../jobs/schemas.ts';
import { WEBHOOK_EXAMPLE, webhookSchema } from './endpoints/view.ts';
import { EVENT_CATALOGUE, EVENT_TYPES, type EventType } from './events/event-types.ts';

/** A type of event, with the JSON Schema of the body that webhooks receive, and an example of it. */
export type EventPayload = { type: EventType; when: string; schema: TSchema; example: Record<string, unknown> };

const EVENT_ID = 'evt_01kamz2f3q8r5t7v9wxyzabcde';
const SUBJECTS = { job: jobInEventSchema, webhook: webhookSchema };
const FAILED_JOB = {
  ...JOB_EXAMPLE,
  status: 'failed',
  text: null,
  segments: null,
  speakers: null,
  error: { type: 'unprocessable_audio', message: 'The audio cannot be decoded.' },
  cost: 0,
  progress: 0,
};

/** What is sent for each type of event. */
export const eventPayloads: EventPayload[] = EVENT_TYPES.map((type) => {
  const { schemaName, when, subject, exampleStatus } = EVENT_CATALOGUE[type];
  const isOfJob = subject === 'job';
  const example = {
    id: EVENT_ID,
    type,
    created_at: JOB_EXAMPLE.completed_at,
    ...(isOfJob && { metadata: JOB_EXAMPLE.metadata }),
    data: isOfJob ? { job: exampleStatus === 'failed' ? FAILED_JOB : JOB_EXAMPLE } : { webhook: WEBHOOK_EXAMPLE },
  };
  const schema = Type.Object(
    {
      id: idSchema('evt', EVENT_ID),
      type: Type.Literal(type),
      created_at: timeSchema,
      ...(isOfJob && {
        metadata: Type.Optional(Type.Unknown({ description: 'As the request carried it; absent without it.' })),
      }),
      data: Type.Object({ [subject]: SUBJECTS[subject] }),
    },
    component(schemaName, example, when),
  );
  return { type, when, schema, example };
});
