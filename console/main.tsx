import './first-load.ts';
import { createRoot } from 'react-dom/client';
import { App } from './app/app.tsx';
import { openRouter } from './app/routes.tsx';
import { applyTheme } from './session/preferences.ts';
import { openPortalLink } from './session/session.ts';

applyTheme();
openPortalLink();
// A portal link that is opened in a tab with the console changes the fragment only. Listened to before the router, which
// reads the address when it changes.
addEventListener('popstate', openPortalLink);
const router = openRouter();
createRoot(document.querySelector('#app')!).render(<App router={router} />);
