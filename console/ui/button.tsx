import type { ComponentProps } from 'react';

type Look = 'plain' | 'primary' | 'danger' | 'quiet';
/** A button's attributes, and how it looks. */
export type ButtonProps = ComponentProps<'button'> & { look?: Look };

export function Button({ look = 'plain', className = '', ...rest }: ButtonProps) {
  return <button type="button" className={`button ${look} ${className}`.trim()} {...rest} />;
}
