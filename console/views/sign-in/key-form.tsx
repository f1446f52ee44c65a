import { useState } from 'react';
import { ApiError, VerbatimError } from '#sdk/client/index.ts';
import { clientsWith } from '../../api/client.ts';
import { beginSession } from '../../api/sign-in.ts';
import { RequestForm } from '../../forms/request-form.tsx';
import { address, navigate } from '../../router/address.ts';
import { changeSession, type Session } from '../../session/session.ts';
import { typed } from '../../text/command.ts';
import { TextField } from '../../ui/field.tsx';
import { focusNextPage } from '../../ui/page.tsx';
import { say } from '../../ui/toast.tsx';

/**
 * Signs in with an API key, which begins a session of this browser, or with the operator's token, which is kept for
 * this tab.
 */
export function KeyForm() {
  const [secret, setSecret] = useState('');
  const submit = async () => {
    const { opened, greeting } = await trySecret(secret.trim());
    focusNextPage();
    changeSession(opened);
    say(greeting);
    if (address.get().path === '/sign-in') navigate(opened.admin ? '/operator' : '/');
  };
  return (
    <>
      <RequestForm
        isPlain
        label="Sign in with an API key"
        submitLabel="Sign in with the key"
        look="plain"
        send={submit}
      >
        <TextField
          label="API key or operator's token"
          name="secret"
          type="password"
          autoComplete="off"
          required
          placeholder="vb_…"
          value={secret}
          onChange={(event) => setSecret(event.target.value)}
          hint="A key signs you in for 12 hours, the operator's token in this tab only."
        />
      </RequestForm>
      <p>
        <small>
          The operator creates keys: <code>{typed('keys create acct_…')}</code>. The operator&apos;s token is in{' '}
          <code>DATA_DIR/admin-token</code>.
        </small>
      </p>
    </>
  );
}

/**
 * Finds out whose secret it is, and signs in with it.
 * @throws VerbatimError  with a sentence for the user, when it is nobody's
 */
async function trySecret(secret: string): Promise<{ opened: Partial<Session>; greeting: string }> {
  const wrong = 'That is neither a valid key nor the token of the operator. Check that it was copied whole.';
  // Other characters cannot be sent in a header.
  if (!/^[!-~]+$/.test(secret)) throw new VerbatimError(wrong);
  const { api, operator } = clientsWith(secret);
  try {
    if (secret.startsWith('vb_')) {
      const { name, plan } = await api.account();
      return { opened: { account: await beginSession(secret) }, greeting: `Signed in: ${name}, plan ${plan}.` };
    }
    const { version } = await operator.overview();
    return { opened: { admin: secret }, greeting: `Signed in as the operator of Verbatim ${version}.` };
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) throw new VerbatimError(wrong);
    throw error;
  }
}
