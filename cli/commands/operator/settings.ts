import type { Command } from 'commander';
import { action, type Io, type Session } from '../../command.ts';
import { addWebOption } from '../../terminal/browser.ts';

/** `verbatim settings`, for operators */
export function define(command: Command, io: Io): void {
  addWebOption(command, () => 'operator/settings')
    .option('--changed', 'only those that differ from their defaults')
    .action(action<[], { changed?: boolean }>(io, showSettings));
}

async function showSettings(session: Session, { changed }: { changed?: boolean }): Promise<void> {
  const { out } = session;
  const admin = await session.admin();
  const settings = (await admin.settings()).filter(({ is_default: isDefault }) => !changed || !isDefault);
  if (out.mode === 'json') return out.json(session.answer());
  if (out.mode === 'ids') for (const { name } of settings) out.line(name);
  else {
    out.table(
      ['setting', 'value', ''],
      settings.map(({ name, value, is_default: isDefault }) => [
        name,
        value === null ? '-' : String(value),
        isDefault ? { text: 'default', style: 'dim' } : '',
      ]),
    );
  }
}
