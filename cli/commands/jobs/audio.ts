import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import type { Command } from 'commander';
import { action, type Io, type Session } from '../../command.ts';
import { writeWhole } from '../transcription/write-transcript.ts';

type AudioFlags = { out: string; opus?: boolean };

/** `verbatim jobs audio` */
export function defineStoredAudio(command: Command, io: Io): void {
  command
    .command('audio')
    .description('the stored audio of a job')
    .argument('<job>')
    .requiredOption('--out <file>', 'write it to this file')
    .option('--opus', 'a copy that browsers play, as Ogg with Opus')
    .action(action<[string], AudioFlags>(io, getAudio));
}

async function getAudio(session: Session, { out, opus }: AudioFlags, id: string): Promise<void> {
  const client = await session.client();
  const { body } = await client.jobs.audio(id, {}, opus ? { format: 'opus' } : {});
  await writeWhole(out, Readable.fromWeb(body as ReadableStream<Uint8Array>));
  session.out.show({ json: { id, file: out }, ids: [id], lines: [] });
}
