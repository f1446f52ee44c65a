import { Suspense } from 'react';
import type { DialogProps } from './aria/aria-dialog.tsx';
import { lazyPart } from './aria/load-parts.ts';

// A modal dialog: its first field has the focus, or else a button that changes nothing; Escape closes it, the rest of
// the page is inert, and the focus returns to where it was.
//
//   <Dialog isOpen={isOpen} title="New key" onClose={() => setOpen(false)}>…</Dialog>

const AriaDialog = lazyPart(({ AriaDialog }) => AriaDialog);

/** @param isOpen  its content is rendered meanwhile only */
export function Dialog({ isOpen, ...rest }: DialogProps & { isOpen: boolean }) {
  if (!isOpen) return null;
  return (
    <Suspense>
      <AriaDialog {...rest} />
    </Suspense>
  );
}
