import { availableParallelism } from 'node:os';
import { describeSystemError } from '../../cli/terminal/system-error.ts';
import { ConfigError } from '../config/config-error.ts';
import { doubtsAbout } from '../config/doubts.ts';
import { type Config, dataPaths, readConfig } from '../config/settings.ts';
import type { Sql } from '../db/database.ts';
import { DirectoryTakenError } from '../db/embedded/folder-lock.ts';
import { NoPostgresError, type Programs } from '../db/embedded/programs.ts';
import { startEmbedded } from '../db/embedded/server.ts';
import { UnfinishedRestoreError, UnknownKeyError, UnusableDatabaseError } from '../db/unusable-database-error.ts';
import { systemClock } from '../platform/clock.ts';
import { entryPoint } from '../platform/installation.ts';
import { isLogText, type Log, openLog } from '../platform/log.ts';
import { BOUNDS } from '../rules/bounds.ts';
import { type Part, SESSION_POOL_CONNECTIONS } from '../rules/network/connection-share.ts';
import { keptNodeId, prepareDataDir } from './data-directory.ts';
import type { Node } from './node.ts';
import { processesFor } from './parts.ts';
import { prepareSandbox, SandboxError } from './sandbox.ts';
import { Supervisor } from './supervisor.ts';
import { FolderError } from './writable-folder.ts';

const DATABASE_RESTART_DELAY_MS = 500;
// EX_CONFIG of sysexits.h: a restart does not help.
const EXIT_CONFIG = 78;

/** Wiring only: settings → database → the processes of the roles; the reverse on stop. */
async function main(): Promise<void> {
  const config = readConfig();
  const log = openLog(config.logLevel, { role: 'parent' }, config.logFormat);
  for (const doubt of doubtsAbout(config)) log.warn(doubt);
  const stopWanted = Promise.withResolvers<number>();
  const stopping = new AbortController();
  void stopWanted.promise.then(() => stopping.abort());
  process.on('SIGTERM', () => stopWanted.resolve(0));
  process.on('SIGINT', () => stopWanted.resolve(0));
  // Where it was started with a channel, by bin/verbatim or a test: that process has ended.
  process.on('disconnect', () => stopWanted.resolve(0));

  const sandbox = prepareSandbox(config, log);
  // Where the sandbox is not required, the database starts while it is looked for.
  if (config.audioSandbox === 'require') await sandbox;
  const secrets = prepareDataDir(config);
  let node: Node | null = null;
  const roles = new Supervisor(processesFor(config.roles, availableParallelism()), {
    entry: entryPoint('role-process'),
    log,
    onFatal: (message) => {
      console.error(message);
      stopWanted.resolve(1);
    },
    onHolderEnded: (holder) => void node?.release(holder),
    onReady: (about) => void (isLogText(config.logFormat) && showReady(config, about, database?.programs)),
  });
  const database = await openStore({ config, log, secretsKeys: secrets.secretsKeys }, stopping.signal);
  if (!database) {
    await roles.stop(BOUNDS.rolesStopMs);
    process.exit(await stopWanted.promise);
  }
  node = await joinDatabase(database, config, log, stopping.signal);
  const storageId = await settleStorage(database, config);
  roles.start({
    nodeId: node.id,
    storageId,
    databaseUrl: database.url,
    ...(database.directUrl && { databaseDirectUrl: database.directUrl }),
    ...(database.maxConnections && { maxConnections: database.maxConnections }),
    adminToken: secrets.adminToken,
    secretsKeysBase64: secrets.secretsKeys.map((key) => key.toString('base64')).join(),
    sandbox: await sandbox,
  });

  const code = await stopWanted.promise;
  await roles.stop(BOUNDS.rolesStopMs);
  await node.close();
  await database.stop();
  process.exit(code);
}

/** At a terminal, the last lines of the start. */
async function showReady(config: Config, about: Partial<Record<Part, string>>, programs?: Programs): Promise<void> {
  // Loaded at a terminal only: it needs the catalogue of models.
  const { readyLines } = await import('./ready-lines.ts');
  process.stdout.write(readyLines(config, about, programs));
}

type Start = { config: Config; log: Log; secretsKeys: Buffer[] };

type Store = {
  url: string;
  directUrl?: string;
  maxConnections?: number;
  /** Of the embedded database. */
  programs?: Programs;
  stop(): Promise<void>;
};

/**
 * The database of this node, migrated: the one that DATABASE_URL names, else the embedded one.
 * Null when stopped before.
 */
