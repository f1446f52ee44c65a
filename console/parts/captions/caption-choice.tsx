import { useId } from 'react';
import { CheckField, TextField } from '../../ui/field.tsx';
import { type CaptionForm, FIELDS, isPlain, NO_SHAPE, USUAL_SHAPE } from './caption-form.ts';

const SHAPES = [
  ['broadcast', 'Broadcast', 'Two lines of 42 characters, up to 7 s. For players, television and social video.'],
  ['plain', 'Plain', 'One caption for each segment, as long as it is. For editing and subtitling tools.'],
] as const;

/** How captions are shaped: one of two ways; the numbers behind the first are shown on demand. */
export function CaptionChoice({
  form,
  onChange,
  hasNames,
}: {
  form: CaptionForm;
  onChange: (change: Partial<CaptionForm>) => void;
  /** Whether there may be speakers or channels, whose names captions can have. */
  hasNames: boolean;
}) {
  const group = useId();
  const shape = isPlain(form) ? 'plain' : 'broadcast';
  const { format, hasNames: _, ...noNumbers } = NO_SHAPE;
  return (
    <>
      <fieldset className="choices">
        <legend>Captions</legend>
        {SHAPES.map(([name, label, hint]) => (
          <label key={name} className="choice">
            <input
              type="radio"
              name={group}
              checked={shape === name}
              onChange={() => onChange(name === 'plain' ? noNumbers : USUAL_SHAPE)}
            />
            <span>
              {label}
              <small>{hint}</small>
            </span>
          </label>
        ))}
      </fieldset>
      {hasNames && (
        <CheckField
          label="Names of speakers and channels"
          checked={form.hasNames}
          onChange={(event) => onChange({ hasNames: event.target.checked })}
        />
      )}
      {shape === 'broadcast' && (
        <details>
          <summary>More</summary>
          <div className="columns">
            {FIELDS.map(({ name, label, usual, ...limits }) => (
              <TextField
                key={name}
                {...limits}
                {...{ label, name }}
                type="number"
                placeholder={String(usual)}
                value={form[name]}
                onChange={(event) => onChange({ [name]: event.target.value })}
              />
            ))}
          </div>
        </details>
      )}
    </>
  );
}
