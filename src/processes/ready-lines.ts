import path from 'node:path';
import { type Config, dataPaths } from '../config/settings.ts';
import type { Programs } from '../db/embedded/programs.ts';
import { VERSION } from '../platform/installation.ts';
import type { Part } from '../rules/network/connection-share.ts';

/**
 * What whoever started the service at a terminal wants to know when it is ready: six lines.
 * @param about  the address of the console, and the engines, as the roles report them; absent where the node has no
 *               such role
 * @param programs  of the embedded database; absent: DATABASE_URL names another one
 */
export function readyLines(config: Config, about: Partial<Record<Part, string>>, programs?: Programs): string {
  const { adminToken } = config;
  const engine = about.transcriber ?? 'none on this node';
  const tokenPlace = adminToken === null ? path.resolve(dataPaths(config.dataDir).adminToken) : 'as set in ADMIN_TOKEN';
  const database = programs ? `PostgreSQL ${programs.version}, embedded (${programs.bin})` : 'as set in DATABASE_URL';
  return [
    `Verbatim ${VERSION} is ready.`,
    `  console      ${about.http ?? 'none on this node'}`,
    `  engine       ${engine}`,
    `  database     ${database}`,
    `  admin token  ${tokenPlace}`,
    '  Ctrl-C stops the service.\n',
  ].join('\n');
}
