import fs from 'node:fs';
import path from 'node:path';
import { findLibrary, findShared, type ToolPaths } from '../../platform/tools.ts';

/** Paths of the American English model and of the library. */
export type PocketsphinxFiles = {
  acoustics: string;
  languageModel: string;
  dictionary: string;
  library: { pocketsphinx: string; base: string };
};

/** The files of the installed pocketsphinx; null when one is missing. */
export function findPocketsphinx(tools: ToolPaths): PocketsphinxFiles | null {
  const model = findShared(tools, 'pocketsphinx/model/en-us');
  const [pocketsphinx, base] = [libraryNamed(tools, 'pocketsphinx'), libraryNamed(tools, 'sphinxbase')];
  if (model === null || pocketsphinx === null || base === null) return null;
  const files = {
    acoustics: path.join(model, 'en-us'),
    languageModel: path.join(model, 'en-us.lm.bin'),
    dictionary: path.join(model, 'cmudict-en-us.dict'),
  };
  const isComplete = Object.values(files).every((file) => fs.existsSync(file));
  return isComplete ? { ...files, library: { pocketsphinx, base } } : null;
}

/** The command line arguments of a decoder. */
export function decoderArguments({ acoustics, languageModel, dictionary }: PocketsphinxFiles): string[] {
  return [
    ...['-hmm', acoustics, '-lm', languageModel, '-dict', dictionary, '-logfn', '/dev/null'],
    // By default the decoder removes silence and does not count it in its times: the times of a word after a pause of 8
    // s were 8 s too early. Word errors on seven clips: 37 of 108 with this option, 35 without it.
    ...['-remove_silence', 'no'],
  ];
}

function libraryNamed(tools: ToolPaths, name: string): string | null {
  return findLibrary(tools, [`lib${name}.so.3`, `lib${name}.3.dylib`]);
}
