import type { ReactNode } from 'react';
import { lazyPart } from '../aria/load-parts.ts';
import { useWaitingButton } from './waiting-button.ts';

const AriaTooltip = lazyPart(({ AriaTooltip }) => AriaTooltip);

/** A button that is an icon; its name is shown on hover and on focus. */
export function IconButton({
  label,
  onPress,
  className: own = '',
  children,
}: {
  label: string;
  onPress: () => void;
  className?: string;
  children: ReactNode;
}) {
  const className = `button quiet icon-only ${own}`.trim();
  const { isWaiting, hasFocus, listeners } = useWaitingButton();
  if (isWaiting) {
    return (
      <button type="button" className={className} aria-label={label} onClick={onPress} {...listeners}>
        {children}
      </button>
    );
  }
  return (
    <AriaTooltip label={label} className={className} onPress={onPress} hasFocus={hasFocus}>
      {children}
    </AriaTooltip>
  );
}
