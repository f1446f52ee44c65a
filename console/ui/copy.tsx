import { Copy as CopyIcon } from 'lucide-react';
import { Button } from './button.tsx';
import { say } from './toast.tsx';

// What can be taken away by copying.
//
//   <Copy text={id} />                    a button
//   <Id value={job.id} />                 an id with a button
//   <Code text={json} label="Payload" />  a block of text with a button
//   <Secret title="The new key" value={key} hint="…" />   what is shown only one time

/** Copies its text. @param what  for screen readers, in place of "Copy" */
export function Copy({ text, what, children = 'Copy' }: { text: string; what?: string; children?: string }) {
  return (
    <Button
      look="quiet"
      className="copy"
      aria-label={what ? `${children} ${what}` : undefined}
      onClick={() => void copyText(text)}
    >
      <CopyIcon />
      {children}
    </Button>
  );
}

export function Id({ value }: { value: string }) {
  return (
    <span className="id">
      <code>{value}</code>
      <Copy text={value} what={value} />
    </span>
  );
}

/** @param label  names the block, for screen readers */
export function Code({ text, label }: { text: string; label: string }) {
  return (
    <div className="code">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a block that scrolls must be reached by the keyboard. */}
      <section tabIndex={0} aria-label={label}>
        <pre>{text}</pre>
      </section>
      <Copy text={text} what={label} />
    </div>
  );
}

/** A secret that the API shows only one time. */
export function Secret({ title, value, hint }: { title: string; value: string; hint: string }) {
  return (
    <section className="notice once" aria-label={title}>
      <h3>{title}</h3>
      <p className="row">
        <code className="secret">{value}</code>
        <Copy text={value} what={title} />
      </p>
      <p>{hint}</p>
    </section>
  );
}

/** Browsers offer the clipboard to pages with https and on localhost only. */
export async function copyText(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    say('Copied.');
  } catch {
    say('The browser refused to copy: select the text and press Ctrl-C.');
  }
}
