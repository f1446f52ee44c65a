import { useRef } from 'react';
import type { NewKey, OwnAccount } from '#sdk/wire.ts';
import { api } from '../../api/client.ts';
import { useAccount } from '../../api/queries.ts';
import { useAction } from '../../ui/action-button.tsx';
import { Button } from '../../ui/button.tsx';
import { CheckField, SelectField, TextField } from '../../ui/field.tsx';
import { Problem } from '../../ui/state.tsx';

type Scope = OwnAccount['scopes'][number];

const MEANINGS: Record<Scope, string> = {
  'jobs:read': 'read jobs, transcripts and stored audio',
  'jobs:write': 'transcribe; retry, cancel and erase jobs; edit and share transcripts',
  'webhooks:read': 'read webhooks, events and the delivery log',
  'webhooks:write': 'create, change, test and delete webhooks; send events again',
  'usage:read': 'read the balance, the ledger and the usage',
  'keys:write': 'list, create and revoke keys',
};
const LIFETIMES = [
  ['', 'never'],
  ['1', 'in 1 day'],
  ['7', 'in 7 days'],
  ['30', 'in 30 days'],
  ['90', 'in 90 days'],
  ['365', 'in 1 year'],
] as const;
const DAY_MS = 86_400_000;

/** The form of a new key. @param onMade  gets the key, with the secret that is shown only now */
export function NewKeyForm({ onMade }: { onMade: (key: NewKey) => Promise<void> }) {
  const form = useRef<HTMLFormElement>(null);
  // A key cannot give away more than it has.
  const grantable = useAccount().data?.scopes ?? [];
  const { isBusy, error, run } = useAction(async () => {
    const given = new FormData(form.current!);
    const name = String(given.get('name')).trim();
    const days = Number(given.get('days'));
    await onMade(
      await api.keys.create({
        scopes: given.getAll('scopes') as Scope[],
        ...(name && { name }),
        ...(days > 0 && { expires_at: new Date(Date.now() + days * DAY_MS).toISOString() }),
      }),
    );
  });
  return (
    <form
      ref={form}
      onSubmit={(event) => {
        event.preventDefault();
        run();
      }}
    >
      <TextField
        label="Name"
        name="name"
        maxLength={200}
        autoComplete="off"
        hint="Where it is used, such as “website”."
      />
      <fieldset>
        <legend>Scopes</legend>
        <p>
          <small>None chosen: all.</small>
        </p>
        {grantable.map((scope) => (
          <CheckField key={scope} label={scope} hint={MEANINGS[scope]} name="scopes" value={scope} />
        ))}
      </fieldset>
      <SelectField label="Expires" name="days" options={LIFETIMES} />
      {error !== null && <Problem error={error} />}
      <Button type="submit" look="primary" isBusy={isBusy}>
        Create
      </Button>
    </form>
  );
}
