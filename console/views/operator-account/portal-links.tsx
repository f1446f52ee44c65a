import { useState } from 'react';
import type { PortalLink } from '#sdk/api.ts';
import { operator } from '../../api/client.ts';
import { RequestForm, WrongField } from '../../forms/request-form.tsx';
import { ScopeFields, scopesOf } from '../../operator/scope-fields.tsx';
import { Secret } from '../../ui/copy.tsx';
import { SelectField } from '../../ui/field.tsx';
import { Section } from '../../ui/page.tsx';

const LIFETIMES = [
  ['3600', 'an hour'],
  ['86400', 'a day'],
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
      <p>
        Whoever opens the link is signed in with a key of its own, which is among the keys and can be revoked there.
      </p>
      {made && (
        <Secret
          title="The link"
          value={new URL(made.url, location.href).href}
          hint="It is shown only here. The key in it is after the #, which browsers send to no server."
        />
      )}
      <RequestForm label="New portal link" submitLabel="Create" send={create}>
        <SelectField label="Valid for" name="expires_in" options={LIFETIMES} defaultValue="86400" />
        <ScopeFields hint="What the link allows." />
      </RequestForm>
    </Section>
  );
}
