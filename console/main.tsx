import './first-load.ts';
import { createRoot } from 'react-dom/client';
import { findSession } from './api/sign-in.ts';
import { App } from './app/app.tsx';
import { offerLink, takeLink } from './app/portal-link.tsx';
import { preload, preloadLinks } from './app/preload.ts';
import { unreachable } from './app/query-client.ts';
import { followAddress } from './router/address.ts';
import { takeArrival } from './session/arrival.ts';
import { applyTheme } from './session/preferences.ts';
import { changeSession, session } from './session/session.ts';

applyTheme();
takeArrival();
const link = takeLink();
// A portal link that is opened in a tab with the console changes the fragment only. Listened to before
// `followAddress`, which reads the address when it changes.
addEventListener('popstate', () => {
  takeArrival();
  void offerLink(takeLink());
});
const view = preload(location.hash.slice(1));
preloadLinks();
await findSession().then(
  (account) => changeSession({ account }),
  () => unreachable.set(true),
);
await offerLink(link);
const { account, admin } = session.get();
await ((account ?? admin) ? view : preload('/sign-in'));
followAddress();
createRoot(document.querySelector('#app')!).render(<App />);
