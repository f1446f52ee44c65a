import type { WaysToSignIn } from '#sdk/wire.ts';
import { signIn } from '../../api/people.ts';
import { RequestForm, textOf } from '../../forms/request-form.tsx';
import { TextField } from '../../ui/field.tsx';
import { Section } from '../../ui/page.tsx';
import { Centred, WithKey } from './centred.tsx';
import { EmailField, enter, NameField, NewPasswordField, Ways } from './person-forms.tsx';

/** The first visit: makes the owner, who is an operator too. @param token  of the link; null: without one */
export function SetupForm({ token, ways }: { token: string | null; ways: WaysToSignIn }) {
  if (token === null) return <WithoutToken />;
  const send = async (given: FormData) => {
    const accountName = textOf(given, 'account_name');
    const fields = { name: given.get('name'), email: given.get('email'), password: given.get('password') };
    enter(await signIn.setUp({ token, ...fields, ...(accountName && { account_name: accountName }) }));
  };
  return (
    <Centred
      title="Welcome to Verbatim"
      text="You are the first user: you become the owner of an account and the operator of this service."
    >
      <Ways ways={ways} token={{ setup: token }}>
        <RequestForm
          isPlain
          label="First user"
          submitLabel="Create the account"
          look={ways.oidc ? 'plain' : 'primary'}
          send={send}
        >
          <NameField autoFocus />
          <EmailField />
          <NewPasswordField />
          <TextField
            label="Team"
            name="account_name"
            maxLength={200}
            hint="The name of the account. Empty: your name."
          />
        </RequestForm>
      </Ways>
    </Centred>
  );
}

function WithoutToken() {
  return (
    <Centred title="Sign in" text="This service has no users yet.">
      <Section>
        <p>
          To become the owner, open the setup link that the service shows at its start and in its log. It ends in{' '}
          <code>#setup=…</code>.
        </p>
      </Section>
      <WithKey isOpen />
    </Centred>
  );
}
