import { useNavigate, useRouterState } from '@tanstack/react-router';
import type { FormEvent } from 'react';
import { useState } from 'react';
import { ApiError, VerbatimError } from '#sdk/client/index.ts';
import { clientsWith } from '../../api/client.ts';
import { session, signIn } from '../../session/session.ts';
import { useStore } from '../../session/store.ts';
import { useAction } from '../../ui/action-button.tsx';
import { Button } from '../../ui/button.tsx';
import { TextField } from '../../ui/field.tsx';
import { focusNextPage, Page, Section } from '../../ui/page.tsx';
import { Problem } from '../../ui/state.tsx';
import { say } from '../../ui/toast.tsx';

/** Signs in with an API key or the operator's token, which is tried first and then kept for this tab. */
export default function SignIn() {
  const [secret, setSecret] = useState('');
  const navigate = useNavigate();
  const path = useRouterState({ select: (state) => state.location.pathname });
  const { key, admin } = useStore(session);
  const { isBusy, error, run } = useAction(async () => {
    const { who, greeting } = await trySecret(secret.trim());
    focusNextPage();
    signIn(who, secret.trim());
    say(greeting);
    if (path === '/sign-in') await navigate({ to: who === 'admin' ? '/operator' : '/' });
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    run();
  };
  const isOperatorPlace = path.startsWith('/operator') && admin === null && key !== null;
  return (
    <Page title="Sign in">
      <div className="narrow">
        <p>
          {isOperatorPlace
            ? "This page is the operator's: it needs the operator's token, beside your key."
            : 'With a key of your account, or as the operator with the token of the service.'}
        </p>
        <Section>
          <form onSubmit={submit}>
            <TextField
              label="API key or operator's token"
              name="secret"
              autoFocus
              type="password"
              autoComplete="off"
              required
              placeholder="vb_…"
              value={secret}
              onChange={(event) => setSecret(event.target.value)}
              hint="Kept in this tab only, until you close it."
            />
            {error !== null && <Problem error={error} />}
            <Button type="submit" look="primary" disabled={isBusy} aria-busy={isBusy}>
              Sign in
            </Button>
          </form>
        </Section>
        <details>
          <summary>Where do I get a key?</summary>
          <p>
            The operator makes one: <code>verbatim keys create acct_…</code>. The operator&apos;s token is in{' '}
            <code>DATA_DIR/admin-token</code>.
          </p>
        </details>
      </div>
    </Page>
  );
}

/** Finds out whose secret it is. @throws VerbatimError  with a sentence for the user, when it is nobody's */
async function trySecret(secret: string): Promise<{ who: 'key' | 'admin'; greeting: string }> {
  const wrong = 'That is neither a valid key nor the token of the operator. Check that it was copied whole.';
  // Other characters cannot be sent in a header.
  if (!/^[!-~]+$/.test(secret)) throw new VerbatimError(wrong);
  const { api, operator } = clientsWith(secret);
  try {
    if (secret.startsWith('vb_')) {
      const { name, plan } = await api.account();
      return { who: 'key', greeting: `Signed in: ${name}, plan ${plan}.` };
    }
    const { version } = await operator.overview();
    return { who: 'admin', greeting: `Signed in as the operator of Verbatim ${version}.` };
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) throw new VerbatimError(wrong);
    throw error;
  }
}
