import { component, idSchema, nullable, oneOf, Type, timeSchema } from '../http/schema.ts';
import { jobInListSchema } from '../jobs/schemas.ts';
import { EMITTED_TYPES } from '../webhooks/events/event-types.ts';
import { deliverySchema } from '../webhooks/events/routes.ts';

const EVENT_ID = 'evt_01kamz2f3q8r5t7v9wxyzabcde';

const eventFrame = {
  id: idSchema('evt', EVENT_ID),
  type: oneOf(EMITTED_TYPES),
  created_at: timeSchema,
  sha256: Type.String({ description: 'Of the body, in hex.' }),
  body: Type.String({ description: 'The body as it is sent to webhooks: JSON text.' }),
};

/** The data of each event that `GET /v1/stream` sends, by the event's name. */
export const accountStreamSchema = Type.Object(
  {
    hello: Type.Object({
      account: idSchema('acct', 'acct_01kamz2f3q8r5t7v9wxyzabcde'),
      version: Type.String({ description: 'Of the service.', examples: ['0.2.0'] }),
      now: timeSchema,
      oldest_id: nullable(idSchema('evt', EVENT_ID), 'The oldest event that is kept.'),
    }),
    event: Type.Object(eventFrame),
    resend: Type.Object(
      {
        ...eventFrame,
        webhook_id: idSchema('wh[ja]?', 'wh_01kamz2f3q8r5t7v9wxyzabcde'),
        delivery_id: idSchema('dlv', 'dlv_01kamz2f3q8r5t7v9wxyzabcde', { description: 'Of that attempt.' }),
      },
      { description: 'An event that was redelivered or recovered, at its first attempt.' },
    ),
    job: jobInListSchema,
    delivery: deliverySchema,
    gap: Type.Object(
      { from: Type.String(), oldest_id: nullable(idSchema('evt', EVENT_ID)) },
      { description: 'What was asked for is no longer kept; the stream goes on with what is.' },
    ),
    bye: Type.Object({ reason: oneOf(['stopping', 'key_ended']) }),
  },
  component('AccountStreamEvents', undefined, 'The data of each server-sent event, by the name of the event.'),
);
