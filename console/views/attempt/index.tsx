import { useQuery } from '@tanstack/react-query';
import type { DeliveryWithExchange } from '#sdk/api.ts';
import { deliveryQuery, useAccount, webhookQuery } from '../../api/queries.ts';
import { useViewParams } from '../../app/filters.tsx';
import { adviceFor } from '../../deliveries/failure-advice.ts';
import { sentAt } from '../../deliveries/sent-at.ts';
import { RetryTimeline } from '../../deliveries/timeline/retry-timeline.tsx';
import { milliseconds } from '../../text/format.ts';
import { Badge } from '../../ui/badge.tsx';
import { Id } from '../../ui/copy.tsx';
import { Facts, Page, Section } from '../../ui/page.tsx';
import { Query } from '../../ui/state.tsx';
import { Time } from '../../ui/time.tsx';
import { Actions } from './actions.tsx';
import { useAttempts } from './attempts.ts';
import { Changes } from './changes.tsx';
import { Exchange } from './exchange.tsx';
import { Phases } from './phases.tsx';

// The defaults of the service, until the account is read.
const DEADLINE_MS = 5_000;
const PREFIX = 'X-Service-';
const POLL_MS = 1_000;

/** One attempt: what was sent, what came back, how long each part took, and why it failed. */
export default function AttemptView() {
  const { webhookId = '', deliveryId = '' } = useViewParams();
  const attempt = useQuery({
    ...deliveryQuery(webhookId, deliveryId),
    refetchInterval: ({ state }) => (state.data?.status === 'pending' ? POLL_MS : false),
  });
  const crumbs = [
    { href: '/webhooks', label: 'Webhooks' },
    { href: `/webhooks/${webhookId}?tab=log`, label: 'Deliveries' },
  ];
  const { data } = attempt;
  return (
    <Page
      title={data ? `${data.event_type}, attempt ${data.attempt}` : 'Attempt'}
      crumbs={crumbs}
      actions={data && <AttemptActions attempt={data} />}
    >
      <Query of={attempt}>{(found) => <Attempt attempt={found} />}</Query>
    </Page>
  );
}

function AttemptActions({ attempt }: { attempt: DeliveryWithExchange }) {
  const { data: account } = useAccount();
  return <Actions attempt={attempt} headerPrefix={account?.webhook_header_prefix ?? PREFIX} />;
}

function Attempt({ attempt }: { attempt: DeliveryWithExchange }) {
  const { data: account } = useAccount();
  const attempts = useAttempts(attempt);
  const webhook = useQuery(webhookQuery(attempt.webhook_id));
  const headerPrefix = account?.webhook_header_prefix ?? PREFIX;
  return (
    <>
      <Advice attempt={attempt} />
      {attempts.length > 1 && (
        <nav aria-label="Attempts of the event">
          <Section title="Attempts">
            <RetryTimeline attempts={attempts} shownId={attempt.id} />
          </Section>
        </nav>
      )}
      <Section>
        <Facts
          rows={[
            ['Status', <Badge key="status">{attempt.status}</Badge>],
            ['Answer', attempt.response_status ?? '–'],
            ['Took', milliseconds(attempt.duration_ms)],
            [
              attempt.status === 'pending' ? 'Waits since' : 'Sent',
              <Time key="sent" at={sentAt(attempt) ?? attempt.created_at} exact />,
            ],
            ['Next attempt', attempt.next_attempt_at && <Time at={attempt.next_attempt_at} />],
            ['Address', attempt.remote_address],
          ]}
        />
        <div className="id-facts">
          <Facts
            rows={[
              ['URL', attempt.url && <span className="url">{attempt.url}</span>],
              [
                'Event',
                <a key="event" className="whole" href={`#/events/${attempt.event_id}`}>
                  {attempt.event_id}
                </a>,
              ],
              ['Delivery', <Id key="id" value={attempt.id} />],
            ]}
          />
        </div>
      </Section>
      <Phases attempt={attempt} deadlineMs={account?.deliveries.timeout_ms ?? DEADLINE_MS} />
      <Changes attempt={attempt} attempts={attempts} headerPrefix={headerPrefix} />
      <Exchange attempt={attempt} ownNames={webhook.data?.headers ?? []} headerPrefix={headerPrefix} />
    </>
  );
}

/** Why it failed, in the words of the service, and what to do. */
function Advice({ attempt }: { attempt: DeliveryWithExchange }) {
  const advice = adviceFor(attempt);
  if (!advice) return null;
  return (
    <section className="notice problem" aria-label="Why it failed">
      <h2>{advice.title}</h2>
      <p>
        {advice.why}{' '}
        {attempt.error && attempt.error.reason !== 'http_status' && (
          <span className="soft">{attempt.error.message}</span>
        )}{' '}
        {attempt.error && <code>{attempt.error.reason}</code>}
      </p>
      <ul>
        {advice.steps.map((step) => (
          <li key={step}>{step}</li>
        ))}
      </ul>
    </section>
  );
}
