import { createReadStream, readFileSync } from 'node:fs';
import type { Writable } from 'node:stream';
import { type Command, InvalidArgumentError } from 'commander';
import { action, type Io, type Session } from '../../cli/command.ts';
import { CommandError, UsageError } from '../../cli/exit.ts';
import { type Config, dataPaths } from '../config/settings.ts';
import { readArchive } from '../db/backup/archive-reader.ts';
import { BackupError, type Header, type Manifest, NAMES } from '../db/backup/contents.ts';
import { createBackup } from '../db/backup/create-backup.ts';
import { deleteOld, isFolder, openBackupTarget } from './backup-file.ts';
import { openDatabasePlace, readSettings, requireDatabase } from './backup-place.ts';

type Options = { keep?: number; withKey?: boolean };

/** `verbatim backup` */
export function define(command: Command, io: Io): void {
  command
    .argument('[file]', 'a file that does not exist, a folder, or - for standard output', '.')
    .option('--keep <number>', 'delete all backups of the folder but the newest ones, this many', readKeep)
    .option(
      '--with-key',
      'include the key that opens the secrets of webhooks: whoever has the file can sign deliveries',
    )
    .addHelpText(
      'after',
      '\nIt works while the service runs, and reads the same settings (DATA_DIR, DATABASE_URL, STORAGE_URL). Audio in a bucket is\n' +
        'listed, not copied. Keep the key apart: SECRETS_KEY, or DATA_DIR/secrets-key.\n',
    )
    .action(action<[string], Options>(io, (session, options, place) => backUp(session, options, place)));
  command
    .command('verify')
    .description('read a backup to its end, and compare each file in it with its hash')
    .argument('<file>')
    .action(action<[string]>(io, (session, _options, file) => verify(session, file)));
}

async function backUp({ io, out }: Session, { keep, withKey = false }: Options, place: string): Promise<void> {
  if (keep !== undefined && !isFolder(place)) throw new UsageError('--keep needs a folder.');
  const config = readSettings(io.env);
  requireDatabase(config);
  const target = openBackupTarget(place, new Date(), io.stdout as unknown as Writable);
  try {
    await using database = await openDatabasePlace(config);
    const manifest = await createBackup(target.stream, {
      url: database.url,
      audioDir: config.storageUrl === null ? dataPaths(config.dataDir).audio : null,
      secretsKey: withKey ? readKey(config) : null,
      onProgress: (line) => out.note(line),
    });
    target.keep();
    out.note(summary(manifest));
  } catch (error) {
    target.discard();
    throw asCommandError(error);
  }
  if (keep !== undefined) for (const name of deleteOld(place, keep)) out.note(`deleted ${name}`);
  if (target.file !== null) out.line(target.file);
}

async function verify({ out }: Session, file: string): Promise<void> {
  let header: Header | null = null;
  try {
    const manifest = await readArchive(createReadStream(file), {
      async begin(found) {
        header = found;
      },
      file: async () => undefined,
    });
    const { taken_at, release } = header!;
    const key = manifest.files.some(({ name }) => name === NAMES.key) ? 'with' : 'without';
    out.line(`${file} is whole: ${taken_at}, release ${release}, ${key} the secrets key; ${summary(manifest)}`);
  } catch (error) {
    throw asCommandError(error);
  }
}

/** What an operator can mend is said in a sentence. */
export function asCommandError(error: unknown): unknown {
  return error instanceof BackupError ? new CommandError(error.message, undefined, { cause: error }) : error;
}

function summary({ rows, files, missing_audio, listed_audio }: Manifest): string {
  const count = Object.values(rows).reduce((sum, number) => sum + number, 0);
  const audio = files.filter(({ name }) => name.startsWith(NAMES.audio)).length;
  const missing = missing_audio.length > 0 ? `, ${missing_audio.length} audio files were deleted meanwhile` : '';
  const listed = listed_audio.length > 0 ? `, ${listed_audio.length} in the bucket` : '';
  return `${count} rows, ${audio} audio files${listed}${missing}`;
}

function readKey(config: Config): string {
  if (config.secretsKeys !== null) return config.secretsKeys.map((key) => key.toString('base64')).join('\n');
  return readFileSync(dataPaths(config.dataDir).secretsKey, 'utf8').trim();
}

function readKeep(text: string): number {
  const number = Number(text);
  if (Number.isInteger(number) && number >= 1) return number;
  throw new InvalidArgumentError('It must be a whole number from 1 on.');
}
