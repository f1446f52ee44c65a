import type { Command } from 'commander';
import { action, type Io, type Session } from '../../command.ts';
import { addCsvOption, addListOptions, type CsvListOptions, pageOf, showCsvList } from '../../list.ts';
import { addWebOption } from '../../terminal/browser.ts';
import { credits } from '../../terminal/format.ts';

/** `verbatim ledger` */
export function define(command: Command, io: Io): void {
  addWebOption(addCsvOption(addListOptions(command)), () => 'usage').action(action<[], CsvListOptions>(io, showLedger));
}

async function showLedger(session: Session, options: CsvListOptions): Promise<void> {
  const client = await session.client();
  await showCsvList(session, options, client.ledger(pageOf(options)), {
    head: ['number', 'kind', 'amount', 'held', 'balance', 'created', 'job', 'note'],
    row: ({ number, kind, amount, held, balance, created_at, job_id, note }) => [
      String(number),
      kind,
      credits(amount),
      credits(held),
      credits(balance.amount),
      created_at,
      job_id ?? '-',
      note ?? '-',
    ],
    id: ({ id }) => id,
    empty: 'No entries: the account is unlimited.',
  });
}
