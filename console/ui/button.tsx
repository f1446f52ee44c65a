import type { ComponentProps } from 'react';

// A page has one primary button at most. What changes something is plain, what only shows something is quiet.

type Look = 'plain' | 'primary' | 'danger' | 'quiet';
/** A button's attributes, and how it looks. An icon is a child before the text. */
export type ButtonProps = ComponentProps<'button'> & {
  look?: Look;
  /** While a request runs: pressing does nothing. The button keeps the focus, which a disabled one would lose. */
  isBusy?: boolean;
};

export function Button({ look = 'plain', className = '', isBusy = false, onClick, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      className={`button ${look} ${className}`.trim()}
      {...rest}
      {...(isBusy && { 'aria-busy': true, 'aria-disabled': true })}
      onClick={(event) => (isBusy ? event.preventDefault() : onClick?.(event))}
    />
  );
}
