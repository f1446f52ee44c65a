import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Key, NewKey } from '#sdk/wire.ts';
import { api } from '../../api/client.ts';
import { useLiveList } from '../../api/list.ts';
import { ListRows } from '../../parts/list-rows.tsx';
import { ConfirmButton } from '../../ui/action-button.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { AsCode, Secret } from '../../ui/copy.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Page } from '../../ui/page.tsx';
import { Empty } from '../../ui/state.tsx';
import { Time } from '../../ui/time.tsx';
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
          hint="Keep it now: it is not shown again."
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
        columns={[
          { head: 'Name', cell: ({ name }) => name ?? '–' },
          { head: 'Key', cell: ({ prefix }) => <code>{prefix}…</code> },
          { head: 'Scopes', cell: ({ scopes }) => (scopes.length === 0 ? 'all' : scopes.join(', ')) },
          { head: 'Created', cell: (key) => <Time at={key.created_at} /> },
          { head: 'Last used', cell: (key) => <Time at={key.last_used_at} /> },
          { head: 'Expires', cell: (key) => <Expiry at={key.expires_at} /> },
          {
            head: 'Action',
            cell: (key) => (
              <ConfirmButton
                title={`Revoke the key ${key.name ? `“${key.name}”` : `${key.prefix}…`}?`}
                text="Requests with it are refused at once, and its open streams end."
                confirm="Revoke"
                act={() => revoke(key)}
                aria-label={`Revoke ${key.name ?? key.prefix}`}
              >
                Revoke
              </ConfirmButton>
            ),
          },
        ]}
        empty={<Empty title="No keys." command="verbatim keys create --name ci" />}
      />
    </Page>
  );
}

function Expiry({ at }: { at: string | null }) {
  if (at === null) return 'never';
  return Date.parse(at) <= Date.now() ? <Badge tone="bad">expired</Badge> : <Time at={at} />;
}
