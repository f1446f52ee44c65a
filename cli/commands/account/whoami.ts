import type { Command } from 'commander';
import { action, type Io } from '../../command.ts';
import { facts, fileSize } from '../../terminal/format.ts';

/** `verbatim whoami` */
export function define(command: Command, io: Io): void {
  command.action(
    action(io, async (session) => {
      const client = await session.client();
      const account = await client.account();
      const { limits } = account;
      const rate = limits.rates.transcribe;
      session.out.show({
        json: session.answer(),
        ids: [account.id],
        lines: facts([
          ['account', `${account.name} (${account.id})`],
          ['plan', account.plan],
          ['service', session.connection().url],
          ['profile', session.connection().profile],
          ['scopes', account.scopes.join(' ') || 'all'],
          ['uploads', `${fileSize(limits.upload_bytes)} each, ${limits.audio_seconds / 3600} h of audio`],
          ['transcribe', rate === null ? 'no limit' : `${rate.requests} requests in ${rate.seconds} s`],
          ['webhooks', limits.webhooks],
          ['jobs kept', `${limits.job_days} days`],
        ]),
      });
    }),
  );
}
