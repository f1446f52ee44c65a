import type { Me } from '#sdk/wire.ts';
import { signIn } from '../../api/people.ts';
import { problemOf } from '../../api/problem.ts';
import { mayDiscard } from '../../router/address.ts';
import { changeSession } from '../../session/session.ts';
import type { MenuProps } from '../../ui/aria/aria-menu.tsx';
import { say } from '../../ui/toast.tsx';

/** The accounts of the user as a part of the account menu: nothing where there is only one. */
export function otherAccounts(me: Me | undefined): MenuProps['groups'] {
  if (!me || me.accounts.length < 2) return [];
  const entries = me.accounts.map(({ id, name }) => ({
    key: id,
    label: name,
    isChosen: id === me.account_id,
    act: () => void switchTo(id),
  }));
  return [{ title: 'Account', entries }];
}

async function switchTo(accountId: string): Promise<void> {
  if (!mayDiscard()) return;
  try {
    changeSession({ account: await signIn.switchTo(accountId) });
    location.hash = '#/';
  } catch (error) {
    say(problemOf(error).message);
  }
}
