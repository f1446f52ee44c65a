import { useState } from 'react';
import type { PortalLink } from '#sdk/api.ts';
import { operator } from '../../api/client.ts';
import { RequestForm, WrongField } from '../../forms/request-form.tsx';
import { ScopeFields, scopesOf } from '../../operator/scope-fields.tsx';
import { Secret } from '../../ui/copy.tsx';
import { SelectField } from '../../ui/field.tsx';
import { Section } from '../../ui/page.tsx';

const LIFETIMES = [
  ['3600', '1 hour'],
  ['86400', '1 day'],
  ['604800', '7 days'],
] as const;

/** A link that opens the console for the account, with some scopes, for some time. */
export function PortalLinks({ accountId }: { accountId: string }) {
  const [made, setMade] = useState<PortalLink | null>(null);
  const create = async (given: FormData) => {
    const scopes = scopesOf(given);
    if (scopes.length === 0) throw new WrongField('Choose at least one scope.');
    setMade(await operator.accounts.portalLink(accountId, { scopes, expires_in: Number(given.get('expires_in')) }));
  };
  return (
    <Section title="Portal link">
      <p>Anyone who opens the link is signed in with a key of its own. Revoke that key to end the access.</p>
      {made && (
        <Secret
          title="The link"
          value={new URL(made.url, location.href).href}
          hint="Copy it now: it is not shown again. Browsers do not send the key in it to any server."
        />
      )}
      <RequestForm label="New portal link" submitLabel="Create" send={create}>
        <SelectField label="Valid for" name="expires_in" options={LIFETIMES} defaultValue="86400" />
        <ScopeFields hint="What the link allows. Choose at least one." />
      </RequestForm>
    </Section>
  );
}
