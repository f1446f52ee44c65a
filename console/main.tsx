import './first-load.ts';
import { createRoot } from 'react-dom/client';
import { findSession } from './api/sign-in.ts';
import { App } from './app/app.tsx';
import { offerLink, takeLink } from './app/portal-link.tsx';
import { preload, preloadLinks } from './app/preload.ts';
import { unreachable } from './app/query-client.ts';
import { isPublicPath } from './app/routes.ts';
import { address, followAddress, parseHref } from './router/address.ts';
import { takeArrival } from './session/arrival.ts';
import { applyTheme } from './session/preferences.ts';
import { changeSession, session } from './session/session.ts';

const AGAIN_MS = 3_000;

applyTheme();
takeArrival();
const link = takeLink();
// A portal link that is opened in a tab with the console changes the fragment only. Listened to before
// `followAddress`, which reads the address when it changes.
addEventListener('popstate', () => {
  takeArrival();
  offerLink(takeLink());
});
const view = preload(location.hash.slice(1));
preloadLinks();
const isPublic = isPublicPath(parseHref(location.hash.slice(1)).path);
if (!isPublic) await restoreSession();
offerLink(link);
const { account, admin } = session.get();
await (isPublic || account || admin ? view : preload('/sign-in'));
followAddress();
if (isPublic) restoreSessionLater();
createRoot(document.querySelector('#app')!).render(<App />);

/** Whoever reads a public view is not asked who they are, until they go to another one. */
function restoreSessionLater(): void {
  const stop = address.subscribe(() => {
    if (isPublicPath(address.get().path)) return;
    stop();
    void restoreSession();
  });
}

/** Signs in by the cookie of the browser. While the service does not say whose it is, it is asked again. */
async function restoreSession(): Promise<void> {
  try {
    const account = await findSession();
    // Somebody may have signed in meanwhile, or types at the sign-in.
    if (account !== null && session.get().account === null) changeSession({ account });
  } catch {
    unreachable.set(true);
    setTimeout(restoreSession, AGAIN_MS);
  }
}
