import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { TestSent, Webhook } from '#sdk/api.ts';
import { api } from '../../api/client.ts';
import { AttemptTable } from '../../deliveries/attempt-table.tsx';
import { RequestForm } from '../../forms/request-form.tsx';
import { Code } from '../../ui/copy.tsx';
import { SelectField } from '../../ui/field.tsx';
import { Section } from '../../ui/page.tsx';
import { Query } from '../../ui/state.tsx';

type EventType = Webhook['events'][number];

const FOREVER = Number.POSITIVE_INFINITY;
// Until the receiver has answered.
const POLL_MS = 700;

/** Sends an example of a type to the webhook, and shows what becomes of it. */
export function TestTab({ webhook }: { webhook: Webhook }) {
  const types = useQuery({
    queryKey: ['event-types'],
    queryFn: ({ signal }) => api.events.types({ signal }),
    staleTime: FOREVER,
  });
  const [type, setType] = useState<EventType>('webhook.test');
  const [sent, setSent] = useState<TestSent | null>(null);
  return (
    <Section title="Send an example">
      <Query of={types}>
        {(known) => {
          const chosen = known.find((one) => one.type === type) ?? known[0]!;
          return (
            <RequestForm
              label="Send an example"
              submitLabel="Send"
              isDisabled={!webhook.active}
              send={async () => setSent(await api.webhooks.test(webhook.id, { type: chosen.type }))}
            >
              <SelectField
                label="Event type"
                name="type"
                options={known.map((one) => [one.type, one.type] as const)}
                value={chosen.type}
                onChange={(event) => setType(event.target.value as EventType)}
                hint={chosen.description}
              />
              <details>
                <summary>Payload</summary>
                <Code label="Payload" text={JSON.stringify(chosen.example, null, 2)} />
              </details>
              {!webhook.active && <p className="hint">Enable the webhook first.</p>}
            </RequestForm>
          );
        }}
      </Query>
      {sent && <Outcome webhook={webhook} sent={sent} />}
    </Section>
  );
}

function Outcome({ webhook, sent }: { webhook: Webhook; sent: TestSent }) {
  const deliveries = useQuery({
    queryKey: ['deliveries', webhook.id, 'test', sent.event_id],
    queryFn: async ({ signal }) => await api.webhooks.deliveries(webhook.id, { event_id: sent.event_id }, { signal }),
    refetchInterval: ({ state }) => (state.data?.data.some(({ status }) => status !== 'pending') ? false : POLL_MS),
  });
  return (
    <div role="status">
      <p>
        The event <a href={`#/events/${sent.event_id}`}>{sent.event_id}</a> was sent:
      </p>
      <Query of={deliveries}>{({ data }) => <AttemptTable label="Attempts of the example" rows={data} />}</Query>
    </div>
  );
}
