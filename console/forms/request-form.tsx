import { type ReactNode, type SubmitEvent, useState } from 'react';
import { VerbatimError } from '#sdk/client/index.ts';
import { Button } from '../ui/button.tsx';
import { Problem } from '../ui/state.tsx';

// A form that ends in a request.
//
//   <RequestForm label="Add credits" submitLabel="Add" send={(given) =>
//   api.…(Number(given.get('amount')))}>…fields…</RequestForm>

export function RequestForm({
  label,
  submitLabel,
  look = 'primary',
  isDisabled = false,
  send,
  children,
}: {
  /** For screen readers. */
  label: string;
  submitLabel: ReactNode;
  look?: 'primary' | 'danger' | 'plain';
  isDisabled?: boolean;
  /** The request. What it throws is shown in the form, whose fields stay as they are. */
  send: (given: FormData) => Promise<unknown>;
  children?: ReactNode;
}) {
  const [state, setState] = useState<{ isBusy: boolean; error: unknown }>({ isBusy: false, error: null });
  const submit = async (given: FormData) => {
    setState({ isBusy: true, error: null });
    try {
      await send(given);
      setState({ isBusy: false, error: null });
    } catch (error) {
      setState({ isBusy: false, error });
    }
  };
  const onSubmit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (!state.isBusy) void submit(new FormData(event.currentTarget));
  };
  return (
    <form aria-label={label} onSubmit={onSubmit}>
      {children}
      {state.error !== null && <Problem error={state.error} />}
      <div className="actions">
        <Button type="submit" look={look} disabled={isDisabled} isBusy={state.isBusy}>
          {submitLabel}
        </Button>
      </div>
    </form>
  );
}

/** A text of a form; null when it is empty. */
export function textOf(given: FormData, name: string): string | null {
  const text = String(given.get(name) ?? '').trim();
  return text === '' ? null : text;
}

/** A number of a form; null when the field is empty. */
export function numberOf(given: FormData, name: string): number | null {
  const text = textOf(given, name);
  return text === null ? null : Number(text);
}

/** What the user has to change in a form before anything is sent. */
export class WrongField extends VerbatimError {}
