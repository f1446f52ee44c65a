import { type ReactNode, useEffect, useId, useLayoutEffect, useRef } from 'react';
import { Button } from './button.tsx';

// A modal dialog on the browser's own <dialog>: its first field has the focus, or else a button that changes nothing;
// Escape closes it, the rest of the page is inert, and the focus returns to where it was.
//
//   <Dialog isOpen={isOpen} title="New key" onClose={() => setOpen(false)}>…</Dialog>

export function Dialog({
  isOpen,
  title,
  onClose,
  className = '',
  children,
}: {
  isOpen: boolean;
  title: string;
  /** Called for Escape, the close button and a click beside the dialog. */
  onClose: () => void;
  className?: string;
  /** Rendered while the dialog is open only. */
  children: ReactNode;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useEffect(() => {
    const element = dialog.current!;
    if (isOpen && !element.open) {
      element.showModal();
      // The browser chooses the button that closes the dialog, as it comes first.
      const field = element.querySelector<HTMLElement>('input:enabled, select:enabled, textarea:enabled');
      (field ?? element.querySelector<HTMLElement>('.actions button:not(.danger)'))?.focus();
    }
    if (!isOpen && element.open) element.close();
  }, [isOpen]);
  useLayoutEffect(() => {
    const element = dialog.current!;
    return () => {
      if (!element.open) return;
      element.close();
      queueMicrotask(focusViewIfLost);
    };
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape does the same as a click beside the dialog.
    <dialog
      ref={dialog}
      className={className}
      aria-labelledby={titleId}
      // A dialog that was opened again since is not meant.
      onClose={() => isOpen && !dialog.current?.open && onClose()}
      onClick={(event) => event.target === dialog.current && onClose()}
    >
      {isOpen && (
        <div className="dialog-body">
          <div className="head">
            <h2 id={titleId}>{title}</h2>
            <Button look="quiet" aria-label="Close" onClick={onClose}>
              ✕
            </Button>
          </div>
          {children}
        </div>
      )}
    </dialog>
  );
}

/** For a dialog that is removed together with the button that opened it. */
function focusViewIfLost(): void {
  if (document.activeElement === document.body) document.querySelector<HTMLElement>('main h1')?.focus();
}
