import type { ReactNode } from 'react';
import { typed } from '../../text/command.ts';
import { Badge } from '../../ui/badge.tsx';
import { Code } from '../../ui/copy.tsx';
import { Page, Section } from '../../ui/page.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { useArrivals } from './arrivals.ts';
import { RECEIVERS, WAYS } from './code.ts';

/** Five ways to use the service, with its address filled in; each says when its job or delivery has arrived. */
export default function Start() {
  const arrived = useArrivals();
  const origin = location.origin;
  return (
    <Page title="Start">
      <p>
        The examples read the key from the variable <code>VERBATIM_API_KEY</code>. Make one in <a href="#/keys">Keys</a>
        . Each example says when it has arrived; leave this page open.
      </p>
      {WAYS.map(({ name, title, code }) => (
        <Section key={name} title={title} actions={<Arrival jobId={arrived.jobs[name]} />}>
          <Code text={code(origin)} label={title} />
        </Section>
      ))}
      <Section title="Receive webhooks" actions={<Arrival delivered={arrived.delivery} />}>
        <p>
          Register the address of your receiver in <a href="#/webhooks">Webhooks</a>, keep its secret as{' '}
          <code>VERBATIM_SECRET</code>, and answer 2xx. On your own machine, <code>{typed('listen')}</code> forwards
          events without a public address.
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
    link = <a href={`#/jobs/${jobId}`}>its job</a>;
  }
  if (delivered) {
    link = <a href={`#/webhooks/${delivered.webhookId}/deliveries/${delivered.id}`}>the delivery</a>;
  }
  return (
    <span role="status">
      {link ? <Badge tone="good">it arrived</Badge> : <Badge>waiting</Badge>} {link}
    </span>
  );
}
