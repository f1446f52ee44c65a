import path from 'node:path';
import { type Config, dataPaths } from '../config/settings.ts';
import type { Programs } from '../db/embedded/programs.ts';
import { FALLBACK_ENGINE } from '../engines/engine.ts';
import { FIRST_MODEL } from '../models/catalogue.ts';
import { VERSION } from '../platform/installation.ts';
import type { Part } from '../rules/network/connection-share.ts';

/**
 * What whoever started the service at a terminal wants to know when it is ready: six lines.
 * @param about  the address of the console, and the engines, as the roles report them; absent where the node has no
 *               such role
 * @param programs  of the embedded database; absent: DATABASE_URL names another one
 */
export function readyLines(config: Config, about: Partial<Record<Part, string>>, programs?: Programs): string {
  const { adminToken, command } = config;
  const engine = about.transcriber ?? 'none on this node';
  const isFallback = engine.split(', ').some((name) => name.startsWith(FALLBACK_ENGINE));
  const better = isFallback ? ` (basic; "${command} models pull ${FIRST_MODEL}" and a restart give a better one)` : '';
  const tokenPlace = adminToken === null ? path.resolve(dataPaths(config.dataDir).adminToken) : 'as set in ADMIN_TOKEN';
  const database = programs ? `PostgreSQL ${programs.version}, embedded (${programs.bin})` : 'as set in DATABASE_URL';
  return [
    `Verbatim ${VERSION} is ready.`,
    `  console      ${about.http ?? 'none on this node'}`,
    `  engine       ${engine}${better}`,
    `  database     ${database}`,
    `  admin token  ${tokenPlace}`,
    '  Ctrl-C stops the service.\n',
  ].join('\n');
}
