import type { ReactNode } from 'react';
import { Page, Section } from '../../ui/page.tsx';
import { KeyForm } from './key-form.tsx';

/** The way of whoever has a key or the operator's token, behind the people's way. @param isOpen  nobody can use that */
export function WithKey({ isOpen = false }: { isOpen?: boolean }) {
  return (
    <details
      className="with-key"
      open={isOpen}
      onToggle={(event) => event.currentTarget.querySelector('input')?.focus()}
    >
      <summary>Sign in with an API key</summary>
      <Section>
        <KeyForm />
      </Section>
    </details>
  );
}

/** A view in the middle of the page. */
export function Centred({ title, text, children }: { title: string; text?: ReactNode; children: ReactNode }) {
  return (
    <div className="centred">
      <Page title={title}>
        {text && <p>{text}</p>}
        {children}
      </Page>
    </div>
  );
}
