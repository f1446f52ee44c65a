import type { Command } from 'commander';
import type { SecretsRotation } from '#sdk/wire.ts';
import { action, type Io, type Session } from '../../command.ts';
import { CommandError } from '../../exit.ts';

/** `verbatim secrets`, for operators */
export function define(command: Command, io: Io): void {
  command
    .command('rotate')
    .description('encrypt all webhook secrets with the first key of SECRETS_KEY; it can be stopped and run again')
    .action(action(io, rotate));
}

async function rotate(session: Session): Promise<void> {
  const admin = await session.admin();
  let [rotated, unreadable] = [0, 0];
  let step: SecretsRotation | null = null;
  do {
    step = await admin.rotateSecrets(step?.next_cursor ? { cursor: step.next_cursor } : {});
    rotated += step.rotated;
    unreadable += step.unreadable;
  } while (step.next_cursor !== null);
  if (step.remaining !== 0) {
    throw new CommandError(
      `${rotated} webhooks are encrypted anew, ${step.remaining} are not yet by the first key of SECRETS_KEY; no listed ` +
        `key opens ${unreadable} of them. List every key that was in use, restart all nodes, and run this again.`,
    );
  }
  session.out.show({
    json: { rotated, unreadable, remaining: 0 },
    ids: [],
    lines: [[`${rotated} webhooks are encrypted anew, none is left.`]],
  });
  session.out.note(
    'After a day, when kept answers of Idempotency-Keys are gone, the other keys can be removed from SECRETS_KEY.',
  );
}
