import type {
  AccountStreamEvents,
  AnyEvent,
  Event,
  EventTypeList,
  EventWithDeliveries,
  GetEventsQuery,
  PostEventsIdResendBody,
  Redelivered,
} from '../api.ts';
import { type FollowOptions, followAccount } from './follow-account.ts';
import type { Pages } from './http/pages.ts';
import { parseData } from './http/read-answer.ts';
import type { RequestOptions } from './http/settings.ts';
import { route, type Transport } from './http/transport.ts';

/** An event as the stream brings it. `body` has the bytes that webhooks are sent, `event` is their content. */
export type StreamedEvent = AccountStreamEvents['event'] & {
  event: AnyEvent;
  /** Where to go on, as `after`, once this event is handled. */
  resumeId: string | null;
  /** Of an event that was redelivered or recovered: to which webhook, by which delivery. */
  resentTo: { webhook_id: string; delivery_id: string } | null;
};

/** What was emitted. */
export class Events {
  readonly #http: Transport;

  constructor(http: Transport) {
    this.#http = http;
  }

  list(filter?: GetEventsQuery, options?: RequestOptions): Pages<Event> {
    return this.#http.pages('/v1/events', filter, options);
  }

  async get(id: string, options?: RequestOptions): Promise<EventWithDeliveries> {
    return await this.#http.json('GET', route`/v1/events/${id}`, options);
  }

  /** Sends the event to a webhook, also to one that it was never sent to. */
  async resend(id: string, webhookId: string, options?: RequestOptions): Promise<Redelivered> {
    const body: PostEventsIdResendBody = { webhook_id: webhookId };
    return await this.#http.json('POST', route`/v1/events/${id}/resend`, { ...options, body });
  }

  /** Every type of event, with its schema and an example. */
  async types(options?: RequestOptions): Promise<EventTypeList['data']> {
    return (await this.#http.json<EventTypeList>('GET', '/v1/event-types', options)).data;
  }

  /**
   * Events as they are emitted, for programs that cannot receive webhooks. Each at least once, also over cuts; one that
   * comes again is dropped when it is one of the last 10,000.
   * To go on after a restart, store `resumeId` and pass it as `after`.
   */
  async *follow(options: FollowOptions = {}): AsyncGenerator<StreamedEvent> {
    for await (const { type, data, resumeId } of followAccount(this.#http, { ...options, topics: ['events'] })) {
      if (type !== 'event' && type !== 'resend') continue;
      const { id, created_at, sha256, body } = data;
      const event = parseData(body) as AnyEvent;
      const resentTo = type === 'resend' ? { webhook_id: data.webhook_id, delivery_id: data.delivery_id } : null;
      yield { id, type: data.type, created_at, sha256, body, event, resumeId, resentTo };
    }
  }
}
