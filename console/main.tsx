import './first-load.ts';
import { createRoot } from 'react-dom/client';
import { findSession } from './api/sign-in.ts';
import { App } from './app/app.tsx';
import { offerLink, takeLink } from './app/portal-link.tsx';
import { unreachable } from './app/query-client.ts';
import { openRouter } from './app/routes.tsx';
import { takeArrival } from './session/arrival.ts';
import { applyTheme } from './session/preferences.ts';
import { changeSession } from './session/session.ts';

applyTheme();
takeArrival();
const link = takeLink();
// A portal link that is opened in a tab with the console changes the fragment only. Listened to before the router,
// which reads the address when it changes.
addEventListener('popstate', () => {
  takeArrival();
  void offerLink(takeLink());
});
await findSession().then(
  (account) => changeSession({ account }),
  () => unreachable.set(true),
);
await offerLink(link);
const router = openRouter();
createRoot(document.querySelector('#app')!).render(<App router={router} />);
