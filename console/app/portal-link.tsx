import { useQuery } from '@tanstack/react-query';
import { clientsWith } from '../api/client.ts';
import { problemOf } from '../api/problem.ts';
import { useAccount } from '../api/queries.ts';
import { beginSession } from '../api/sign-in.ts';
import { changeSession, session } from '../session/session.ts';
import { openStore, useStore } from '../session/store.ts';
import { useAction } from '../ui/action-button.tsx';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Problem } from '../ui/state.tsx';
import { say } from '../ui/toast.tsx';

// Links that the operator makes, `#token=…`: the key in them is exchanged for a session.

/** The link that the user is asked about; `id` tells one link from the next. */
type Offer = { linkKey: string; id: number };

const offered = openStore<Offer | null>(null);
let offers = 0;

/**
 * The key of a link in the address, which is removed from it and from the history of the browser;
 * null for any other address.
 */
export function takeLink(): string | null {
  const key = /^#token=([!-~]+)$/.exec(location.hash)?.[1] ?? null;
  if (key !== null) history.replaceState(null, '', '#/');
  return key;
}

/**
 * Signs in with the key of a link; where somebody is signed in, `PortalLink` asks first.
 * @param key  null: does nothing
 */
export async function offerLink(key: string | null): Promise<void> {
  const { account, admin } = session.get();
  if (key === null) return;
  if (account !== null || admin !== null) return offered.set({ linkKey: key, id: ++offers });
  await signInWith(key).catch((error: unknown) => say(problemOf(error).message));
}

async function signInWith(key: string): Promise<void> {
  changeSession({ account: await beginSession(key), admin: null });
}

/** The question whether a link may end the session that there is. */
export function PortalLink() {
  const offer = useStore(offered);
  const close = () => offered.set(null);
  return (
    // A dialog for each link: the browser reports that a dialog has closed in a later task, and another link may be
    // open by then.
    <Dialog key={offer?.id} isOpen={offer !== null} title="Open this link?" onClose={close}>
      {offer !== null && <Question {...offer} close={close} />}
    </Dialog>
  );
}

function Question({ linkKey, id, close }: Offer & { close: () => void }) {
  const own = useAccount().data?.name;
  const link = useQuery({
    queryKey: ['portal-link', id],
    queryFn: ({ signal }) => clientsWith(linkKey).api.account({ signal }),
    gcTime: 0,
    retry: false,
  });
  const { isBusy, error, run } = useAction(async () => {
    await signInWith(linkKey);
    close();
  });
  const name = link.data?.name;
  const problem = error ?? link.error;
  return (
    <>
      <p>
        You are signed in {session.get().account === null ? 'as the operator' : <>to {own && <strong>{own}</strong>}</>}
        .
        {name && (
          <>
            {' '}
            The link opens the account <strong>{name}</strong>, and signs you out first.
          </>
        )}
      </p>
      {problem !== null && <Problem error={problem} />}
      <div className="actions">
        <Button onClick={close}>Keep this session</Button>
        <Button look="primary" disabled={name === undefined} isBusy={isBusy} onClick={run}>
          Open {name ?? 'it'}
        </Button>
      </div>
    </>
  );
}
