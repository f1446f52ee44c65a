import { readFileSync } from 'node:fs';
import path from 'node:path';
import { findRunningService } from '../../bin/running-service.js';
import { CommandError, EXIT } from '../exit.ts';
import { DEFAULT_URL, readUrl } from './connection.ts';

const DEFAULT_DATA_DIR = './data';

/**
 * The service and token for the commands of operators: --url or VERBATIM_URL, else the service on this machine at
 * ADMIN_HOST and ADMIN_PORT, else the one that runs with DATA_DIR or in this folder, else port 8080; ADMIN_TOKEN, else
 * the token that the service keeps in DATA_DIR.
 * @throws CommandError  without a token
 */
export function findOperator(
  env: NodeJS.ProcessEnv,
  choice: { url?: string | undefined },
): { url: string; token: string } {
  const local = env['ADMIN_PORT'] ? `http://${env['ADMIN_HOST'] || '127.0.0.1'}:${env['ADMIN_PORT']}` : undefined;
  const running = findRunningService(env);
  const url = readUrl(choice.url ?? (env['VERBATIM_URL'] || local || running?.operatorUrl || DEFAULT_URL));
  return { url, token: env['ADMIN_TOKEN'] || readToken(running?.dataDir || env['DATA_DIR'] || DEFAULT_DATA_DIR) };
}

function readToken(dataDir: string): string {
  const file = path.join(dataDir, 'admin-token');
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (cause) {
    const advice = 'set ADMIN_TOKEN, or DATA_DIR to that of the service.';
    throw new CommandError(`No operator's token (${file} is not readable): ${advice}`, EXIT.notSignedIn, { cause });
  }
}
