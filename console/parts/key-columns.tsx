import type { Key } from '#sdk/wire.ts';
import { ConfirmButton } from '../ui/action-button.tsx';
import { Badge } from '../ui/badge.tsx';
import type { Column } from '../ui/table/table.tsx';
import { Time } from '../ui/time.tsx';

/** The columns of a list of API keys, the last one with a button that revokes the key after a question. */
export function keyColumns(revoke: (key: Key) => Promise<void>): Column<Key>[] {
  return [
    { head: 'Name', isLong: true, cell: ({ name }) => name ?? '–' },
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
  ];
}

function Expiry({ at }: { at: string | null }) {
  if (at === null) return 'never';
  return Date.parse(at) <= Date.now() ? <Badge tone="bad">expired</Badge> : <Time at={at} />;
}
