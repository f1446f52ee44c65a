import { useQueryClient } from '@tanstack/react-query';
import type { Me, User } from '#sdk/wire.ts';
import { useLiveList } from '../../api/list.ts';
import { people, type Role } from '../../api/people.ts';
import { problemOf } from '../../api/problem.ts';
import { signOut } from '../../api/sign-in.ts';
import { ListRows } from '../../parts/list-rows.tsx';
import { ConfirmButton } from '../../ui/action-button.tsx';
import { Empty } from '../../ui/state.tsx';
import type { Column } from '../../ui/table/table.tsx';
import { Time } from '../../ui/time.tsx';
import { say } from '../../ui/toast.tsx';
import { ROLES } from './roles.ts';

/** The users of the account; an owner changes their roles and removes them. */
export function UserList({ own }: { own: Me }) {
  const client = useQueryClient();
  const list = useLiveList<User>({ key: ['users'], read: people.users });
  const reload = () => client.invalidateQueries({ queryKey: ['users'] });
  const changeRole = async ({ id, name }: User, role: Role) => {
    try {
      await people.changeRole(id, role);
      say(`${name} is ${role} now.`);
      if (id === own.id) await client.invalidateQueries({ queryKey: ['me'] });
    } catch (error) {
      say(problemOf(error).message);
    }
    await reload();
  };
  const remove = async ({ id, name }: User) => {
    await people.remove(id);
    if (id === own.id) return await signOut();
    say(`${name} is removed.`);
    await reload();
  };
  return (
    <ListRows
      list={list}
      label="People"
      columns={columns({ own, changeRole, remove })}
      empty={<Empty title="Nobody." />}
    />
  );
}

type Actions = {
  own: Me;
  changeRole: (user: User, role: Role) => Promise<void>;
  remove: (user: User) => Promise<void>;
};

function columns({ own, changeRole, remove }: Actions): Column<User>[] {
  const isOwner = own.role === 'owner';
  const shown: Column<User>[] = [
    { head: 'Name', cell: ({ id, name }) => (id === own.id ? `${name} (you)` : name) },
    { head: 'Email', cell: ({ email }) => email },
    {
      head: 'Role',
      width: 8.5,
      phone: 'side',
      cell: (user) =>
        isOwner ? (
          <select
            aria-label={`Role of ${user.name}`}
            value={user.role}
            onChange={(event) => void changeRole(user, event.target.value as Role)}
          >
            {ROLES.map(([role, label]) => (
              <option key={role} value={role}>
                {label}
              </option>
            ))}
          </select>
        ) : (
          user.role
        ),
    },
    { head: 'Last seen', width: 7.5, cell: (user) => <Time at={user.last_used_at} /> },
  ];
  const removal = (user: User) => {
    const isSelf = user.id === own.id;
    if (!isOwner && !isSelf) return null;
    return (
      <ConfirmButton
        isPlain
        look="quiet"
        className="danger"
        title={isSelf ? 'Leave the account?' : `Remove ${user.name}?`}
        text="The sessions in this account end at once. The keys remain."
        confirm={isSelf ? 'Leave' : 'Remove'}
        act={() => remove(user)}
        aria-label={isSelf ? 'Leave the account' : `Remove ${user.name}`}
      >
        {isSelf ? 'Leave' : 'Remove'}
      </ConfirmButton>
    );
  };
  return [...shown, { head: 'Action', width: 6.5, cell: removal }];
}
