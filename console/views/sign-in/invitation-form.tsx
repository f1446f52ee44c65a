import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import type { WaysToSignIn } from '#sdk/wire.ts';
import { signIn } from '../../api/people.ts';
import { useMe } from '../../api/queries.ts';
import { RequestForm } from '../../forms/request-form.tsx';
import { hasUser, session } from '../../session/session.ts';
import { useStore } from '../../session/store.ts';
import { ActionButton } from '../../ui/action-button.tsx';
import { Button } from '../../ui/button.tsx';
import { TextField } from '../../ui/field.tsx';
import { Section } from '../../ui/page.tsx';
import { Query } from '../../ui/state.tsx';
import { Centred } from './centred.tsx';
import { EmailField, enter, NameField, NewPasswordField, Ways } from './person-forms.tsx';

/** What a link to an account is for, and how it is accepted. */
export function InvitationForm({ token, ways }: { token: string; ways: WaysToSignIn }) {
  const invitation = useQuery({
    queryKey: ['invitation', token],
    queryFn: () => signIn.openInvitation(token),
    retry: false,
  });
  return (
    <Centred title="You are invited">
      <Query of={invitation}>
        {({ account_name: account, role, email }) => (
          <>
            <p>
              Join <strong>{account}</strong> as {role === 'owner' ? 'an owner' : `a ${role}`}.
            </p>
            <JoinOr token={token} email={email}>
              <Ways ways={ways} token={{ invitation: token }}>
                <Accept token={token} email={email} look={ways.oidc ? 'plain' : 'primary'} />
              </Ways>
            </JoinOr>
          </>
        )}
      </Query>
    </Centred>
  );
}

/** The question to the user who is signed in; the ways of anybody else where that user does not join. */
function JoinOr({ token, email, children }: { token: string; email: string | null; children: ReactNode }) {
  const isUser = hasUser(useStore(session));
  const me = useMe();
  const [isOther, setOther] = useState(false);
  if (!isUser || isOther) return children;
  return (
    <Query of={me}>
      {(own) => (
        <Section>
          <p>
            You are signed in as <strong>{own.name}</strong> ({own.email}).
          </p>
          {email !== null && email !== own.email ? (
            <p>The invitation is for {email}.</p>
          ) : (
            <ActionButton look="primary" isPlain act={async () => enter(await signIn.join(token))}>
              Join as {own.name}
            </ActionButton>
          )}
          <Button look="quiet" onClick={() => setOther(true)}>
            Join as somebody else
          </Button>
        </Section>
      )}
    </Query>
  );
}

function Accept({ token, email, look }: { token: string; email: string | null; look: 'plain' | 'primary' }) {
  const [isKnown, setKnown] = useState(false);
  return (
    <>
      <RequestForm
        isPlain
        label="Accept the invitation"
        submitLabel={isKnown ? 'Sign in and join' : 'Join'}
        look={look}
        send={async (given) => enter(await signIn.accept({ token, ...Object.fromEntries(given) }))}
      >
        {!isKnown && <NameField autoFocus />}
        <EmailField email={email} />
        {isKnown ? (
          <TextField label="Password" name="password" type="password" autoComplete="current-password" required />
        ) : (
          <NewPasswordField label="New password" />
        )}
      </RequestForm>
      <p>
        <Button look="quiet" onClick={() => setKnown(!isKnown)}>
          {isKnown ? 'I am new here' : 'I have a password here already'}
        </Button>
      </p>
    </>
  );
}
