import { useState } from 'react';
import { type CodeRequest, curlOf, sdkOf } from '../text/request-code.ts';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { Tabs } from './tabs.tsx';
import { say } from './toast.tsx';

// What can be taken away by copying.
//
//   <Copy text={id} />                    a button
//   <Id value={job.id} />                 an id with a button
//   <Code text={json} label="Payload" />  a block of text with a button
//   <AsCode request={{ method: 'GET', path: '/v1/jobs', query: filters, sdk: 'client.jobs.list' }} />   "as curl", "as
//   code" <Secret title="The new key" value={key} hint="…" />   what is shown only one time

/** Copies its text. @param what  for screen readers, in place of "Copy" */
export function Copy({ text, what, children = 'Copy' }: { text: string; what?: string; children?: string }) {
  return (
    <Button
      look="quiet"
      className="copy"
      aria-label={what ? `${children} ${what}` : undefined}
      onClick={() => void copyText(text)}
    >
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

/** A button that shows the request behind a list or a form, as curl and as code for the SDK. The key is left out. */
export function AsCode({ request, children = 'As code' }: { request: CodeRequest; children?: string }) {
  const [isOpen, setOpen] = useState(false);
  const curl = curlOf(request, location.origin);
  const sdk = sdkOf(request, location.origin);
  return (
    <>
      <Button look="quiet" onClick={() => setOpen(true)}>
        {children}
      </Button>
      <Dialog isOpen={isOpen} title="The same request" onClose={() => setOpen(false)} className="wide">
        <Tabs
          label="Language"
          tabs={[
            { name: 'curl', label: 'curl', content: <Code text={curl} label="curl" /> },
            ...(sdk ? [{ name: 'sdk', label: 'TypeScript', content: <Code text={sdk} label="TypeScript" /> }] : []),
          ]}
        />
      </Dialog>
    </>
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
