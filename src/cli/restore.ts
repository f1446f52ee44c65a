import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import type { Command } from 'commander';
import { action, type Io, type Session } from '../../cli/command.ts';
import { dataPaths } from '../config/settings.ts';
import { restoreBackup } from '../db/backup/restore-backup.ts';
import { RestoreFolder } from '../db/backup/restore-folder.ts';
import { asCommandError } from './backup.ts';
import { type DatabasePlace, openEmptyPlace, readSettings } from './backup-place.ts';

/** `verbatim restore` */
export function define(command: Command, io: Io): void {
  command
    .argument('<file>', 'what "verbatim backup" wrote, or - for standard input')
    .addHelpText(
      'after',
      '\nDATA_DIR must be empty, and so must the database of DATABASE_URL, where it is set. Put the key beside the backup back\n' +
        'first: SECRETS_KEY, or DATA_DIR/secrets-key. A backup of an earlier release is brought up to this one.\n' +
        'A restore that failed or was killed leaves both marked: the service refuses them, and the same command takes over.\n',
    )
    .action(action<[string]>(io, (session, _options, file) => restore(session, file)));
}

async function restore({ io, out }: Session, file: string): Promise<void> {
  const config = readSettings(io.env);
  const paths = dataPaths(config.dataDir);
  const source = file === '-' ? (io.stdin as Readable) : createReadStream(file);
  const folder = new RestoreFolder(config.dataDir);
  let database: DatabasePlace | null = null;
  try {
    const { header, manifest, isFinished } = await restoreBackup(source, {
      async openDatabase() {
        database = await openEmptyPlace(config, folder);
        return database.url;
      },
      folder,
      audioDir: config.storageUrl === null ? paths.audio : null,
      keyFile: config.secretsKeys === null ? paths.secretsKey : null,
      onProgress: (line) => out.note(line),
    });
    if (isFinished) out.note('The restore before had loaded everything.');
    const lost = manifest?.missing_audio.length ?? 0;
    if (lost > 0) out.note(`The audio of ${lost} jobs was gone when the backup was made.`);
    out.line(`Restored the state of ${header.taken_at}. Start the service.`);
  } catch (error) {
    throw asCommandError(error);
  } finally {
    await (database as DatabasePlace | null)?.[Symbol.asyncDispose]();
  }
}
