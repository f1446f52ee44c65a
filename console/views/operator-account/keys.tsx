import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Key, NewKey } from '#sdk/api.ts';
import { operator } from '../../api/client.ts';
import { useLiveList } from '../../api/list.ts';
import { RequestForm, textOf } from '../../forms/request-form.tsx';
import { ScopeFields, scopesOf } from '../../operator/scope-fields.tsx';
import { keyColumns } from '../../parts/key-columns.tsx';
import { ListRows } from '../../parts/list-rows.tsx';
import { Secret } from '../../ui/copy.tsx';
import { TextField } from '../../ui/field.tsx';
import { Section } from '../../ui/page.tsx';
import { Empty } from '../../ui/state.tsx';
import { say } from '../../ui/toast.tsx';

/** The keys of an account: list, create, revoke. */
export function Keys({ accountId }: { accountId: string }) {
  const queryClient = useQueryClient();
  const [made, setMade] = useState<NewKey | null>(null);
  const key = ['operator', 'keys', accountId];
  const list = useLiveList<Key>({
    key,
    read: (cursor) => operator.accounts.keys(accountId, { limit: 50, ...(cursor && { cursor }) }),
  });
  const reload = () => queryClient.invalidateQueries({ queryKey: key });
  const create = async (given: FormData) => {
    const [name, expiry] = [textOf(given, 'name'), textOf(given, 'expires_at')];
    const scopes = scopesOf(given);
    const fields = { ...(name && { name }), ...(expiry && { expires_at: new Date(expiry).toISOString() }) };
    setMade(await operator.accounts.createKey(accountId, { ...fields, ...(scopes.length > 0 && { scopes }) }));
    await reload();
  };
  const revoke = async ({ id, prefix }: Key) => {
    await operator.deleteKey(id);
    say(`The key ${prefix}… is revoked.`);
    await reload();
  };
  return (
    <>
      {made && <Secret title="The new key" value={made.key} hint="Copy it now: it is not shown again." />}
      <ListRows list={list} label="Keys" columns={keyColumns(revoke)} empty={<Empty title="No keys yet" />} />
      <NewKeyForm create={create} />
    </>
  );
}

function NewKeyForm({ create }: { create: (given: FormData) => Promise<void> }) {
  return (
    <Section title="New key">
      <RequestForm label="New key" submitLabel="Create" send={create}>
        <div className="columns">
          <TextField label="Name" name="name" maxLength={200} />
          <TextField label="Expires" name="expires_at" type="datetime-local" hint="Empty: never." />
        </div>
        <ScopeFields hint="None chosen: all." />
      </RequestForm>
    </Section>
  );
}
