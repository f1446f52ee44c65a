import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { Sql } from '../../db/database.ts';
import { UnusableDatabaseError } from '../../db/unusable-database-error.ts';
import { findStorageId, saveStorageId } from './identity-store.ts';
import type { SharedStorage } from './storage.ts';

/** Where the storage is, for messages, and where the node notes with which storage it worked. */
type Place = { name: string; noteFile: string };

/**
 * The id of the audio storage, which database and storage hold. Both get it at the first start. Null while a new
 * storage cannot be reached: it gets its id at a later start.
 * @throws UnusableDatabaseError  when the database knows another storage than that of this node
 */
export async function settleStorageId(
  sql: Sql,
  storage: Pick<SharedStorage, 'readId' | 'writeId'>,
  { name, noteFile }: Place,
): Promise<string | null> {
  const known = await findStorageId(sql);
  const found = await storage.readId().catch(() => undefined);
  // It cannot be reached: /readyz says so, and jobs wait.
  if (found === undefined) return known;
  const noted = existsSync(noteFile) ? readFileSync(noteFile, 'utf8').trim() : null;
  // A disk that is not mounted: this node worked with it before.
  if (found === null && known !== null && noted === known) return known;
  const id = known ?? (await saveStorageId(sql, found ?? randomUUID()));
  if (found === null && known === null) await storage.writeId(id);
  else if (found !== id) throw new UnusableDatabaseError(isAnother(name, id));
  if (noted !== id) writeFileSync(noteFile, `${id}\n`, { mode: 0o600 });
  return id;
}

function isAnother(name: string, id: string): string {
  return (
    `The audio storage of this node, ${name}, is not the one of the database: jobs whose audio is elsewhere would fail. ` +
    'Set the same STORAGE_URL on all nodes, or mount the same folder. ' +
    `If this is the right storage, write ${id} into a file named storage-id in it.`
  );
}
