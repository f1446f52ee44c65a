import { useQuery } from '@tanstack/react-query';
import { use } from 'react';
import { signIn } from '../../api/people.ts';
import { PlaceContext } from '../../router/place.ts';
import { type Arrival, arrival } from '../../session/arrival.ts';
import { session } from '../../session/session.ts';
import { useStore } from '../../session/store.ts';
import { Section } from '../../ui/page.tsx';
import { Query } from '../../ui/state.tsx';
import { Centred, WithKey } from './centred.tsx';
import { InvitationForm } from './invitation-form.tsx';
import { KeyForm } from './key-form.tsx';
import { PasswordForm, Ways } from './person-forms.tsx';
import { ProviderProblem } from './provider-problem.tsx';
import { SetupForm } from './setup-form.tsx';

/** Where people sign in, make the first user, and accept invitations; and programs' keys are tried. */
export default function SignIn() {
  const arrived = useStore(arrival);
  const { path } = use(PlaceContext);
  const { account, admin } = useStore(session);
  if (path.startsWith('/operator') && admin === null && account !== null) return <OperatorSignIn />;
  return <PersonSignIn arrived={arrived} />;
}

/** Somebody of an account opens a page of the operator, or the console at the listener of operators. */
function OperatorSignIn() {
  return (
    <Centred title="Sign in" text="This page is for operators. Enter the operator's token.">
      <Section>
        <KeyForm />
      </Section>
    </Centred>
  );
}

function PersonSignIn({ arrived }: { arrived: Arrival | null }) {
  const ways = useQuery({ queryKey: ['ways-to-sign-in'], queryFn: signIn.ways });
  if (arrived?.kind === 'invitation') {
    return <Query of={ways}>{(found) => <InvitationForm token={arrived.value} ways={found} />}</Query>;
  }
  if (ways.data && !ways.data.password && !ways.data.oidc) return <OperatorSignIn />;
  return (
    <Query of={ways}>
      {(found) =>
        found.setup ? (
          <SetupForm token={arrived?.kind === 'setup' ? arrived.value : null} ways={found} />
        ) : (
          <Centred title="Sign in">
            {arrived?.kind === 'problem' && <ProviderProblem code={arrived.value} />}
            <Ways ways={found}>
              <PasswordForm isFirst={found.oidc === null} />
            </Ways>
            <WithKey />
          </Centred>
        )
      }
    </Query>
  );
}
