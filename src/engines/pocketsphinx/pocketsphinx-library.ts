import koffi from 'koffi';
import type { Pcm } from '../engine.ts';
import { decoderArguments, type PocketsphinxFiles } from './pocketsphinx-files.ts';
import type { PathEntry } from './pocketsphinx-words.ts';

const FRAMES_PER_SECOND = 100;
const YES = 1;
const NO = 0;

/**
 * A decoder in this process, through the C library. The model is loaded once; one piece is decoded at a time.
 * @throws Error  when the library or the model cannot be loaded
 */
export function openLibraryDecoder(files: PocketsphinxFiles): (piece: Pcm) => Promise<PathEntry[]> {
  const sphinx = declareFunctions(files.library);
  const decoder = openDecoder(sphinx, files);
  const logarithms: unknown = sphinx.getLogmath(decoder);

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
    return readBestPath(sphinx, decoder, logarithms);
  };
}

type Sphinx = ReturnType<typeof declareFunctions>;

function declareFunctions(library: { pocketsphinx: string; base: string }) {
  const base = koffi.load(library.base);
  const sphinx = koffi.load(library.pocketsphinx);
  return {
    argumentTable: sphinx.func('void *ps_args()'),
    parseArguments: base.func('void *cmd_ln_parse_r(void *, void *, int, const char **, int)'),
    init: sphinx.func('void *ps_init(void *)'),
    startStream: sphinx.func('int ps_start_stream(void *)'),
    startUtterance: sphinx.func('int ps_start_utt(void *)'),
    processRaw: sphinx.func('int ps_process_raw(void *, const int16_t *, size_t, int, int)'),
    endUtterance: sphinx.func('int ps_end_utt(void *)'),
    firstEntry: sphinx.func('void *ps_seg_iter(void *)'),
    nextEntry: sphinx.func('void *ps_seg_next(void *)'),
    entryWord: sphinx.func('const char *ps_seg_word(void *)'),
    entryFrames: sphinx.func('void ps_seg_frames(void *, _Out_ int *, _Out_ int *)'),
    entryProbability: sphinx.func('int ps_seg_prob(void *, void *, void *, void *)'),
    getLogmath: sphinx.func('void *ps_get_logmath(void *)'),
    exponential: base.func('double logmath_exp(void *, int)'),
  };
}

function openDecoder(sphinx: Sphinx, files: PocketsphinxFiles): unknown {
  // The first argument is the name of the program, as in C's main.
  const args = ['pocketsphinx', ...decoderArguments(files)];
  const settings: unknown = sphinx.parseArguments(null, sphinx.argumentTable(), args.length, args, YES);
  if (settings === null) throw new Error('cmd_ln_parse_r refused the settings');
  const decoder: unknown = sphinx.init(settings);
  if (decoder === null) throw new Error('ps_init could not load the model');
  return decoder;
}

function readBestPath(sphinx: Sphinx, decoder: unknown, logarithms: unknown): PathEntry[] {
  const entries: PathEntry[] = [];
  for (let at: unknown = sphinx.firstEntry(decoder); at !== null; at = sphinx.nextEntry(at)) {
    const [first, last] = [[0], [0]];
    sphinx.entryFrames(at, first, last);
    entries.push({
      entry: sphinx.entryWord(at),
      startSeconds: first[0]! / FRAMES_PER_SECOND,
      endSeconds: (last[0]! + 1) / FRAMES_PER_SECOND,
      confidence: sphinx.exponential(logarithms, sphinx.entryProbability(at, null, null, null)),
    });
  }
  return entries;
}
