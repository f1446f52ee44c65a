import type { OwnAccount } from '#sdk/api.ts';
import { CheckField } from '../ui/field.tsx';

type Scope = OwnAccount['scopes'][number];

const SCOPES: Record<Scope, string> = {
  'jobs:read': 'Read jobs and transcripts',
  'jobs:write': 'Transcribe, change and erase jobs',
  'webhooks:read': 'Read webhooks, events and deliveries',
  'webhooks:write': 'Change webhooks, send events again',
  'usage:read': 'Read balance, ledger and usage',
  'keys:write': 'List, create and delete keys',
};

/** What a key may do, as boxes. */
export function ScopeFields({ hint }: { hint: string }) {
  return (
    <fieldset>
      <legend>Scopes</legend>
      <small>{hint}</small>
      {Object.entries(SCOPES).map(([scope, meaning]) => (
        <CheckField key={scope} name="scopes" value={scope} label={scope} hint={meaning} />
      ))}
    </fieldset>
  );
}

/** The chosen ones. */
export function scopesOf(given: FormData): Scope[] {
  return given.getAll('scopes') as Scope[];
}
