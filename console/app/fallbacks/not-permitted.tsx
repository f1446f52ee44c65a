import { useMe } from '../../api/queries.ts';
import { hasUser, session } from '../../session/session.ts';
import { useStore } from '../../session/store.ts';
import { Page } from '../../ui/page.tsx';
import { Empty } from '../../ui/state.tsx';
import type { NavigationEntry } from '../navigation/entries.ts';

/** In place of a page that the session may not use: why, and what helps. */
export function NotPermitted({ entry: { label, needs } }: { entry: NavigationEntry }) {
  return (
    <Page title={label}>
      <Empty title="You cannot use this page.">
        <Reason needs={needs} />
        <p>
          <a href="#/">Home</a>
        </p>
      </Empty>
    </Page>
  );
}

function Reason({ needs }: Pick<NavigationEntry, 'needs'>) {
  const isUser = hasUser(useStore(session));
  const role = useMe().data?.role;
  if (isUser) {
    return (
      <p>
        Your role in this account is {role ?? 'another'}. An owner can change it in <a href="#/people">People</a>.
      </p>
    );
  }
  if (needs === 'user') return <p>It is for users: sign in with your email in place of an API key.</p>;
  return (
    <p>
      It needs the scope <code>{needs}</code>, which the key or the link of this session does not have.
    </p>
  );
}
