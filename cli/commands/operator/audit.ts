import type { Command } from 'commander';
import { action, type Io, type Session } from '../../command.ts';
import { addListOptions, type ListOptions, pageOf, showList } from '../../list.ts';
import { addWebOption } from '../../terminal/browser.ts';

type AuditOptions = ListOptions & { account?: string };

/** `verbatim audit`, for operators */
export function define(command: Command, io: Io): void {
  const list = command
    .command('list')
    .description('who changed what, newest first')
    .option('--account <account>', 'of this account');
  addWebOption(addListOptions(list), () => 'operator/audit').action(action<[], AuditOptions>(io, listChanges));
}

async function listChanges(session: Session, options: AuditOptions): Promise<void> {
  const admin = await session.admin();
  const filter = { ...pageOf(options), account_id: options.account };
  await showList(session, options, admin.audit(filter), {
    head: ['time', 'who', 'from', 'change', 'of', 'details'],
    row: ({ created_at, actor, address, action: change, target_id, details }) => [
      created_at,
      actor.name ?? actor.user_id ?? actor.key_id ?? actor.type,
      address,
      change,
      target_id,
      JSON.stringify(details),
    ],
    id: ({ id }) => id,
    empty: 'No changes.',
  });
}
