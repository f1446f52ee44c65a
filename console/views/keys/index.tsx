import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Key, NewKey } from '#sdk/wire.ts';
import { api } from '../../api/client.ts';
import { useLiveList } from '../../api/list.ts';
import { keyColumns } from '../../parts/key-columns.tsx';
import { ListRows } from '../../parts/list-rows.tsx';
import { Button } from '../../ui/button.tsx';
import { AsCode } from '../../ui/code/as-code.tsx';
import { Secret } from '../../ui/copy.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Page } from '../../ui/page.tsx';
import { Empty } from '../../ui/state.tsx';
import { say } from '../../ui/toast.tsx';
import { NewKeyForm } from './new-key-form.tsx';

/** The keys of the account: list, create, revoke. */
export default function Keys() {
  const client = useQueryClient();
  const [isOpen, setOpen] = useState(false);
  const [made, setMade] = useState<NewKey | null>(null);
  const list = useLiveList<Key>({ key: ['keys'], read: (cursor) => api.keys.list(cursor === null ? {} : { cursor }) });
  const reload = () => client.invalidateQueries({ queryKey: ['keys'] });
  const revoke = async (key: Key) => {
    await api.keys.delete(key.id);
    say(`The key ${key.prefix}… is revoked.`);
    await reload();
  };
  return (
    <Page
      title="Keys"
      actions={
        <>
          <AsCode request={{ method: 'GET', path: '/v1/keys', sdk: 'client.keys.list' }} />
          <Button look="primary" onClick={() => setOpen(true)}>
            New key
          </Button>
        </>
      }
    >
      {made && (
        <Secret
          title={`The new key${made.name ? ` “${made.name}”` : ''}`}
          value={made.key}
          hint="Copy it now: it is not shown again."
        />
      )}
      <Dialog isOpen={isOpen} title="New key" onClose={() => setOpen(false)}>
        <NewKeyForm
          onMade={async (key) => {
            setMade(key);
            setOpen(false);
            await reload();
          }}
        />
      </Dialog>
      <ListRows
        list={list}
        label="Keys"
        columns={keyColumns(revoke)}
        empty={<Empty title="No keys yet. Create one for each program." />}
      />
    </Page>
  );
}
