import { type ReactNode, Suspense } from 'react';
import { lazyPart } from '../aria/load-parts.ts';

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
  const waiting = (
    <button type="button" className={className} aria-label={label} onClick={onPress}>
      {children}
    </button>
  );
  return (
    <Suspense fallback={waiting}>
      <AriaTooltip label={label} className={className} onPress={onPress}>
        {children}
      </AriaTooltip>
    </Suspense>
  );
}
