import { type ReactNode, type SubmitEvent, useState } from 'react';
import { VerbatimError } from '#sdk/client/index.ts';
import { problemOf } from '../api/problem.ts';
import { Button } from '../ui/button.tsx';
import { WrongFieldContext } from '../ui/field.tsx';
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
  isPlain = false,
  send,
  children,
}: {
  /** For screen readers. */
  label: string;
  submitLabel: ReactNode;
  look?: 'primary' | 'danger' | 'plain';
  isDisabled?: boolean;
  /** For people who need not know the API: an error is its sentence alone. */
  isPlain?: boolean;
  /** The request. What it throws is shown in the form, under the field that is wrong; the fields stay as they are. */
  send: (given: FormData) => Promise<unknown>;
  children?: ReactNode;
}) {
  const [state, setState] = useState<FormState>(IDLE);
  const submit = async (form: HTMLFormElement) => {
    setState({ ...IDLE, isBusy: true });
    try {
      await send(new FormData(form));
      setState(IDLE);
    } catch (error) {
      const wrong = wrongFieldOf(error, form);
      setState({ isBusy: false, error, wrong });
      if (wrong) form.querySelector<HTMLElement>(`[name="${wrong.name}"]`)!.focus();
    }
  };
  const onSubmit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (!state.isBusy) void submit(event.currentTarget);
  };
  return (
    <form aria-label={label} onSubmit={onSubmit}>
      <WrongFieldContext value={state.wrong}>{children}</WrongFieldContext>
      {state.error !== null && state.wrong === null && <Problem error={state.error} isPlain={isPlain} />}
      <div className="actions">
        <Button type="submit" look={look} disabled={isDisabled} isBusy={state.isBusy}>
          {submitLabel}
        </Button>
      </div>
    </form>
  );
}

type FormState = { isBusy: boolean; error: unknown; wrong: { name: string; message: string } | null };

const IDLE: FormState = { isBusy: false, error: null, wrong: null };

/** The field of the form that the API says is wrong; null where it names none. */
function wrongFieldOf(error: unknown, form: HTMLFormElement): FormState['wrong'] {
  const { param, message } = problemOf(error);
  return param !== null && /^\w+$/.test(param) && form.querySelector(`[name="${param}"]`)
    ? { name: param, message }
    : null;
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
