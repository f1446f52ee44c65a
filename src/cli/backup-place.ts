import { existsSync } from 'node:fs';
import { CommandError } from '../../cli/exit.ts';
import { type Config, dataPaths, readConfig } from '../config/settings.ts';
import { type RestoreFolder, requireWholeFolder } from '../db/backup/restore-folder.ts';
import { DirectoryTakenError } from '../db/embedded/folder-lock.ts';
import { socketFolder } from '../db/embedded/place.ts';
import { serviceUrl } from '../db/embedded/role.ts';
import { startEmbedded } from '../db/embedded/server.ts';
import { openLog } from '../platform/log.ts';

/** The database of the settings, for one command. */
export type DatabasePlace = AsyncDisposable & { url: string };

/** The settings of the service. @throws CommandError  with all that is wrong */
export function readSettings(env: NodeJS.ProcessEnv): Config {
  try {
    return readConfig(env);
  } catch (cause) {
    throw new CommandError((cause as Error).message, undefined, { cause });
  }
}

/**
 * The database that the settings name: the outside one, the embedded one of a service that runs, or else the embedded
 * one, started until this is disposed.
 */
export async function openDatabasePlace(config: Config): Promise<DatabasePlace> {
  const outside = config.databaseDirectUrl ?? config.databaseUrl;
  if (outside !== null) return { url: outside, [Symbol.asyncDispose]: async () => undefined };
  try {
    return await startEmbeddedPlace(config);
  } catch (error) {
    if (!(error instanceof DirectoryTakenError)) throw error;
    const dir = dataPaths(config.dataDir).database;
    return { url: serviceUrl(dir, socketFolder(dir)), [Symbol.asyncDispose]: async () => undefined };
  }
}

/** The database for a restore; the embedded one is made in the folder, which is marked before. */
export async function openEmptyPlace(config: Config, folder: RestoreFolder): Promise<DatabasePlace> {
  if (config.databaseUrl !== null) return await openDatabasePlace(config);
  folder.claim();
  return await startEmbeddedPlace(config);
}

async function startEmbeddedPlace(config: Config): Promise<DatabasePlace> {
  const dir = dataPaths(config.dataDir).database;
  const server = await startEmbedded({ dir, postgresBin: config.postgresBin, log: openLog('warn', {}) });
  return { url: server.url, [Symbol.asyncDispose]: () => server.stop() };
}

/**
 * @throws CommandError            where no service has ever run
 * @throws UnfinishedRestoreError  where a restore has not ended
 */
export function requireDatabase(config: Config): void {
  requireWholeFolder(config.dataDir);
  if (config.databaseUrl === null && !existsSync(dataPaths(config.dataDir).database))
    throw new CommandError(`DATA_DIR ${config.dataDir} has no database. Set DATA_DIR as the service has it.`);
}
