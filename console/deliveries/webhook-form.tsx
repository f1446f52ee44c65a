import { useState } from 'react';
import type { Webhook } from '#sdk/api.ts';
import { EVENT_TYPES } from '../event-types.ts';
import { numberOf, RequestForm, textOf, WrongField } from '../forms/request-form.tsx';
import { CheckField, SelectField, TextArea, TextField } from '../ui/field.tsx';
import { readHeaderLines } from './header-lines.ts';
import type { WebhookFields } from './webhook-fields.ts';

const HEADER_CHOICES = [
  ['keep', 'Keep'],
  ['replace', 'Replace all'],
  ['remove', 'Remove'],
] as const;

/** The fields of a webhook. @param webhook  absent: a new one */
export function WebhookForm({
  webhook,
  submitLabel,
  save,
}: {
  webhook?: Webhook;
  submitLabel: string;
  save: (fields: WebhookFields) => Promise<unknown>;
}) {
  const events = webhook?.events ?? ['transcription.completed', 'transcription.failed'];
  return (
    <RequestForm
      label={webhook ? 'Change the webhook' : 'New webhook'}
      submitLabel={submitLabel}
      send={async (given) => save(readFields(given))}
    >
      <TextField
        label="URL"
        name="url"
        type="url"
        required
        maxLength={2048}
        defaultValue={webhook?.url}
        placeholder="https://hooks.example.com/verbatim"
        hint="HTTPS on port 443, at a public address."
      />
      <fieldset>
        <legend>Event types</legend>
        {EVENT_TYPES.map((type) => (
          <CheckField
            key={type}
            label={type}
            name="events"
            value={type}
            defaultChecked={events.includes(type as never)}
          />
        ))}
      </fieldset>
      <TextField label="Description" name="description" maxLength={500} defaultValue={webhook?.description ?? ''} />
      <TextField
        label="Attempts per second"
        name="max_per_second"
        type="number"
        min={1}
        max={1000}
        defaultValue={webhook?.max_per_second ?? ''}
        hint="Further attempts wait. Empty: no limit."
      />
      <OwnHeaders names={webhook?.headers ?? []} />
    </RequestForm>
  );
}

/** The values of the headers that are stored are never shown: a change replaces all of them. */
function OwnHeaders({ names }: { names: readonly string[] }) {
  const [choice, setChoice] = useState<string>(names.length > 0 ? 'keep' : 'replace');
  return (
    <fieldset>
      <legend>Custom headers</legend>
      {names.length > 0 && (
        <SelectField
          label={`Stored: ${names.join(', ')}`}
          name="headers_choice"
          options={HEADER_CHOICES}
          value={choice}
          onChange={(event) => setChoice(event.target.value)}
          hint="The values are encrypted and never shown. A new host in the URL needs them again."
        />
      )}
      {choice === 'replace' && (
        <TextArea
          label="Headers"
          name="headers"
          rows={3}
          autoComplete="off"
          placeholder="Authorization: Bearer …"
          hint="One per line, as Name: value; at most 10. For example the token of your gateway."
        />
      )}
    </fieldset>
  );
}

/** @throws WrongField */
function readFields(given: FormData): WebhookFields {
  const events = given.getAll('events') as Webhook['events'];
  if (events.length === 0) throw new WrongField('Choose at least one event type.');
  const choice = given.get('headers_choice') ?? 'replace';
  const headers = readHeaderLines(String(given.get('headers') ?? ''));
  if (typeof headers === 'string') throw new WrongField(headers);
  return {
    url: String(given.get('url')),
    events,
    description: textOf(given, 'description'),
    max_per_second: numberOf(given, 'max_per_second'),
    ...(choice === 'replace' && { headers: Object.keys(headers).length === 0 ? null : headers }),
    ...(choice === 'remove' && { headers: null }),
  };
}
