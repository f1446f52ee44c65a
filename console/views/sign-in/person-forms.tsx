import type { ReactNode } from 'react';
import type { WaysToSignIn } from '#sdk/wire.ts';
import { signIn } from '../../api/people.ts';
import { RequestForm } from '../../forms/request-form.tsx';
import { address, navigate } from '../../router/address.ts';
import { arrival } from '../../session/arrival.ts';
import { type AccountSession, changeSession } from '../../session/session.ts';
import { ActionButton } from '../../ui/action-button.tsx';
import { TextField } from '../../ui/field.tsx';
import { focusNextPage, Section } from '../../ui/page.tsx';

const MIN_PASSWORD_CHARS = 12;

/** Of the link that somebody came by. */
type Token = { setup?: string; invitation?: string };

/** What follows a sign-in: the view that was asked for, or the first one. */
export function enter(account: AccountSession): void {
  focusNextPage();
  arrival.set(null);
  changeSession({ account, admin: null });
  if (address.get().path === '/sign-in') navigate('/');
}

/** @param isFirst  whether it gets the focus */
export function PasswordForm({ isFirst }: { isFirst: boolean }) {
  return (
    <RequestForm
      isPlain
      label="Sign in"
      submitLabel="Sign in"
      look={isFirst ? 'primary' : 'plain'}
      send={async (given) => enter(await signIn.byPassword(Object.fromEntries(given)))}
    >
      <EmailField autoFocus={isFirst} />
      <TextField
        label="Password"
        name="password"
        type="password"
        autoComplete="current-password"
        required
        hint="Forgotten? The operator can send you a link that sets a new one."
      />
    </RequestForm>
  );
}

/** The ways to go on: the provider first, where there is one. @param children  the form of the password */
export function Ways({
  ways: { oidc, password },
  token,
  children,
}: {
  ways: WaysToSignIn;
  /** Absent: a user who exists signs in. */
  token?: Token;
  children: ReactNode;
}) {
  return (
    <Section>
      {oidc && <ProviderButton name={oidc.name} token={token} />}
      {oidc && password && <p className="or">or</p>}
      {password && children}
    </Section>
  );
}

function ProviderButton({ name, token = {} }: { name: string; token?: Token | undefined }) {
  return (
    <p className="provider">
      <ActionButton look="primary" act={() => signIn.atProvider(token)}>
        {`Sign in with ${name}`}
      </ActionButton>
    </p>
  );
}

export function EmailField({ email, autoFocus }: { email?: string | null; autoFocus?: boolean }) {
  const isFixed = email !== null && email !== undefined;
  return (
    <TextField
      label="Email"
      name="email"
      type="email"
      autoComplete="username"
      required
      autoFocus={autoFocus}
      readOnly={isFixed}
      {...(isFixed && { defaultValue: email })}
    />
  );
}

export function NameField({ autoFocus }: { autoFocus?: boolean }) {
  return <TextField label="Your name" name="name" autoComplete="name" maxLength={200} required autoFocus={autoFocus} />;
}

export function NewPasswordField({ label = 'Password' }: { label?: string }) {
  return (
    <TextField
      label={label}
      name="password"
      type="password"
      autoComplete="new-password"
      minLength={MIN_PASSWORD_CHARS}
      maxLength={200}
      required
      hint={`At least ${MIN_PASSWORD_CHARS} characters.`}
    />
  );
}
