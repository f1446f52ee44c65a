import { useQuery } from '@tanstack/react-query';
import { api } from '../../api/client.ts';
import { Section } from '../../ui/page.tsx';

/** What a new account does first, with ticks; nothing once all is done. */
export function FirstSteps({ hasWebhooks }: { hasWebhooks: boolean }) {
  const { data } = useQuery({
    queryKey: ['first-steps'],
    queryFn: async ({ signal }) => {
      const none = { data: [] };
      const [jobs, webhooks, accepted] = await Promise.all([
        api.jobs.list({ status: 'completed', limit: 1 }, { signal }),
        hasWebhooks ? api.webhooks.list({ limit: 1 }, { signal }) : none,
        hasWebhooks ? api.deliveries.list({ status: 'succeeded', limit: 1 }, { signal }) : none,
      ]);
      return [jobs, webhooks, accepted].map((list) => list.data.length > 0) as [boolean, boolean, boolean];
    },
  });
  if (!data) return null;
  const [hasJob, hasWebhook, hasDelivery] = data;
  const steps = [
    { isDone: true, text: 'Sign in' },
    { isDone: hasJob, text: <a href="#/transcribe">Transcribe a file</a> },
    ...(hasWebhooks
      ? [
          { isDone: hasWebhook, text: <a href="#/webhooks">Add a webhook</a> },
          { isDone: hasDelivery, text: <a href="#/start">Receive a delivery and verify its signature</a> },
        ]
      : []),
  ];
  if (steps.every(({ isDone }) => isDone)) return null;
  return (
    <Section title="First steps">
      <ol className="steps">
        {steps.map(({ isDone, text }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the steps are always the same
          <li key={index} className={isDone ? 'done' : undefined}>
            <span role="img" aria-label={isDone ? 'done' : 'to do'}>
              {isDone ? '✓' : '○'}
            </span>{' '}
            {text}
          </li>
        ))}
      </ol>
    </Section>
  );
}
