import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Me, NewInvitation } from '#sdk/wire.ts';
import { useMe } from '../../api/queries.ts';
import { Button } from '../../ui/button.tsx';
import { Secret } from '../../ui/copy.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Page, Section } from '../../ui/page.tsx';
import { Query } from '../../ui/state.tsx';
import { InvitationList } from './invitation-list.tsx';
import { InviteForm } from './invite-form.tsx';
import { Own } from './own.tsx';
import { UserList } from './user-list.tsx';

/** Who is in the account, whom it awaits, and oneself. */
export default function People() {
  return <Query of={useMe()}>{(own) => <Team own={own} />}</Query>;
}

function Team({ own }: { own: Me }) {
  const client = useQueryClient();
  const [isOpen, setOpen] = useState(false);
  const [made, setMade] = useState<NewInvitation | null>(null);
  const isOwner = own.role === 'owner';
  const onMade = async (invitation: NewInvitation) => {
    setMade(invitation);
    setOpen(false);
    await client.invalidateQueries({ queryKey: ['invitations'] });
  };
  return (
    <Page
      title="People"
      actions={
        isOwner && (
          <Button look="primary" onClick={() => setOpen(true)}>
            Invite
          </Button>
        )
      }
    >
      {made && (
        <Secret
          title={`The link for ${made.email ?? `a new ${made.role}`}`}
          value={new URL(made.url, location.origin).href}
          hint="Send it to the person now: it is not shown again. It works once, within 7 days."
        />
      )}
      <Dialog isOpen={isOpen} title="Invite" onClose={() => setOpen(false)}>
        <InviteForm onMade={onMade} />
      </Dialog>
      <UserList own={own} />
      {isOwner && (
        <Section title="Open invitations">
          <InvitationList />
        </Section>
      )}
      <Section title="You">
        <Own own={own} />
      </Section>
    </Page>
  );
}