async function openStore(start: Start, stopping: AbortSignal): Promise<Store | null> {
  const { config, log } = start;
  const url = config.databaseUrl;
  if (url === null) return await openEmbedded(start, stopping);
  // Loaded here: the embedded database starts while this code is loaded.
  const { prepareOutside } = await import('./outside-database.ts');
  const directUrl = config.databaseDirectUrl ?? url;
  // A migration may take long; a stop ends this process, and with its connection the transaction.
  const preparing = prepareOutside({ url, directUrl }, { log, signal: stopping, check: await keyCheck(start) });
  const prepared = await Promise.race([preparing, aborted(stopping)]);
  if (!prepared) return null;
  const maxConnections = config.databaseConnections ?? (prepared.poolsBySession ? SESSION_POOL_CONNECTIONS : null);
  return { url, directUrl, ...(maxConnections && { maxConnections }), stop: async () => undefined };
}

/** Loaded here, as the client of the database is. */
async function keyCheck(start: Start): Promise<(sql: Sql) => Promise<void>> {
  const { requireKeys } = await import('./sealed-rows.ts');
  return (sql) => requireKeys(sql, start);
}

function aborted(signal: AbortSignal): Promise<null> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(null), { once: true }));
}

/** The id of the audio storage that the database knows; null where the node uses none. */
async function settleStorage(database: Store, config: Config): Promise<string | null> {
  if (!config.roles.some((role) => role !== 'deliverer')) return null;
  const { openDatabase } = await import('../db/database.ts');
  const { openStorage } = await import('../audio/storage/open-storage.ts');
  const { settleStorageId } = await import('../audio/storage/storage-identity.ts');
  const db = openDatabase(database.directUrl ?? database.url, { maxConnections: 1 });
  try {
    const { audio, storageNote } = dataPaths(config.dataDir);
    const place = { name: config.storageUrl ?? audio, noteFile: storageNote };
    return await settleStorageId(db, await openStorage(config), place);
  } finally {
    await db.close();
  }
}

/** Gives this process the node's id, and releases the leases that the node held when it ended. */
async function joinDatabase(database: Store, config: Config, log: Log, signal: AbortSignal): Promise<Node> {
  const { openDatabase } = await import('../db/database.ts');
  const { openNode } = await import('./node.ts');
  const url = database.directUrl ?? database.url;
  const db = openDatabase(url, { maxConnections: 1 });
  // The embedded database is this process's alone, by the lock of its folder.
  const lockUrl = config.databaseUrl === null ? null : url;
  return await openNode({ db, lockUrl, keptId: keptNodeId(config), clock: systemClock, log, signal });
}

/** Keeps the embedded PostgreSQL running: its address stays the same, so the roles' pools just connect again. */
async function openEmbedded(start: Start, stopWanted: AbortSignal): Promise<Store | null> {
  const { config, log } = start;
  const options = { dir: dataPaths(config.dataDir).database, postgresBin: config.postgresBin, log };
  let stopping = false;
  let server = await startEmbedded(options);
  const { version, bin } = server.programs;
  log.info({ version, bin }, 'the embedded PostgreSQL runs');
  // The client is loaded while PostgreSQL starts and the roles load their code: they are not to wait for it.
  const { bringUpToDate } = await import('./outside-database.ts');
  try {
    await Promise.race([bringUpToDate(server.url, log, await keyCheck(start)), aborted(stopWanted)]);
  } catch (error) {
    await server.stop();
    throw error;
  }
  if (stopWanted.aborted) {
    await server.stop();
    return null;
  }
  server.onExit(restart);

  function restart(): void {
    if (stopping) return;
    log.error('the embedded PostgreSQL ended; starting it again');
    startEmbedded(options).then(
      (fresh) => {
        server = fresh;
        server.onExit(restart);
      },
      (error: unknown) => {
        log.error({ err: error }, 'the embedded PostgreSQL did not start; trying again');
        setTimeout(restart, DATABASE_RESTART_DELAY_MS);
      },
    );
  }

  return {
    url: server.url,
    programs: server.programs,
    async stop() {
      stopping = true;
      await server.stop();
    },
  };
}

main().catch((error: unknown) => {
  // What the operator can mend is said in a sentence; anything else is ours, with its stack.
  const isOperators = [
    ...[ConfigError, UnusableDatabaseError, DirectoryTakenError, SandboxError],
    ...[FolderError, NoPostgresError],
  ].some((kind) => error instanceof kind);
  console.error(isOperators ? (error as Error).message : (describeSystemError(error, 'DATA_DIR') ?? error));
  const isOfConfig = [FolderError, ConfigError, UnknownKeyError, UnfinishedRestoreError].some(
    (kind) => error instanceof kind,
  );
  process.exit(isOfConfig ? EXIT_CONFIG : 1);
});
