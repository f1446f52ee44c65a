import { Suspense, useState } from 'react';
import type { MenuProps } from '../aria/aria-menu.tsx';
import { lazyPart, loadParts } from '../aria/load-parts.ts';

// A button that opens a menu.
//
//   <MenuButton groups={[{ entries: [{ key: 'out', label: 'Sign out', act: signOut }] }]}>Account</MenuButton>
//   Entries with `isChosen` are a choice of one.

const AriaMenu = lazyPart(({ AriaMenu }) => AriaMenu);

export function MenuButton(props: Omit<MenuProps, 'isOpen' | 'onOpenChange'>) {
  const [isOpen, setOpen] = useState(false);
  const { label, className = 'button', children } = props;
  // Until the menu is loaded, the same button: what is pressed meanwhile opens it then.
  const waiting = (
    <button
      type="button"
      className={className}
      aria-label={label}
      aria-haspopup="menu"
      aria-expanded="false"
      onPointerEnter={loadParts}
      onClick={() => setOpen(true)}
    >
      {children}
    </button>
  );
  return (
    <Suspense fallback={waiting}>
      <AriaMenu {...props} className={className} isOpen={isOpen} onOpenChange={setOpen} />
    </Suspense>
  );
}
