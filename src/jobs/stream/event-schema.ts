import { component, idSchema, oneOf, Type } from '../../http/schema.ts';
import { JOB_STATES, WAITING_FOR } from '../../rules/jobs/job-state.ts';
import { JOB_ID, jobTail, timed, waiting, wordSchema } from '../schemas.ts';

/** The data of each event that `GET /v1/jobs/:id/events` sends, by the event's name. */
export const jobStreamSchema = Type.Object(
  {
    status: Type.Object({
      id: idSchema('job', JOB_ID),
      status: oneOf(JOB_STATES),
      waiting_for: Type.Optional(oneOf(WAITING_FOR, { description: 'As of the job; absent where it is null.' })),
      waiting_since: waiting.waiting_since,
      queue_position: Type.Optional(Type.Integer({ minimum: 1 })),
      error: jobTail.error,
    }),
    progress: Type.Object({ progress: jobTail.progress }),
    segment: Type.Object({
      index: Type.Integer({ minimum: 0, description: 'A number that came before replaces the earlier segment.' }),
      ...timed,
      words: Type.Optional(Type.Array(wordSchema)),
    }),
  },
  component('JobStreamEvents', undefined, 'The data of each server-sent event, by the name of the event.'),
);
