import type { Key } from '#sdk/wire.ts';
import { ConfirmButton } from '../ui/action-button.tsx';
import { Badge } from '../ui/badge.tsx';
import type { Column } from '../ui/table/table.tsx';
import { Time } from '../ui/time.tsx';

/** The columns of a list of API keys, the last one with a button that revokes the key after a question. */
export function keyColumns(revoke: (key: Key) => Promise<void>): Column<Key>[] {
  return [
    { head: 'Name', cell: ({ name }) => name ?? '–' },
    { head: 'Key', width: 7.5, phone: 'side', cell: ({ prefix }) => <code>{prefix}…</code> },
    { head: 'Scopes', cell: ({ scopes }) => (scopes.length === 0 ? 'all' : scopes.join(', ')) },
    { head: 'Made by', width: 7.5, phone: 'hidden', cell: ({ created_by }) => created_by?.name ?? '–' },
    { head: 'Created', width: 7, phone: 'hidden', cell: (key) => <Time at={key.created_at} /> },
    { head: 'Last used', width: 7, cell: (key) => <Time at={key.last_used_at} /> },
    { head: 'Expires', width: 6, cell: (key) => <Expiry at={key.expires_at} /> },
    {
      head: 'Action',
      width: 6.5,
      cell: (key) => (
        <ConfirmButton
          look="quiet"
          className="danger"
          title={`Revoke the key ${key.name ? `“${key.name}”` : `${key.prefix}…`}?`}
          text="Requests with this key fail at once, and its open streams end."
          confirm="Revoke"
          act={() => revoke(key)}
          aria-label={`Revoke ${key.name ?? key.prefix}`}
        >
          Revoke
        </ConfirmButton>
      ),
    },
  ];
}

function Expiry({ at }: { at: string | null }) {
  if (at === null) return 'never';
  return Date.parse(at) <= Date.now() ? <Badge tone="bad">expired</Badge> : <Time at={at} />;
}
