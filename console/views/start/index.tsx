import type { ReactNode } from 'react';
import { useMay } from '../../api/queries.ts';
import { WAYS } from '../../parts/examples.ts';
import { typed } from '../../text/command.ts';
import { Badge } from '../../ui/badge.tsx';
import { Code } from '../../ui/copy.tsx';
import { Page, Section } from '../../ui/page.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { useArrivals } from './arrivals.ts';
import { RECEIVERS } from './receivers.ts';

/** Ways to use the service, with its address filled in; each says when its job or delivery has arrived. */
export default function Start() {
  const arrived = useArrivals();
  const origin = location.origin;
  return (
    <Page title="Start">
      <p>
        Set <code>VERBATIM_API_KEY</code> to a key{' '}
        {useMay('keys:write') ? (
          <>
            from <a href="#/keys">Keys</a>
          </>
        ) : (
          'that an owner of the account made'
        )}
        , and run an example: this page shows when its job arrives. <a href="/docs/clients">Clients</a> says how to
        install them.
      </p>
      {WAYS.map(({ name, title, code }) => (
        <Section key={name} title={title} actions={name !== 'openai' && <Arrival jobId={arrived.jobs[name]} />}>
          <Code text={code(origin)} label={title} />
        </Section>
      ))}
      <Section title="Receive webhooks" actions={<Arrival delivered={arrived.delivery} />}>
        <p>
          Add the URL of your receiver in <a href="#/webhooks">Webhooks</a> and set <code>VERBATIM_WEBHOOK_SECRET</code>
          to its secret. Without a public address, <code>{typed('listen --forward-to localhost:3000')}</code> forwards
          the events to your machine.
        </p>
        <Tabs
          label="Receiver"
          tabs={RECEIVERS.map(({ name, label, code }) => ({
            name,
            label,
            content: <Code text={code} label={`Receiver: ${label}`} />,
          }))}
        />
      </Section>
    </Page>
  );
}

function Arrival({
  jobId,
  delivered,
}: {
  jobId?: string | undefined;
  delivered?: { webhookId: string; id: string } | undefined;
}) {
  let link: ReactNode = null;
  if (jobId) {
    link = <a href={`#/jobs/${jobId}`}>Open the job</a>;
  }
  if (delivered) {
    link = <a href={`#/webhooks/${delivered.webhookId}/deliveries/${delivered.id}`}>Open the delivery</a>;
  }
  return (
    <span role="status">
      {link ? <Badge tone="good">received</Badge> : <Badge>waiting</Badge>} {link}
    </span>
  );
}
