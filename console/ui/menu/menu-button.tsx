import { useState } from 'react';
import type { MenuProps } from '../aria/aria-menu.tsx';
import { lazyPart, loadParts } from '../aria/load-parts.ts';
import { useWaitingButton } from './waiting-button.ts';

// A button that opens a menu.
//
//   <MenuButton groups={[{ entries: [{ key: 'out', label: 'Sign out', act: signOut }] }]}>Account</MenuButton>
//   Entries with `isChosen` are a choice of one.

const AriaMenu = lazyPart(({ AriaMenu }) => AriaMenu);

export function MenuButton(props: Omit<MenuProps, 'isOpen' | 'onOpenChange' | 'hasFocus'>) {
  const [isOpen, setOpen] = useState(false);
  const { label, className = 'button', children } = props;
  const { isWaiting, hasFocus, listeners } = useWaitingButton();
  // Until the menu is loaded, the same button: what is pressed meanwhile opens it then.
  if (isWaiting) {
    return (
      <button
        type="button"
        className={className}
        aria-label={label}
        aria-haspopup="menu"
        aria-expanded="false"
        onPointerEnter={loadParts}
        onClick={() => {
          setOpen(true);
          void loadParts();
        }}
        {...listeners}
      >
        {children}
      </button>
    );
  }
  return <AriaMenu {...props} className={className} isOpen={isOpen} onOpenChange={setOpen} hasFocus={hasFocus} />;
}
