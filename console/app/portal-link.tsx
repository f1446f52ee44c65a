import { useQuery } from '@tanstack/react-query';
import { clientsWith } from '../api/client.ts';
import { useAccount } from '../api/queries.ts';
import { beginSession } from '../api/sign-in.ts';
import { changeSession, session } from '../session/session.ts';
import { openStore, useStore } from '../session/store.ts';
import { useAction } from '../ui/action-button.tsx';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Problem } from '../ui/state.tsx';

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
 * Makes `PortalLink` ask whether the link is to be opened: anybody can make a link to an account of their own, and what
 * is uploaded there is theirs.
 * @param key  null: does nothing
 */
export function offerLink(key: string | null): void {
  if (key !== null) offered.set({ linkKey: key, id: ++offers });
}

async function signInWith(key: string): Promise<void> {
  changeSession({ account: await beginSession(key), admin: null });
}

/** The question whether a link may sign in, to which account, and what it ends. */
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
  const { account, admin } = session.get();
  const isSignedIn = account !== null || admin !== null;
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
        {account !== null && <>You are signed in to {own && <strong>{own}</strong>}. </>}
        {account === null && admin !== null && 'You are signed in as the operator. '}
        {name && (
          <>
            The link opens the account <strong>{name}</strong>
            {isSignedIn ? ', and signs you out first.' : '. Whoever sent it may see what you do there.'}
          </>
        )}
      </p>
      {problem !== null && <Problem error={problem} />}
      <div className="actions">
        <Button onClick={close}>{isSignedIn ? 'Keep this session' : 'Stay signed out'}</Button>
        <Button look="primary" disabled={name === undefined} isBusy={isBusy} onClick={run}>
          Open {name ?? 'it'}
        </Button>
      </div>
    </>
  );
}
