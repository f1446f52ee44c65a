import { useState } from 'react';
import type { Webhook } from '#sdk/api.ts';
import { api } from '../../api/client.ts';
import { useAccount } from '../../api/queries.ts';
import { useMayWrite } from '../../deliveries/use-may-write.ts';
import { ConfirmButton } from '../../ui/action-button.tsx';
import { Secret } from '../../ui/copy.tsx';
import { SelectField } from '../../ui/field.tsx';
import { Section } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';

const OVERLAPS = [
  ['86400', 'Also signs for 1 day'],
  ['3600', 'Also signs for 1 hour'],
  ['0', 'Stops signing at once, because it leaked'],
] as const;

/** Which secret signs what, until when, and a new secret. */
export function SecretTab({ webhook, keep }: { webhook: Webhook; keep: (changed: Webhook) => void }) {
  const [made, setMade] = useState<string | null>(null);
  const [overlap, setOverlap] = useState<string>('86400');
  const { data: account } = useAccount();
  const mayWrite = useMayWrite();
  const prefix = account?.webhook_header_prefix ?? 'X-Service-';
  const rotate = async () => {
    const overlap_seconds = Number(overlap);
    const { secret, ...changed } = await api.webhooks.rotateSecret(webhook.id, { overlap_seconds });
    setMade(secret);
    keep(changed);
  };
  return (
    <Section title="Secret">
      <SigningTable endsAt={webhook.previous_secret_ends_at} prefix={prefix} />
      {made && (
        <Secret
          title="The new secret"
          value={made}
          hint="Copy it now to your server: it is not shown again. It signs deliveries from now on."
        />
      )}
      {mayWrite && (
        <>
          <SelectField
            label="Old secret"
            name="overlap"
            options={OVERLAPS}
            value={overlap}
            onChange={(event) => setOverlap(event.target.value)}
            hint="While both secrets sign, the receiver can have either of them."
          />
          <ConfirmButton
            title="Create a new secret?"
            confirm="Create a new secret"
            text={
              overlap === '0'
                ? 'Your server refuses deliveries until it has the new secret.'
                : 'Copy the new secret to your server before the old one stops signing.'
            }
            act={rotate}
          >
            New secret
          </ConfirmButton>
        </>
      )}
    </Section>
  );
}

function SigningTable({ endsAt, prefix }: { endsAt: string | null; prefix: string }) {
  const isOverlap = endsAt !== null && Date.parse(endsAt) > Date.now();
  const until = isOverlap ? <Time at={endsAt} exact /> : null;
  const rows = [
    { header: `${prefix}Signature`, by: 'the secret', until: 'no end' },
    ...(isOverlap ? [{ header: `${prefix}Signature-Previous`, by: 'the old secret', until }] : []),
    {
      header: 'webhook-signature',
      by: isOverlap ? 'both secrets' : 'the secret',
      until: until ?? 'no end',
    },
  ];
  return (
    <table>
      <caption className="hidden">What is signed by which secret</caption>
      <thead>
        <tr>
          <th scope="col">Header</th>
          <th scope="col">Signed by</th>
          <th scope="col">Until</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.header}>
            <td data-head="Header">
              <code>{row.header}</code>
            </td>
            <td data-head="Signed by">{row.by}</td>
            <td data-head="Until">{row.until}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
