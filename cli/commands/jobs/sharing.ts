import type { Command } from 'commander';
import { action, type Io, type Session } from '../../command.ts';
import { changeEach } from '../../each-id.ts';
import { seconds } from '../../options.ts';

/** `verbatim jobs share`, `shares` and `unshare` */
export function defineSharing(command: Command, io: Io): void {
  command
    .command('share')
    .description('make a link that shows the transcript to whoever has it')
    .argument('<job>')
    .option('--expires <time>', 'after this time: 90m, 24h … up to 30d; without it 7d', seconds)
    .action(action<[string], { expires?: number }>(io, shareJob));
  command
    .command('shares')
    .description('the links to the transcript that have not ended')
    .argument('<job>')
    .action(action<[string]>(io, listShares));
  command
    .command('unshare')
    .description('end links to the transcript at once')
    .argument('<job>')
    .argument('<shares...>')
    .action(
      action<[string, string[]]>(io, async (session, _options, job, shares) => {
        const { jobs } = await session.client();
        await changeEach(session, shares, 'has ended', (share) => jobs.endShare(job, share));
      }),
    );
}

async function shareJob(session: Session, { expires }: { expires?: number }, job: string): Promise<void> {
  const client = await session.client();
  const share = await client.jobs.share(job, expires === undefined ? {} : { expires_in: expires });
  const address = new URL(share.url, session.connection().url).href;
  session.out.show({ json: session.answer(), ids: [share.id], lines: [[address]] });
  session.out.note(`${share.id} ends ${share.expires_at}`);
}

async function listShares(session: Session, _options: object, job: string): Promise<void> {
  const client = await session.client();
  const shares = await client.jobs.shares(job);
  const { out } = session;
  if (out.mode !== 'text') return out.show({ json: session.answer(), ids: shares.map(({ id }) => id), lines: [] });
  if (shares.length === 0) return out.note('No links.');
  const rows = shares.map(({ id, created_at, expires_at, opened_count }) => [
    id,
    created_at,
    expires_at,
    String(opened_count),
  ]);
  out.table(['link', 'created', 'ends', 'opened'], rows);
}
