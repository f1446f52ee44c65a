import type { Command } from 'commander';
import { action, type Io } from '../../command.ts';
import { addWebOption } from '../../terminal/browser.ts';
import { credits, facts } from '../../terminal/format.ts';

/** `verbatim balance` */
export function define(command: Command, io: Io): void {
  addWebOption(command, () => 'usage').action(
    action(io, async (session) => {
      const client = await session.client();
      const balance = await client.balance();
      const { rates } = balance;
      session.out.show({
        json: session.answer(),
        ids: [credits(balance.amount)],
        lines: facts([
          ['balance', balance.unlimited ? 'unlimited' : `${credits(balance.amount)} ${balance.units}`],
          ['held', balance.held > 0 ? `${credits(balance.held)} for jobs that have not ended` : null],
          ['a minute', `${rates.lite} on lite, ${rates.pro} on pro`],
        ]),
      });
    }),
  );
}
