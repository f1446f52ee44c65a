import type { Command } from 'commander';
import type { Key } from '#sdk/wire.ts';
import { action, type Io, type Session } from '../../command.ts';
import { changeEach } from '../../each-id.ts';
import { addListOptions, type ListOptions, pageOf, showList } from '../../list.ts';
import { commaList, time } from '../../options.ts';
import { addWebOption } from '../../terminal/browser.ts';
import { facts } from '../../terminal/format.ts';

type KeyOptions = { name?: string; scopes?: Key['scopes']; expiresAt?: string };

/** `verbatim keys`: those of the own account; with the id of an account, those of that account, as the operator. */
export function define(command: Command, io: Io): void {
  const list = command.command('list').description('keys').argument('[account]', 'as the operator: of this account');
  addWebOption(addListOptions(list), (account?: string) => (account ? `operator/accounts/${account}` : 'keys')).action(
    action<[string | undefined], ListOptions>(io, listKeys),
  );
  command
    .command('create')
    .description('a new key; it is shown only now')
    .argument('[account]', 'as the operator: for this account')
    .option('--name <name>')
    .option('--scopes <scopes>', 'separated by commas; without them, all', commaList)
    .option('--expires-at <time>', 'the key ends at this time', time)
    .action(action<[string | undefined], KeyOptions>(io, createKey));
  command
    .command('revoke')
    .description('revoke keys')
    .argument('<keys...>')
    .option('--operator', 'of any account, as the operator')
    .action(action<[string[]], { operator?: boolean }>(io, revokeKeys));
}

async function listKeys(session: Session, options: ListOptions, account: string | undefined): Promise<void> {
  const list =
    account === undefined
      ? (await session.client()).keys.list(pageOf(options))
      : (await session.admin()).accounts.keys(account, pageOf(options));
  await showList(session, options, list, {
    head: ['key', 'prefix', 'scopes', 'created', 'expires', 'last used', 'made by', 'name'],
    row: (key) => [
      key.id,
      `${key.prefix}…`,
      key.scopes.join(',') || 'all',
      key.created_at,
      key.expires_at ?? 'never',
      key.last_used_at ?? 'never',
      key.created_by?.name ?? '-',
      key.name ?? '-',
    ],
    id: ({ id }) => id,
    empty: 'No keys.',
  });
}

async function createKey(session: Session, options: KeyOptions, account: string | undefined): Promise<void> {
  const { name, scopes, expiresAt } = options;
  const body = { name, scopes, expires_at: expiresAt };
  const key =
    account === undefined
      ? await (await session.client()).keys.create(body)
      : await (await session.admin()).accounts.createKey(account, body);
  session.out.show({
    json: session.answer(),
    ids: [key.id],
    lines: facts([
      ['id', key.id],
      ['key', key.key],
      ['scopes', key.scopes.join(',') || 'all'],
    ]),
  });
  session.out.note('Keep the key now: it is not shown again.');
}

async function revokeKeys(session: Session, { operator }: { operator?: boolean }, ids: string[]): Promise<void> {
  if (operator) {
    const admin = await session.admin();
    return await changeEach(session, ids, 'is revoked', (id) => admin.deleteKey(id));
  }
  const { keys } = await session.client();
  await changeEach(session, ids, 'is revoked', (id) => keys.delete(id));
}
