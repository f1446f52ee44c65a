import { useQuery } from '@tanstack/react-query';
import type { Delivery, Webhook } from '#sdk/api.ts';
import { api } from '../../api/client.ts';
import { Badge } from '../../ui/badge.tsx';
import { Section } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';

type Failing = { webhook: Webhook; error: Delivery['error'] };

// Of more of them the list of webhooks tells.
const SHOWN = 4;

/** Webhooks that are disabled by failures or fail now, each with the reason of its last failed attempt. */
export function FailingWebhooks() {
  const { data } = useQuery({ queryKey: ['webhooks', 'failing'], queryFn: ({ signal }) => findFailing(signal) });
  if (!data || data.length === 0) return null;
  return (
    <Section
      title={data.length === 1 ? '1 webhook is failing' : `${data.length} webhooks are failing`}
      actions={
        <a href="#/webhooks" className="button quiet">
          All webhooks
        </a>
      }
    >
      <ul className="failing">
        {data.slice(0, SHOWN).map((each) => (
          <Row key={each.webhook.id} {...each} />
        ))}
      </ul>
    </Section>
  );
}

async function findFailing(signal: AbortSignal): Promise<Failing[]> {
  const { data: webhooks } = await api.webhooks.list({ limit: 100 }, { signal });
  const failing = webhooks.filter(({ active, disabled_reason, consecutive_failures }) =>
    active ? consecutive_failures > 0 : disabled_reason === 'consecutive_failures',
  );
  return await Promise.all(
    failing.map(async (webhook) => {
      const failed = await api.webhooks.deliveries(webhook.id, { status: 'failed', limit: 1 }, { signal });
      return { webhook, error: failed.data[0]?.error ?? null };
    }),
  );
}

function Row({ webhook: { id, url, active, consecutive_failures, failing_since, disabled_at }, error }: Failing) {
  return (
    <li>
      <a href={`#/webhooks/${id}`} title={url}>
        {url}
      </a>
      <span className="soft" title={error?.message}>
        {error && <code>{error.reason}</code>} {error?.message}
      </span>
      <Badge tone={active ? 'wait' : 'bad'}>{active ? `${consecutive_failures} failed` : 'disabled'}</Badge>
      <Time at={active ? failing_since : disabled_at} />
    </li>
  );
}
