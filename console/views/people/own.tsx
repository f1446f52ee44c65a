import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Me } from '#sdk/wire.ts';
import { people } from '../../api/people.ts';
import { RequestForm } from '../../forms/request-form.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { Facts } from '../../ui/page.tsx';
import { say } from '../../ui/toast.tsx';

/** Who one is, and how one signs in. */
export function Own({ own }: { own: Me }) {
  const client = useQueryClient();
  const [opened, setOpened] = useState<'name' | 'password' | null>(null);
  const change = async (given: FormData, done: string) => {
    await people.changeMe(Object.fromEntries(given));
    await Promise.all(['me', 'users'].map((name) => client.invalidateQueries({ queryKey: [name] })));
    setOpened(null);
    say(done);
  };
  return (
    <>
      <Facts
        rows={[
          ['Name', own.name],
          ['Email', own.email],
          ['Role', own.operator ? `${own.role}, operator of the service` : own.role],
        ]}
      />
      <div className="actions">
        <Button onClick={() => setOpened('name')}>Change the name</Button>
        {own.has_password && <Button onClick={() => setOpened('password')}>Change the password</Button>}
      </div>
      <Dialog isOpen={opened === 'name'} title="Your name" onClose={() => setOpened(null)}>
        <RequestForm
          isPlain
          label="Your name"
          submitLabel="Save"
          send={(given) => change(given, 'Your name is changed.')}
        >
          <TextField label="Name" name="name" defaultValue={own.name} maxLength={200} required autoComplete="name" />
        </RequestForm>
      </Dialog>
      <Dialog isOpen={opened === 'password'} title="Your password" onClose={() => setOpened(null)}>
        <RequestForm
          isPlain
          label="Your password"
          submitLabel="Save"
          send={(given) => change(given, 'Your password is changed; other sessions have ended.')}
        >
          <TextField
            label="Current password"
            name="current_password"
            type="password"
            autoComplete="current-password"
            required
          />
          <TextField
            label="New password"
            name="password"
            type="password"
            autoComplete="new-password"
            minLength={12}
            maxLength={200}
            required
            hint="At least 12 characters. Your other sessions end."
          />
        </RequestForm>
      </Dialog>
    </>
  );
}
