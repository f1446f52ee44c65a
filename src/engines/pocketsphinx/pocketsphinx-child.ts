import { endWithParent, serveParent } from '../process/child-serve.ts';
import { segmentWords } from '../segments.ts';
import type { PocketsphinxFiles } from './pocketsphinx-files.ts';
import { wordsOfPath } from './pocketsphinx-words.ts';

// The process that pocketsphinx.ts starts.
endWithParent();
await serveParent<PocketsphinxFiles>(async (files) => {
  // Imported here, so that a missing native library becomes the answer to the parent.
  const { openLibraryDecoder } = await import('./pocketsphinx-library.ts');
  const decode = openLibraryDecoder(files);
  return async (piece) => ({ segments: segmentWords(wordsOfPath(await decode(piece))), language: 'en' });
});
