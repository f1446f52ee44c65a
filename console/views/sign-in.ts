import type { Who } from '../api.ts';
import { ApiProblem, get, session } from '../api.ts';
import type { View } from '../app.ts';
import { form, reload } from '../controls.ts';
import { field, fill, h } from '../dom.ts';

/** Signs in with an API key or the operator's token, which is checked and then stored for this tab. */
export const showSignIn: View = async (main, { parts }) => {
  const secret = h('input', {
    name: 'secret',
    type: 'password',
    required: true,
    autocomplete: 'off',
    spellcheck: 'false',
    'data-first': true,
    placeholder: 'vb_…',
  });
  const isOperator = h('input', { type: 'checkbox', name: 'operator' });
  const fields = [
    field('API key', secret, 'Kept in this tab only, until you close it.'),
    h('label', { class: 'check' }, isOperator, "This is the operator's token"),
  ];
  const submit = async () => {
    const who: Who = isOperator.checked ? 'admin' : 'key';
    await trySecret(who, secret.value.trim());
    session.set(who, secret.value.trim());
    if (parts[0] === 'sign-in') location.hash = who === 'admin' ? '#/operator' : '#/jobs';
    else reload();
  };
  fill(
    main,
    h('h1', {}, 'Sign in'),
    h(
      'p',
      {},
      'With a key of your account. Your operator makes one with ',
      h('code', {}, 'bin/verbatim keys create'),
      '.',
    ),
    h('div', { class: 'card narrow' }, form('Sign in', fields, 'Sign in', submit)),
  );
};

async function trySecret(who: Who, secret: string): Promise<void> {
  const wrong = who === 'admin' ? "That is not the operator's token" : 'That key is unknown or was revoked';
  const path = who === 'admin' ? '/admin/v1/accounts?limit=1' : '/v1/webhooks?limit=1';
  // Other characters cannot be sent in a header.
  if (!/^[!-~]+$/.test(secret)) throw new ApiProblem(401, `${wrong}. Check that it was copied whole.`);
  await get(path, secret).catch((error) => {
    if (error.status !== 401) throw error;
    throw new ApiProblem(401, `${wrong}. Check that it was copied whole.`);
  });
}
