import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Webhook } from '#sdk/wire.ts';
import { api } from '../../api/client.ts';
import { Time } from '../../ui/time.tsx';

/** Webhooks that are disabled by failures or fail now, each with the reason of its last failed attempt. */
export function FailingWebhooks() {
  const { data } = useQuery({
    queryKey: ['webhooks', 'failing'],
    queryFn: async ({ signal }) => {
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
    },
  });
  return data?.map(({ webhook, error }) => (
    <div key={webhook.id} className="notice problem">
      <p>
        <Link to="/webhooks/$webhookId" params={{ webhookId: webhook.id }}>
          {webhook.url}
        </Link>{' '}
        <State webhook={webhook} />
      </p>
      {error && (
        <p className="details">
          <code>{error.reason}</code> {error.message}
        </p>
      )}
    </div>
  ));
}

function State({ webhook }: { webhook: Webhook }) {
  if (webhook.active)
    return (
      <>
        failed {webhook.consecutive_failures === 1 ? 'once' : `${webhook.consecutive_failures} times in a row`}, since{' '}
        <Time at={webhook.failing_since} />.
      </>
    );
  return (
    <>
      was disabled after too many failures, <Time at={webhook.disabled_at} />.
    </>
  );
}
