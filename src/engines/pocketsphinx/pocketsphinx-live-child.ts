import { serveLive } from '../live/child-serve-live.ts';
import type { PocketsphinxFiles } from './pocketsphinx-files.ts';

// The process that pocketsphinx-live.ts starts.
await serveLive<PocketsphinxFiles>(async (files) => {
  // Imported here, so that a missing native library becomes the answer to the parent.
  const { openLiveDecoders } = await import('./live-decoder.ts');
  return openLiveDecoders(files);
});
