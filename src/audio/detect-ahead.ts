import os from 'node:os';
import { type Pcm, SAMPLE_RATE } from '../engines/engine.ts';
import { joinPcm } from '../engines/join-pcm.ts';
import { lookAhead } from '../platform/look-ahead.ts';
import { clipTo, type Interval } from '../rules/transcript/intervals.ts';

/** Some audio and its speech, in seconds from its start; null when nothing was detected there. */
export type DetectedAudio = { samples: Pcm; speech: Interval[] | null };

/** The intervals with speech in some audio; null when detection failed. */
export type FindSpeech = (audio: Pcm, signal: AbortSignal) => Promise<Interval[] | null>;

const BLOCK = 30 * SAMPLE_RATE;
/** Audio before a block from which the detector starts up. */
const CONTEXT = SAMPLE_RATE;
/** The number of blocks that are detected at the same time: there are no more detector processes than cores. */
const AHEAD = os.availableParallelism() + 1;

/**
 * The audio in blocks of 30 s with their speech, in order. Each second is given to the detector once, ahead of the
 * reader and several blocks at a time.
 */
export async function* detectAhead(pcm: AsyncIterable<Pcm>, findSpeech: FindSpeech): AsyncGenerator<DetectedAudio> {
  const leaving = new AbortController();
  yield* lookAhead(blocksOf(pcm), {
    ahead: AHEAD,
    abort: () => leaving.abort(),
    work: async ({ audio, contextSamples }) => {
      const found = await findSpeech(audio, leaving.signal);
      const block = { startSeconds: contextSamples / SAMPLE_RATE, endSeconds: audio.length / SAMPLE_RATE };
      return { samples: audio.subarray(contextSamples), speech: found && clipTo(block, found) };
    },
  });
}

/** A block after its context. */
type Block = { audio: Pcm; contextSamples: number };

async function* blocksOf(pcm: AsyncIterable<Pcm>): AsyncGenerator<Block> {
  let parts: Pcm[] = [];
  let heldSamples = 0;
  let contextSamples = 0;
  for await (const chunk of pcm) {
    parts.push(chunk);
    heldSamples += chunk.length;
    while (heldSamples >= contextSamples + BLOCK) {
      const held = joinPcm(parts);
      const end = contextSamples + BLOCK;
      yield { audio: held.subarray(0, end), contextSamples };
      contextSamples = CONTEXT;
      parts = [held.subarray(end - CONTEXT)];
      heldSamples -= end - CONTEXT;
    }
  }
  if (heldSamples > contextSamples) yield { audio: joinPcm(parts), contextSamples };
}
