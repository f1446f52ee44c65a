import { X } from 'lucide-react';
import { type ReactNode, useEffect, useRef } from 'react';
import { Button } from 'react-aria-components/Button';
import { Dialog, Heading } from 'react-aria-components/Dialog';
import { Modal, ModalOverlay } from 'react-aria-components/Modal';

/** See ui/dialog.tsx. Rendered while the dialog is open. */
export type DialogProps = {
  title: string;
  /** Called for Escape, the close button and a click beside the dialog. */
  onClose: () => void;
  /** `wide` for code, `drawer` at the left edge. */
  look?: 'wide' | 'narrow' | 'palette' | 'drawer';
  children: ReactNode;
};

export function AriaDialog({ title, onClose, look, children }: DialogProps) {
  return (
    <ModalOverlay className="overlay" isOpen isDismissable onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Modal className={`modal ${look ?? ''}`.trim()}>
        <Dialog className="dialog">
          <div className="head">
            <Heading slot="title" level={2}>
              {title}
            </Heading>
            <Button className="button quiet icon-only" aria-label="Close" onPress={onClose}>
              <X />
            </Button>
          </div>
          {children}
          <FirstFocus />
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}

const FIELDS = 'input:enabled, select:enabled, textarea:enabled';

/** Gives the focus to the first field, or to a button that changes nothing; at the end to the view, if it is lost. */
function FirstFocus() {
  const place = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    const dialog = place.current!.closest('.dialog')!;
    const target = dialog.querySelector<HTMLElement>(FIELDS) ?? dialog.querySelector('.actions button:not(.danger)');
    (target as HTMLElement | null)?.focus();
    // The button that opened the dialog may be gone together with it.
    return () => void requestAnimationFrame(() => requestAnimationFrame(focusViewIfLost));
  }, []);
  return <span ref={place} hidden />;
}

function focusViewIfLost(): void {
  if (document.activeElement === document.body) document.querySelector<HTMLElement>('main h1')?.focus();
}
