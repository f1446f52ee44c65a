import { endWithParent, serveParent } from '../process/child-serve.ts';
import { segmentWords } from '../segments.ts';
import type { PocketsphinxFiles } from './pocketsphinx-files.ts';
import { wordsOfPath } from './pocketsphinx-words.ts';

// Run as a process of its own by pocketsphinx.ts.
endWithParent();
await serveParent<PocketsphinxFiles>(async (files) => {
  // Loaded only here: on a machine without its native part, the import is what fails.
  const { openLibraryDecoder } = await import('./pocketsphinx-library.ts');
  const decode = openLibraryDecoder(files);
  return async (piece) => ({ segments: segmentWords(wordsOfPath(await decode(piece))), language: 'en' });
});
