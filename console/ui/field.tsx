import { type ComponentProps, createContext, type ReactNode, use, useId } from 'react';

// Form fields: a label, a control, a hint and an error that screen readers connect with the control.
//
//   <TextField label="Name" name="name" hint="…" error={…} />      also type="url", "password", "number",
//   "datetime-local" <TextArea label="Metadata" name="metadata" rows={3} />
//   <SelectField label="Plan" name="plan" options={[['pro', 'Pro'], …]} />
//   <CheckField label="Speakers" name="diarize" />

/** Of the form around: the field that the answer to its request found wrong, and the sentence that stands under it. */
export const WrongFieldContext = createContext<{ name: string; message: string } | null>(null);

type Labelled = { label: ReactNode; hint?: ReactNode; error?: ReactNode };

export function TextField({ label, hint, error, ...rest }: Labelled & ComponentProps<'input'>) {
  const { ids, frame } = useFrame({ label, hint, error }, rest.name);
  return frame(<input {...ids} {...rest} />);
}

export function TextArea({ label, hint, error, ...rest }: Labelled & ComponentProps<'textarea'>) {
  const { ids, frame } = useFrame({ label, hint, error }, rest.name);
  return frame(<textarea {...ids} spellCheck={false} {...rest} />);
}

export function SelectField({
  label,
  hint,
  error,
  options,
  ...rest
}: Labelled & ComponentProps<'select'> & { options: readonly (readonly [value: string, label: string])[] }) {
  const { ids, frame } = useFrame({ label, hint, error }, rest.name);
  return frame(
    <select {...ids} {...rest}>
      {options.map(([value, text]) => (
        <option key={value} value={value}>
          {text}
        </option>
      ))}
    </select>,
  );
}

export function CheckField({ label, hint, ...rest }: Omit<Labelled, 'error'> & ComponentProps<'input'>) {
  const id = useId();
  return (
    <div className="check">
      <input type="checkbox" id={id} aria-describedby={hint ? `${id}-hint` : undefined} {...rest} />
      <div>
        <label htmlFor={id}>{label}</label>
        {hint && <small id={`${id}-hint`}>{hint}</small>}
      </div>
    </div>
  );
}

function useFrame({ label, hint, error: ownError }: Labelled, name: string | undefined) {
  const id = useId();
  const wrong = use(WrongFieldContext);
  const answered = wrong !== null && wrong.name === name ? wrong.message : null;
  const error = ownError ?? answered;
  const described = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ');
  const ids = { id, 'aria-describedby': described || undefined, 'aria-invalid': error ? true : undefined };
  const frame = (control: ReactNode) => (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {control}
      {hint && <small id={`${id}-hint`}>{hint}</small>}
      {error && (
        <small id={`${id}-error`} className="wrong" role={answered ? 'alert' : undefined}>
          {error}
        </small>
      )}
    </div>
  );
  return { ids, frame };
}
