import type { ReactNode } from 'react';
import { Button } from 'react-aria-components/Button';
import { Tooltip, TooltipTrigger } from 'react-aria-components/Tooltip';

const DELAY_MS = 400;

/** A button that is an icon, with its name beside it on hover and focus. */
export function AriaTooltip({
  label,
  className,
  onPress,
  hasFocus,
  children,
}: {
  label: string;
  className: string;
  onPress: () => void;
  /** From the start. */
  hasFocus: boolean;
  children: ReactNode;
}) {
  return (
    <TooltipTrigger delay={DELAY_MS}>
      <Button className={className} aria-label={label} onPress={onPress} autoFocus={hasFocus}>
        {children}
      </Button>
      <Tooltip className="tooltip" offset={6}>
        {label}
      </Tooltip>
    </TooltipTrigger>
  );
}
