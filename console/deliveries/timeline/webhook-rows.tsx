import type { Delivery } from '#sdk/api.ts';
import { Badge } from '../../ui/badge.tsx';
import { attemptHref } from '../attempt-table.tsx';
import type { WebhookAttempts } from './groups.ts';
import { RetryTimeline } from './retry-timeline.tsx';

/** The webhooks that an event was sent to, each with how it stands and the timeline of its attempts. */
export function WebhookRows({ label, webhooks }: { label: string; webhooks: readonly WebhookAttempts[] }) {
  return (
    <ul className="sent-to" aria-label={label}>
      {webhooks.map(({ webhookId, url, attempts }) => {
        const latest = attempts.at(-1)!;
        return (
          <li key={webhookId} data-row={webhookId}>
            <div className="target">
              <a className="url" href={attemptHref(latest)}>
                {url ?? webhookId}
              </a>
              <Badge tone={toneOf(latest)}>{standingOf(attempts)}</Badge>
            </div>
            <RetryTimeline attempts={attempts} />
          </li>
        );
      })}
    </ul>
  );
}

/** How the delivery stands, in a word or two. */
function standingOf(attempts: readonly Delivery[]): string {
  const { status } = attempts.at(-1)!;
  if (status === 'succeeded') return 'delivered';
  if (status === 'pending') return attempts.length > 1 ? 'retrying' : 'pending';
  return status === 'failed' ? 'failed' : 'dropped';
}

function toneOf({ status }: Delivery) {
  return status === 'succeeded' ? 'good' : status === 'pending' ? 'wait' : 'bad';
}
