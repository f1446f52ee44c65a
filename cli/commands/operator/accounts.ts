import { type Command, Option } from 'commander';
import type { Account } from '#sdk/wire.ts';
import { action, type Io, type Session } from '../../command.ts';
import { UsageError } from '../../exit.ts';
import { addListOptions, type ListOptions, pageOf, showList } from '../../list.ts';
import { number } from '../../options.ts';
import { addWebOption } from '../../terminal/browser.ts';
import { credits, facts } from '../../terminal/format.ts';
import { typed } from '../../typed.ts';

type NewAccount = { plan: 'lite' | 'pro'; credits?: number };

type Invitation = { role: 'owner' | 'member' | 'viewer'; email?: string; operator?: boolean };

type AccountChange = { name?: string; plan?: 'lite' | 'pro' };

/** `verbatim accounts`, for operators */
export function define(command: Command, io: Io): void {
  command
    .command('create')
    .description('a new account')
    .argument('<name>')
    .addOption(new Option('--plan <plan>', 'what it may use').choices(['lite', 'pro']).default('lite'))
    .option('--credits <number>', 'its credits; without them, unlimited', number)
    .action(action<[string], NewAccount>(io, createAccount));
  const list = command
    .command('list')
    .description('accounts, newest first')
    .option('--query <text>', 'with this text in the name, or this id');
  addWebOption(addListOptions(list), () => 'operator/accounts').action(
    action<[], ListOptions & { query?: string }>(io, listAccounts),
  );
  addWebOption(command.command('show'), (id: string) => `operator/accounts/${id}`)
    .description('an account')
    .argument('<account>')
    .action(
      action<[string]>(io, async (session, _options, id) => {
        show(session, await (await session.admin()).accounts.get(id));
      }),
    );
  command
    .command('update')
    .description('change the name or the plan of an account')
    .argument('<account>')
    .option('--name <name>', 'its new name')
    .addOption(new Option('--plan <plan>', 'what it may use from now on').choices(['lite', 'pro']))
    .action(action<[string], AccountChange>(io, updateAccount));
  command
    .command('delete')
    .description('delete an account and erase all that belongs to it; this cannot be undone')
    .argument('<account>')
    .action(
      action<[string]>(io, async (session, _options, id) => {
        session.out.json(await (await session.admin()).accounts.delete(id));
      }),
    );
  command
    .command('invite')
    .description('a link by which somebody joins the account; with the email of a user, to set a new password')
    .argument('<account>')
    .addOption(new Option('--role <role>', 'what they may do').choices(['owner', 'member', 'viewer']).default('owner'))
    .option('--email <email>', 'the only address that may use the link')
    .option('--operator', 'make them an operator of the service too')
    .action(action<[string], Invitation>(io, invite));
  command
    .command('suspend')
    .description('refuse its keys, and let its deliveries wait')
    .argument('<account>')
    .action(
      action<[string]>(io, async (session, _options, id) => {
        show(session, await (await session.admin()).accounts.suspend(id));
      }),
    );
  command
    .command('resume')
    .description('end that; what waited is sent')
    .argument('<account>')
    .action(
      action<[string]>(io, async (session, _options, id) => {
        show(session, await (await session.admin()).accounts.resume(id));
      }),
    );
  command
    .command('credit')
    .description('add credits; a negative amount removes credits')
    .argument('<account>')
    .argument('<amount>', '', number)
    .option('--note <text>', 'the reason, shown in the ledger')
    .action(action<[string, number], { note?: string }>(io, addCredits));
}

async function invite(session: Session, { role, email, operator }: Invitation, id: string): Promise<void> {
  const admin = await session.admin();
  const { id: invitation, url } = await admin.accounts.invite(id, { role, email, operator });
  const link = new URL(url, admin.baseUrl).href;
  session.out.show({ json: session.answer(), ids: [invitation], lines: [[link]] });
  session.out.note({ text: 'The link works once, within 7 days.', style: 'dim' });
}

async function createAccount(session: Session, { plan, credits: amount }: NewAccount, name: string): Promise<void> {
  const { accounts } = await session.admin();
  const account = await accounts.create({ name, plan, credits: amount });
  show(session, account);
  session.out.note({ text: `Next: ${typed(session.io.env, `keys create ${account.id}`)}`, style: 'dim' });
}

async function listAccounts(session: Session, options: ListOptions & { query?: string }): Promise<void> {
  const { accounts } = await session.admin();
  const filter = { ...pageOf(options), query: options.query };
  await showList(session, options, accounts.list(filter), {
    head: ['account', 'plan', 'credits', 'held', 'created', 'name'],
    row: ({ id, plan, balance, created_at, name }) => [
      id,
      plan,
      balance.amount === null ? 'unlimited' : credits(balance.amount),
      credits(balance.held),
      created_at,
      name,
    ],
    id: ({ id }) => id,
    empty: 'No accounts.',
  });
}

async function updateAccount(session: Session, { name, plan }: AccountChange, id: string): Promise<void> {
  if (name === undefined && plan === undefined) throw new UsageError('Give --name, --plan or both.');
  const { accounts } = await session.admin();
  show(session, await accounts.update(id, { name, plan }));
}

async function addCredits(session: Session, { note }: { note?: string }, id: string, amount: number): Promise<void> {
  const { accounts } = await session.admin();
  const entry = await accounts.addCredits(id, { amount, note });
  const line = `${entry.amount} credits, the balance is ${credits(entry.balance.amount)}`;
  session.out.show({ json: session.answer(), ids: [entry.id], lines: [[`${entry.id}  ${line}`]] });
}

function show({ out, answer }: Session, { id, name, plan, balance, created_at }: Account): void {
  const lines = facts([
    ['account', id],
    ['name', name],
    ['plan', plan],
    ['credits', balance.amount === null ? 'unlimited' : credits(balance.amount)],
    ['held', balance.held > 0 ? credits(balance.held) : null],
    ['created', created_at],
  ]);
  out.show({ json: answer(), ids: [id], lines });
}
