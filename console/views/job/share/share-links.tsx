import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import type { NewShare, Share } from '#sdk/wire.ts';
import { api } from '../../../api/client.ts';
import { ActionButton, useAction } from '../../../ui/action-button.tsx';
import { Button } from '../../../ui/button.tsx';
import { Secret } from '../../../ui/copy.tsx';
import { SelectField } from '../../../ui/field.tsx';
import { Problem, Query } from '../../../ui/state.tsx';
import { Time } from '../../../ui/time.tsx';
import { say } from '../../../ui/toast.tsx';

const LIFETIMES = [
  ['3600', 'in 1 hour'],
  ['86400', 'in 1 day'],
  ['604800', 'in 7 days'],
  ['2592000', 'in 30 days'],
] as const;
const USUAL_SECONDS = '604800';

/** Makes links to the transcript of a job; lists those that have not ended, and ends them. */
export function ShareLinks({ id }: { id: string }) {
  const client = useQueryClient();
  const [seconds, setSeconds] = useState<string>(USUAL_SECONDS);
  const [made, setMade] = useState<NewShare | null>(null);
  const form = useRef<HTMLFormElement>(null);
  const queryKey = ['job', id, 'shares'];
  // Asked for whenever the dialog opens: strangers open links.
  const links = useQuery({ queryKey, queryFn: ({ signal }) => api.jobs.shares(id, { signal }), staleTime: 0 });
  const { isBusy, error, run } = useAction(async () => {
    setMade(await api.jobs.share(id, { expires_in: Number(seconds) }));
    await client.invalidateQueries({ queryKey });
  });
  const end = async (share: Share) => {
    await api.jobs.endShare(id, share.id);
    say('The link has ended.');
    if (made?.id === share.id) setMade(null);
    await client.invalidateQueries({ queryKey });
    // The button that was pressed is gone.
    form.current?.querySelector('select')?.focus();
  };
  return (
    <>
      <p>
        Whoever has the link reads this transcript with its edits, and nothing else of the account. It needs no sign-in.
      </p>
      <form
        ref={form}
        onSubmit={(event) => {
          event.preventDefault();
          run();
        }}
      >
        <SelectField
          label="The link ends"
          options={LIFETIMES}
          value={seconds}
          onChange={(event) => setSeconds(event.target.value)}
        />
        {error !== null && <Problem error={error} />}
        <Button type="submit" look="primary" isBusy={isBusy}>
          Create a link
        </Button>
      </form>
      {made && (
        <Secret
          title="The new link"
          value={new URL(made.url, location.href).href}
          hint="Copy it now: it is not shown again."
        />
      )}
      <section aria-label="Links that have not ended">
        <h3>Links</h3>
        <Query of={links}>
          {(shown) =>
            shown.length === 0 ? (
              <p>No link has been made, or all have ended.</p>
            ) : (
              <ul className="share-links">
                {shown.map((share) => (
                  <li key={share.id}>
                    <ShareLink share={share} />
                    <ActionButton look="danger" aria-describedby={share.id} act={() => end(share)}>
                      End
                    </ActionButton>
                  </li>
                ))}
              </ul>
            )
          }
        </Query>
      </section>
    </>
  );
}

function ShareLink({ share: { id, created_at, expires_at, opened_count, last_opened_at } }: { share: Share }) {
  return (
    <span id={id}>
      Made <Time at={created_at} />, ends <Time at={expires_at} />
      <small>{opened_count === 0 ? 'Not opened yet' : <Opened count={opened_count} at={last_opened_at} />}</small>
    </span>
  );
}

function Opened({ count, at }: { count: number; at: string | null }) {
  return (
    <>
      Opened {count === 1 ? 'once' : `${count} times`}, {count > 1 && 'last '}
      <Time at={at} />
    </>
  );
}
