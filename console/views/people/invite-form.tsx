import type { NewInvitation } from '#sdk/wire.ts';
import { people, type Role } from '../../api/people.ts';
import { RequestForm, textOf } from '../../forms/request-form.tsx';
import { SelectField, TextField } from '../../ui/field.tsx';
import { ROLE_HINT, ROLES } from './roles.ts';

/** @param onMade  gets the invitation, with the link that is shown only now */
export function InviteForm({ onMade }: { onMade: (invitation: NewInvitation) => Promise<void> }) {
  const send = async (given: FormData) => {
    const email = textOf(given, 'email');
    await onMade(await people.invite({ role: given.get('role') as Role, ...(email && { email }) }));
  };
  return (
    <RequestForm isPlain label="Invite" submitLabel="Create a link" send={send}>
      <SelectField label="Role" name="role" options={ROLES} defaultValue="member" hint={ROLE_HINT} />
      <TextField
        label="Email"
        name="email"
        type="email"
        autoComplete="off"
        hint="Only this address can use the link. Empty: anyone with the link. No email is sent."
      />
    </RequestForm>
  );
}
