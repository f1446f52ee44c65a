import type { Pcm } from '../engine.ts';
import { decoderArguments, type PocketsphinxFiles } from './pocketsphinx-files.ts';
import type { PathEntry } from './pocketsphinx-words.ts';
import { declareFunctions, openDecoder, readBestPath } from './sphinx-functions.ts';

const YES = 1;
const NO = 0;

/**
 * A decoder in this process, through the C library. The model is loaded once; one piece is decoded at a time.
 * @throws Error  when the library or the model cannot be loaded
 */
export function openLibraryDecoder(files: PocketsphinxFiles): (piece: Pcm) => Promise<PathEntry[]> {
  const sphinx = declareFunctions(files.library);
  const decoder = openDecoder(sphinx, decoderArguments(files));

  return async (piece) => {
    // A new stream resets the noise estimate. Without it, the same piece got other times when it was decoded again.
    sphinx.startStream(decoder);
    sphinx.startUtterance(decoder);
    const processed = await new Promise<number>((resolve, reject) => {
      // On another thread, so that this one can react to the end of the parent.
      sphinx.processRaw.async(decoder, piece, piece.length, NO, YES, (error: unknown, frames: number) => {
        if (error) reject(error);
        else resolve(frames);
      });
    });
    sphinx.endUtterance(decoder);
    if (processed < 0) throw new Error('ps_process_raw failed');
    return readBestPath(sphinx, decoder);
  };
}
