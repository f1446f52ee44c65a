import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Sql } from '../../db/database.ts';
import { sumShards } from '../../db/statements/batched-delete.ts';
import { wordsOfChunk } from '../../rules/search/chunks.ts';
import { languageOf } from '../../rules/search/tags.ts';
import { type OldChunk, readOldChunks, updateWords } from './chunk-store.ts';
import { stemOf } from './stemmers.ts';

/** A chunk of five minutes takes 1 ms of the event loop, and 40 KB of memory. */
const CHUNKS_AT_ONCE = 50;

/**
 * Makes the words anew of all chunks that an earlier release indexed: its words had other forms. Returns how many.
 * The next pass goes on when the signal aborts.
 */
export async function reindexChunks(db: Sql, signal?: AbortSignal): Promise<number> {
  return await sumShards(async (shard) => {
    let done = 0;
    for (let batch = CHUNKS_AT_ONCE; batch === CHUNKS_AT_ONCE && !signal?.aborted; done += batch) {
      const chunks = await readOldChunks(db, { shard, limit: CHUNKS_AT_ONCE });
      batch = chunks.length;
      if (batch > 0) await updateWords(db, shard, await withNewWords(chunks));
    }
    return done;
  }, signal);
}

async function withNewWords(chunks: OldChunk[]) {
  const renewed = [];
  for (const { jobId, number, segments, tags } of chunks) {
    renewed.push({ jobId, number, words: wordsOfChunk(segments, { tags, language: languageOf(tags), stem: stemOf }) });
    await nextTurn();
  }
  return renewed;
}
