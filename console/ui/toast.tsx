import { Suspense } from 'react';
import { openStore, useStore } from '../session/store.ts';
import { lazyPart, loadParts } from './aria/load-parts.ts';

// Short messages at the bottom of the page, which screen readers read out.
//
//   say('Copied.')

const SHOWN_MS = 6_000;
const AriaToasts = lazyPart(({ AriaToasts }) => AriaToasts);
const isUsed = openStore(false);

/** Shows a message for 6 seconds; longer while the pointer or the focus is on it. */
export function say(text: string): void {
  isUsed.set(true);
  void loadParts().then(({ toastQueue }) => {
    const shown = toastQueue.visibleToasts.find(({ content }) => content.text === text);
    if (shown) toastQueue.close(shown.key);
    toastQueue.add({ text }, { timeout: SHOWN_MS });
  });
}

/** The place of the messages; in the layout, one time. */
export function Toasts() {
  if (!useStore(isUsed)) return null;
  return (
    <Suspense>
      <AriaToasts />
    </Suspense>
  );
}
