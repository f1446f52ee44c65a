import { useQueryClient } from '@tanstack/react-query';
import type { Invitation } from '#sdk/wire.ts';
import { useLiveList } from '../../api/list.ts';
import { people } from '../../api/people.ts';
import { ListRows } from '../../parts/list-rows.tsx';
import { ActionButton } from '../../ui/action-button.tsx';
import { Empty } from '../../ui/state.tsx';
import type { Column } from '../../ui/table/table.tsx';
import { Time } from '../../ui/time.tsx';

/** Invitations that nobody has accepted yet. */
export function InvitationList() {
  const client = useQueryClient();
  const list = useLiveList<Invitation>({ key: ['invitations'], read: people.invitations });
  const withdraw = async ({ id }: Invitation) => {
    await people.withdraw(id);
    await client.invalidateQueries({ queryKey: ['invitations'] });
  };
  const columns: Column<Invitation>[] = [
    { head: 'For', cell: ({ email }) => email ?? 'anyone with the link' },
    { head: 'Role', width: 6, phone: 'side', cell: ({ role }) => role },
    { head: 'Made', width: 7.5, phone: 'hidden', cell: (invitation) => <Time at={invitation.created_at} /> },
    { head: 'Ends', width: 7.5, cell: (invitation) => <Time at={invitation.expires_at} /> },
    {
      head: 'Action',
      width: 6.5,
      cell: (invitation) => (
        <ActionButton
          isPlain
          look="quiet"
          act={() => withdraw(invitation)}
          aria-label={`Withdraw the invitation ${invitation.email ? `for ${invitation.email}` : `of a ${invitation.role}`}`}
        >
          Withdraw
        </ActionButton>
      ),
    },
  ];
  return (
    <ListRows list={list} label="Open invitations" columns={columns} empty={<Empty title="No open invitations." />} />
  );
}
