import koffi from 'koffi';
import type { PathEntry } from './pocketsphinx-words.ts';

const FRAMES_PER_SECOND = 100;

/** The functions of the C library that are used. */
export type Sphinx = ReturnType<typeof declareFunctions>;

/** @throws Error  when the library cannot be loaded */
export function declareFunctions(library: { pocketsphinx: string; base: string }) {
  const base = koffi.load(library.base);
  const sphinx = koffi.load(library.pocketsphinx);
  return {
    argumentTable: sphinx.func('void *ps_args()'),
    parseArguments: base.func('void *cmd_ln_parse_r(void *, void *, int, const char **, int)'),
    init: sphinx.func('void *ps_init(void *)'),
    startStream: sphinx.func('int ps_start_stream(void *)'),
    startUtterance: sphinx.func('int ps_start_utt(void *)'),
    processRaw: sphinx.func('int ps_process_raw(void *, const int16_t *, size_t, int, int)'),
    processCepstra: sphinx.func('int ps_process_cep(void *, void *, int, int, int)'),
    endUtterance: sphinx.func('int ps_end_utt(void *)'),
    frontEnd: sphinx.func('void *ps_get_fe(void *)'),
    cepstrumSize: base.func('int fe_get_output_size(void *)'),
    makeCepstra: base.func(
      'int fe_process_frames(void *, _Inout_ void **, _Inout_ size_t *, void *, _Inout_ int32_t *, _Out_ int32_t *)',
    ),
    endCepstra: base.func('int fe_end_utt(void *, void *, _Out_ int32_t *)'),
    firstEntry: sphinx.func('void *ps_seg_iter(void *)'),
    nextEntry: sphinx.func('void *ps_seg_next(void *)'),
    entryWord: sphinx.func('const char *ps_seg_word(void *)'),
    entryFrames: sphinx.func('void ps_seg_frames(void *, _Out_ int *, _Out_ int *)'),
    entryProbability: sphinx.func('int ps_seg_prob(void *, void *, void *, void *)'),
    getLogmath: sphinx.func('void *ps_get_logmath(void *)'),
    exponential: base.func('double logmath_exp(void *, int)'),
  };
}

/** @throws Error  when the model cannot be loaded */
export function openDecoder(sphinx: Sphinx, decoderArguments: string[]): unknown {
  // The first argument is the name of the program, as in C's main.
  // A model names settings that the library does not know.
  const args = ['pocketsphinx', ...decoderArguments];
  const settings: unknown = sphinx.parseArguments(null, sphinx.argumentTable(), args.length, args, 0);
  if (settings === null) throw new Error('cmd_ln_parse_r refused the settings');
  const decoder: unknown = sphinx.init(settings);
  if (decoder === null) throw new Error('ps_init could not load the model');
  return decoder;
}

/** The best path through what was decoded, at its end or before. */
export function readBestPath(sphinx: Sphinx, decoder: unknown): PathEntry[] {
  const logarithms: unknown = sphinx.getLogmath(decoder);
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
