import { existsSync, readdirSync } from 'node:fs';
import { CommandError } from '../../cli/exit.ts';
import { type Config, dataPaths, readConfig } from '../config/settings.ts';
import { DirectoryTakenError } from '../db/embedded/folder-lock.ts';
import { socketFolder } from '../db/embedded/place.ts';
import { serviceUrl } from '../db/embedded/role.ts';
import { startEmbedded } from '../db/embedded/server.ts';
import { openLog } from '../platform/log.ts';

/** The database of the settings, for one command. */
export type DatabasePlace = AsyncDisposable & { url: string };

// What an operator may put into a new DATA_DIR before a restore.
const OWN_FILES = ['admin-token', 'secrets-key'];

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
  const dir = dataPaths(config.dataDir).database;
  try {
    const server = await startEmbedded({ dir, postgresBin: config.postgresBin, log: openLog('warn', {}) });
    return { url: server.url, [Symbol.asyncDispose]: () => server.stop() };
  } catch (error) {
    if (!(error instanceof DirectoryTakenError)) throw error;
    return { url: serviceUrl(dir, socketFolder(dir)), [Symbol.asyncDispose]: async () => undefined };
  }
}

/** @throws CommandError  unless DATA_DIR holds at most what an operator has put there */
export function requireNewDataDir(dataDir: string): void {
  if (!existsSync(dataDir)) return;
  const found = readdirSync(dataDir).filter((name) => !OWN_FILES.includes(name));
  if (found.length > 0)
    throw new CommandError(`DATA_DIR ${dataDir} is not empty: it has ${found[0]}. Name an empty folder.`);
}

/** @throws CommandError  where no service has ever run */
export function requireDatabase(config: Config): void {
  if (config.databaseUrl === null && !existsSync(dataPaths(config.dataDir).database))
    throw new CommandError(`DATA_DIR ${config.dataDir} has no database. Set DATA_DIR as the service has it.`);
}
