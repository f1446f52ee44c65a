import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { Delivery, EventWithDeliveries } from '#sdk/api.ts';
import { api } from '../../api/client.ts';
import { webhooksQuery } from '../../api/queries.ts';
import { useViewParams } from '../../app/filters.tsx';
import { groupByWebhook } from '../../deliveries/timeline/groups.ts';
import { WebhookRows } from '../../deliveries/timeline/webhook-rows.tsx';
import { useMayWrite } from '../../deliveries/use-may-write.ts';
import { RequestForm } from '../../forms/request-form.tsx';
import { FoldedJson } from '../../parts/folded-json.tsx';
import { memberText, prettyJson } from '../../text/json-text.ts';
import { Id } from '../../ui/copy.tsx';
import { SelectField } from '../../ui/field.tsx';
import { Facts, Page, Section } from '../../ui/page.tsx';
import { Empty, Query } from '../../ui/state.tsx';
import { Time } from '../../ui/time.tsx';
import { say } from '../../ui/toast.tsx';

const CRUMBS = [{ href: '/events', label: 'Events' }];
const POLL_MS = 2_000;

/** The event, and its payload as text: numbers keep their digits. */
type ReadEvent = { event: EventWithDeliveries; payload: string };

/** One event: its payload, who got it, and sending it to a webhook. */
export default function EventView() {
  const { eventId = '' } = useViewParams();
  const mayWrite = useMayWrite();
  const read = useQuery({
    queryKey: ['event-with-text', eventId],
    queryFn: async ({ signal }): Promise<ReadEvent> => {
      const { text } = await api.request('GET', `/v1/events/${encodeURIComponent(eventId)}`, { signal });
      return { event: JSON.parse(text), payload: prettyJson(memberText(text, 'payload') ?? '') };
    },
    refetchInterval: ({ state }) => (state.data?.event.deliveries.some(isWaiting) ? POLL_MS : false),
  });
  return (
    <Page title={read.data?.event.type ?? 'Event'} crumbs={CRUMBS}>
      <Query of={read}>
        {({ event, payload }) => (
          <>
            <Section>
              <div className="id-facts">
                <Facts
                  rows={[
                    ['Event', <Id key="id" value={event.id} />],
                    ['Job', event.job_id && <JobLink event={event} id={event.job_id} />],
                    ['Time', <Time key="time" at={event.created_at} exact />],
                  ]}
                />
              </div>
            </Section>
            <Section title="Deliveries">
              {event.deliveries.length === 0 ? (
                <Empty title="Not sent to a webhook">
                  <p>No active webhook subscribed to this type at the time of the event.</p>
                </Empty>
              ) : (
                <WebhookRows label="Deliveries of the event" webhooks={groupByWebhook(event.deliveries)} />
              )}
              {/* Tests and alerts go to their own webhook only. */}
              {mayWrite && event.job_id !== null && <Resend event={event} />}
            </Section>
            <Section title="Payload">
              <FoldedJson label="Payload" text={payload} />
            </Section>
          </>
        )}
      </Query>
    </Page>
  );
}

/** By the name that the payload has. */
function JobLink({ event: { payload }, id }: { event: EventWithDeliveries; id: string }) {
  const { job } = (payload as { data?: { job?: { audio?: { filename?: string | null } } } }).data ?? {};
  return (
    <a href={`#/jobs/${id}`} title={id} className="url" dir="auto">
      {job?.audio?.filename ?? id}
    </a>
  );
}

function isWaiting({ status }: Delivery): boolean {
  return status === 'pending';
}

/** Listeners of the account's stream get what is sent again, too. */
function Resend({ event }: { event: EventWithDeliveries }) {
  const queryClient = useQueryClient();
  const webhooks = useQuery(webhooksQuery);
  const active = webhooks.data?.data.filter((webhook) => webhook.active) ?? [];
  if (active.length === 0) return <p className="hint">No active webhook can receive it.</p>;
  const send = async (given: FormData) => {
    await api.events.resend(event.id, String(given.get('webhook')));
    say('The event is sent.');
    await queryClient.invalidateQueries({ queryKey: ['event-with-text', event.id] });
  };
  return (
    <RequestForm label="Send again" submitLabel="Send" look="plain" send={send}>
      <SelectField
        label="Send again to"
        name="webhook"
        options={active.map(({ id, url }) => [id, url] as const)}
        hint="Starts again at attempt 1, also for a webhook that does not subscribe to this type. Listeners receive it too."
      />
    </RequestForm>
  );
}
