import type { Sql } from '../../../db/database.ts';
import { readChunks } from '../../../jobs/live/live-store.ts';
import type { JobKey } from '../../../jobs/store.ts';

/** Stored audio of a session, in order: bytes, or the length of a gap that the client left. */
export type StoredPart = { kind: 'bytes'; bytes: Uint8Array } | { kind: 'gap'; bytes: number };

/** The audio of a live session from one byte to another, read page by page. Ends early where less is stored. */
export async function* readLiveAudio(sql: Sql, key: JobKey, from: number, to: number): AsyncGenerator<StoredPart> {
  let at = from;
  while (at < to) {
    const start = at;
    for (const { startByte, length, bytes } of await readChunks(sql, key, at)) {
      const [first, end] = [Math.max(at, startByte) - startByte, Math.min(to - startByte, length)];
      if (end <= first) continue;
      at = startByte + end;
      if (bytes.length > 0) yield { kind: 'bytes', bytes: bytes.subarray(first, end) };
      else yield { kind: 'gap', bytes: end - first };
    }
    if (at === start) return;
  }
}
